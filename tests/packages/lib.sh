# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=sh disable=SC2034,SC2046,SC2154 # the scripts that read this use what is set here
#
# What the tests of packages share: the life of a package in a directory $root, by $dpkg, which runs dpkg there. old and new are
# directories with packages; those of debug symbols are left out.

n=0
failed=0
ok()
{
	name=${life:-}$1
	shift
	n=$((n + 1))
	if "$@" > "$dir/said" 2>&1; then
		echo "ok $n - $name"
	else
		failed=1
		echo "not ok $n - $name"
		sed 's/^/# /' "$dir/said" >&2
	fi
}

# next_version OLD NEW VERSION: packages of a later version, whose weft.yaml has one line more
next_version()
{
	mkdir -p "$2"
	for deb in "$1"/weft_*.deb "$1"/weft-fabric_*.deb "$1"/weft-doc_*.deb; do
		rm -rf "$dir/unpacked"
		dpkg-deb -R "$deb" "$dir/unpacked" || return 1
		was=$(sed -n 's/^Version: //p' "$dir/unpacked/DEBIAN/control")
		sed -i "s/^Version: .*/Version: $3/; s/(= $was)/(= $3)/" "$dir/unpacked/DEBIAN/control"
		[ ! -e "$dir/unpacked/etc/weft/weft.yaml" ] || echo '# of a later version' >> "$dir/unpacked/etc/weft/weft.yaml"
		dpkg-deb -Znone -b "$dir/unpacked" "$2/$(basename "$deb" | sed "s/_[^_]*_/_$3_/")" > /dev/null || return 1
	done
}

# packages_in DIR: files of packages there, as $dpkg sees them; $inside is where its root is
packages_in()
{
	for deb in "${inside:-}$1"/weft_*.deb "${inside:-}$1"/weft-fabric_*.deb "${inside:-}$1"/weft-doc_*.deb; do
		echo "${deb#"${inside:-}"}"
	done
}

version()
{
	$dpkg -s weft 2> /dev/null | sed -n 's/^Version: //p'
}

installed()
{
	$dpkg -i $(packages_in "$old") && [ "$(version)" = 0.1.0 ] || return 1
	[ -x "$root/usr/bin/weft" ] && [ -e "$root/usr/share/man/man5/weft.yaml.5.gz" ] || return 1
	grep -q '^weft:' "$root/etc/passwd" || { echo "no user" && return 1; }
	[ "$(stat -c '%a' "$root/var/lib/weft")" = 700 ] && [ "$(stat -c '%a' "$root/etc/weft/keys.yaml")" = 600 ] || return 1
	uid=$(sed -n 's/^weft:[^:]*:\([0-9]*\):.*/\1/p' "$root/etc/passwd")
	[ "$(stat -c '%u' "$root/var/lib/weft")" = "$uid" ] && [ "$(stat -c '%u' "$root/etc/weft/keys.yaml")" = "$uid" ] ||
		{ ls -ln "$root/etc/weft" "$root/var/lib" && return 1; }
	# It does not manage a subnet until its administrator says so.
	[ ! -e "$root/etc/systemd/system/multi-user.target.wants/weft-sm.service" ]
}

# What an administrator changed stays, and so does what the manager saved.
upgraded()
{
	echo 'manager: {window: 16} # mine' >> "$root/etc/weft/weft.yaml"
	echo saved > "$root/var/lib/weft/weft.db"
	$dpkg --force-confdef --force-confold -i $(packages_in "$new") && [ "$(version)" = 0.2.0 ] || return 1
	grep -q '# mine' "$root/etc/weft/weft.yaml" && [ -e "$root/var/lib/weft/weft.db" ] &&
		grep -q 'later version' "$root/etc/weft/weft.yaml.dpkg-dist" && [ "$(stat -c '%a' "$root/etc/weft/keys.yaml")" = 600 ]
}

downgraded()
{
	$dpkg --force-confdef --force-confold -i $(packages_in "$old") && [ "$(version)" = 0.1.0 ] && grep -q '# mine' "$root/etc/weft/weft.yaml" &&
		[ -e "$root/var/lib/weft/weft.db" ]
}

removed()
{
	$dpkg -r weft-fabric weft-doc weft && [ ! -e "$root/usr/bin/weft" ] && grep -q '# mine' "$root/etc/weft/weft.yaml" &&
		[ -e "$root/var/lib/weft/weft.db" ]
}

purged()
{
	$dpkg -P weft weft-fabric weft-doc || return 1
	[ ! -e "$root/etc/weft" ] && [ ! -e "$root/var/lib/weft" ] && [ ! -e "$root/var/log/weft" ] &&
		[ ! -e "$root/etc/logrotate.d/weft" ] && [ ! -e "$root/usr/share/weft" ] || { find "$root" -path '*weft*' && return 1; }
}

life_cycle()
{
	ok "install: user, directories, keys for the manager alone" installed
	ok "upgrade: configuration and state are kept" upgraded
	ok "downgrade" downgraded
	ok "remove: configuration and state are kept" removed
	ok "purge: nothing is left" purged
	ok "install again" installed
}
