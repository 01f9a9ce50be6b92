#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# The image of packaging/oci, as TAP: image.sh PACKAGES
#
# buildah makes it from the packages; its base is a system by debootstrap, so that no registry is needed. Then a manager runs in it, on
# a fabric that the image's own emulator serves. Images are kept in a directory of this test alone, which goes away.
#
# shellcheck disable=SC2015,SC2046,SC2317 # `a && b || explain`, ok calls; packages_in prints several words
set -u

here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=tests/packages/system.sh
. "$here/system.sh"
command -v buildah > /dev/null || { echo "1..0 # SKIP buildah is not installed" && exit 0; }
own_mounts "$0" "$@"
packages=$(cd "$1" && pwd)
dir=$(mktemp -d)
trap 'rm -rf --one-file-system "$dir"' EXIT
trap 'exit 1' HUP INT TERM
# shellcheck source=tests/packages/lib.sh
. "$here/lib.sh"
root=$packages/system-slim
export BUILDAH_ISOLATION=chroot

images()
{
	buildah --root "$dir/images" --runroot "$dir/run" --storage-driver vfs "$@"
}

base()
{
	from=$(images from scratch) && images add "$from" "$root" / && images commit --rm "$from" localhost/base
}
bootstrap bookworm > "$dir/why" 2>&1 || { echo "1..0 # SKIP debootstrap from $mirror failed: $(tail -n 1 "$dir/why")" && exit 0; }
base > "$dir/why" 2>&1 || { echo "1..0 # SKIP buildah makes no image here: $(tail -n 1 "$dir/why" | tr '\n#' '  ')" && exit 0; }

built()
{
	mkdir "$dir/context"
	cp $(packages_in "$packages") "$dir/context"
	images bud --pull-never --build-arg BASE=localhost/base -t weft -f "$here/../../packaging/oci/Containerfile" "$dir/context"
}
ok "the image is built of the packages" built
container=$(images from --pull-never weft)

# in_image COMMAND...: as the image's user
in_image()
{
	images run "$container" -- "$@"
}
about()
{
	images inspect --format '{{.OCIv1.Config.User}} {{.OCIv1.Config.Entrypoint}} {{.OCIv1.Config.Volumes}} {{.OCIv1.Config.ExposedPorts}}' weft |
		grep '^weft \[/usr/bin/weft\] .*/var/lib/weft.*9447'
}
ok "its user, program, volume and port" about
program()
{
	in_image weft --version && [ "$(in_image id -un)" = weft ] && in_image weft sm --check-config --config /etc/weft/weft.yaml
}
ok "its program runs as user weft, and accepts the configuration" program
small()
{
	! in_image sh -c 'command -v gcc || ls /tmp/*.deb /var/lib/apt/lists/*Packages*'
}
ok "it has neither packages nor compilers left" small

# What the last line of the Containerfile starts, on a fabric that is emulated there as well.
manages()
{
	in_image sh -c 'set -e
		cd /var/lib/weft
		weft topo gen mtree 4 2 -o net
		weft fabric net --name image --no-console -q < /dev/null &
		fabric=$!
		weft sm --config /etc/weft/weft.yaml --control /run/weft/sm.sock --state /var/lib/weft/weft.db --server image &
		manager=$!
		trap "kill $manager $fabric; wait" EXIT
		weft ctl --socket /run/weft/sm.sock --wait 20s wait
		weft ctl --socket /run/weft/sm.sock --wait 0 status
		test -s weft.db'
}
ok "the manager manages a fabric there" manages
echo "1..$n"
exit $failed
