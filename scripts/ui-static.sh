#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# The page of the window without any server, as a folder that a site can publish:
#
#	scripts/ui-static.sh [DIR]
#
# DIR (build-static) gets index.html, app.js, app.css, worker.js, engine.wasm and the licences. The engine is compiled by
# emscripten in build-wasm; jansson's source comes from Debian (JANSSON_SOURCE: a directory that has it already).
set -eu
cd "$(dirname "$0")/.."
out=${1:-build-static}

for tool in emcc emar meson ninja node npm; do
	if ! command -v "$tool" > /dev/null; then
		echo "ui-static: needs $tool (Debian: emscripten meson ninja-build nodejs npm); make ui-static installs them" >&2
		exit 2
	fi
done

# Debian's source of jansson. Lists of sources are kept here, so that those of the machine stay as they are.
jansson()
{
	deps=$PWD/build-wasm-deps
	JANSSON_SOURCE=$(find "$deps" -maxdepth 1 -type d -name 'jansson-*' 2> /dev/null | head -n 1)
	[ -z "$JANSSON_SOURCE" ] || return 0
	echo "ui-static: getting the source of jansson from Debian"
	rm -rf "$deps"
	mkdir -p "$deps/lists/partial"
	. /etc/os-release
	suite=${VERSION_CODENAME:-bookworm}
	mirror=$(apt-get indextargets --format '$(CODENAME) $(REPO_URI)' | sed -n "s/^$suite //p" | head -n 1) # the machine's own
	echo "deb-src ${mirror:?apt has no source of packages of $suite} $suite main" > "$deps/sources.list"
	set -- -qq -o "Dir::Etc::sourcelist=$deps/sources.list" -o Dir::Etc::sourceparts=- -o "Dir::State::lists=$deps/lists" \
		-o APT::Sandbox::User=
	(cd "$deps" && apt-get "$@" update && apt-get "$@" source --download-only jansson && tar xf jansson_*.orig.tar.*) || {
		rm -rf "$deps"
		echo "ui-static: no source of jansson; set JANSSON_SOURCE to a directory that has it" >&2
		exit 2
	}
	rm -rf "$deps/lists"
	JANSSON_SOURCE=$(find "$deps" -maxdepth 1 -type d -name 'jansson-*' | head -n 1)
}
[ -n "${JANSSON_SOURCE:-}" ] || jansson

[ -e build-wasm/build.ninja ] || meson setup build-wasm --cross-file ui/wasm/emscripten.ini --buildtype release \
	-Db_staticpic=false -Djansson_source="$JANSSON_SOURCE" > /dev/null
ninja -C build-wasm

[ -d ui/node_modules ] || (cd ui && npm ci --no-audit --no-fund --loglevel=error > /dev/null)
rm -rf "$out"
mkdir -p "$out"
out=$(cd "$out" && pwd)
(cd ui && node build.mjs --static --out "$out")
cp build-wasm/ui/wasm/engine.wasm "$out/"
chmod 644 "$out/engine.wasm"
{
	echo "Weft"
	cat LICENSE
	printf '\njansson\n'
	cat "$JANSSON_SOURCE/LICENSE"
	printf '\nuPlot\n'
	cat ui/node_modules/uplot/LICENSE
	printf '\nmusl and emscripten: MIT licence, https://musl.libc.org, https://emscripten.org\n'
} > "$out/LICENSES.txt"
echo "ui-static: $(du -sk --apparent-size "$out" | cut -f 1) KiB in $out; any web server can publish it:"
echo "    cd $out && python3 -m http.server --bind 127.0.0.1 8000"
