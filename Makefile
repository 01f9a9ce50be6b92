# SPDX-License-Identifier: BSD-2-Clause
# The front door: each target sets up what it needs and hands over to Meson and ninja.

PREFIX ?= /usr/local
DESTDIR ?=
FUZZ_SECONDS ?= 30
# make check: suites of meson test.
SUITE ?= unit golden
# make soak: the first seed, how many, seconds for each fuzz target, bad datagrams, kills, which parts
# (none: all).
SOAK_FIRST ?= 10001
SOAK_SEEDS ?= 2000
SOAK_FUZZ_SECONDS ?= 300
SOAK_MADS ?= 10000000
SOAK_KILLS ?= 200
SOAK_PARTS ?=
# make lab: where results and pages go; QUICK=1: fewer points; FROM: results that are copied instead of run again.
LAB ?= build/lab
QUICK ?=
FROM ?=
# make's own default for CC is cc, whatever that may be; one given on purpose is kept.
COMPILER := $(if $(filter default undefined,$(origin CC)),gcc,$(CC))
# A foreign Python's settings must not reach Debian's Meson.
unexport PYTHONHOME PYTHONPATH

SAN := -Db_sanitize=address,undefined -Db_lundef=false
# Quick to compile and to start: -O1; line numbers (-g1), which are all that a report needs; no code to go on after a
# fault, which ends the program in any case; and a fixed address, because the tables of UBSan have 770,000 pointers, which
# each of thousands of short processes had to relocate.
SAN_QUICK := -Doptimization=1 -Db_staticpic=false '-Dc_args=-g1 -fno-sanitize-recover=all -fno-pie' -Dc_link_args=-no-pie
SOURCES = $(shell find src tests bench -name '*.[ch]')

.DEFAULT_GOAL := build
.PHONY: help setup build run test check bench lab fuzz soak ui-static ui-static-test deb deb-test install clean format

help:
	@echo 'make            build (build/src/cli/weft)'
	@echo 'make run        build and show what it can do, in a few seconds'
	@echo 'make test       all tests, plain and under ASan and UBSan'
	@echo 'make check      the tests of SUITE="$(SUITE)" in build, plain'
	@echo 'make bench      measure; results in bench/out'
	@echo 'make lab        run all experiments, compare them with their sources; results and pages in LAB=$(LAB);'
	@echo '                QUICK=1: fewer points; FROM=docs/results/lab: only what has no results there'
	@echo 'make fuzz       fuzz every parser for FUZZ_SECONDS=$(FUZZ_SECONDS) each'
	@echo 'make soak       long runs: SOAK_SEEDS=$(SOAK_SEEDS) of each kind from SOAK_FIRST=$(SOAK_FIRST) on, fuzzing,'
	@echo '                SOAK_MADS=$(SOAK_MADS) bad datagrams, SOAK_KILLS=$(SOAK_KILLS) times kill -9'
	@echo 'make ui-static  the page of weft ui without a server, in build-static: the engine as WebAssembly'
	@echo 'make ui-static-test   builds it, compares its engine with the native one, and tries it in a browser'
	@echo 'make deb        Debian packages in build-deb'
	@echo 'make deb-test   installs, upgrades, downgrades, removes and purges them in Debian 12 and 13 (debootstrap, root),'
	@echo '                also under a running systemd, and builds the image of packaging/oci'
	@echo 'make install    into PREFIX=$(PREFIX) below DESTDIR=$(DESTDIR)'
	@echo 'make format     clang-format all sources'
	@echo 'make clean      remove what was built'

setup:
	@scripts/setup.sh build

# The tests need cmocka; so they are only switched on by `make test`.
build/build.ninja: | setup
	CC='$(COMPILER)' meson setup build -Dtests=false

build: build/build.ninja | setup
	ninja -C build

run: build/build.ninja | setup
	ninja -C build src/cli/weft
	@scripts/run-demo.sh build/src/cli/weft

# Both runs always happen, and the last line adds them up. A file that a test leaves in the tree is a
# failure. The sanitized build uses what time the plain tests leave while they wait for other programs.
test:
	@scripts/setup.sh test
	@scripts/left-files.sh before build-left
	@BUILD_ONLY=1 nice -n 19 scripts/test.sh build-san '$(COMPILER)' $(SAN) $(SAN_QUICK) & builder=$$!; \
	scripts/test.sh build '$(COMPILER)' && wait $$builder || { kill $$builder 2> /dev/null; exit 1; }
	@scripts/test.sh build-san '$(COMPILER)' $(SAN) $(SAN_QUICK)
	@scripts/left-files.sh after build-left
	@scripts/test-summary.sh build build-san build-left

check:
	@scripts/setup.sh test
	@SUITES='$(SUITE)' scripts/test.sh build '$(COMPILER)'
	@scripts/test-summary.sh build

bench: build/build.ninja
	@scripts/setup.sh bench
	ninja -C build
	bench/run.sh
	bench/route_speed.sh
	bench/route_update.sh
	bench/packets.sh
	bench/mechanisms.sh
	bench/fabric.sh
	bench/sm.sh
	bench/ha.sh
	bench/sa.sh
	bench/vm.sh

# A job that fails is reported, and the others are compared all the same; the status is kept.
lab: build/build.ninja | setup
	ninja -C build src/cli/weft
	@mkdir -p '$(LAB)'
	@weft=build/src/cli/weft db='$(LAB)/weft-lab.db' status=0; \
	$$weft lab run $(if $(filter-out 0,$(QUICK)),--quick) $(if $(FROM),--from '$(FROM)') --resume --db "$$db" || status=$$?; \
	[ $$status -lt 2 ] || exit $$status; \
	$$weft lab compare --db "$$db" && $$weft lab report --cost --db "$$db" -o '$(LAB)/pages' > '$(LAB)/pages.txt' || exit 1; \
	echo "lab: pages in $(LAB)/pages/index.html"; exit $$status

fuzz:
	@scripts/setup.sh fuzz
	@echo 'fuzz: building tests/fuzz/fuzz_*.c with clang, libFuzzer, ASan and UBSan in build-fuzz'
	test -e build-fuzz/build.ninja || CC=clang meson setup build-fuzz -Dtests=false -Dfuzz=true \
		-Dwerror=false -Dc_args=-fsanitize=fuzzer-no-link $(SAN)
	ninja -C build-fuzz reconfigure fuzzers
	@scripts/fuzz.sh build-fuzz $(FUZZ_SECONDS)

# With the tests, which build/ may not have yet; what throws bad datagrams is sanitized.
soak:
	@scripts/setup.sh test
	@scripts/setup.sh fuzz
	test -e build/build.ninja || CC='$(COMPILER)' meson setup build -Dtests=true > /dev/null
	meson configure build -Dtests=true
	ninja -C build
	test -e build-san/build.ninja || CC='$(COMPILER)' meson setup build-san -Dtests=true $(SAN) > /dev/null
	ninja -C build-san src/cli/weft tests/soak/storm tests/soak/liar tests/soak/census bench/sm-watch
	@SOAK_FIRST=$(SOAK_FIRST) SOAK_SEEDS=$(SOAK_SEEDS) SOAK_FUZZ_SECONDS=$(SOAK_FUZZ_SECONDS) \
		SOAK_SAN=build-san SOAK_MADS=$(SOAK_MADS) SOAK_KILLS=$(SOAK_KILLS) \
		scripts/soak.sh build $(SOAK_PARTS)

# Not part of `make test`: emscripten takes 0.8 GB.
ui-static:
	@scripts/setup.sh static
	@scripts/ui-static.sh build-static

ui-static-test: ui-static
	@scripts/setup.sh test
	test -e build/build.ninja || CC='$(COMPILER)' meson setup build -Dtests=true > /dev/null
	meson configure build -Dtests=true
	ninja -C build src/cli/weft tests/engine_filter
	@scripts/ui-static-test.sh build

deb:
	@scripts/setup.sh deb
	@scripts/deb.sh build-deb

# Needs root, and a mirror of Debian.
deb-test: deb
	@status=0; for test in systems booted image; do tests/packages/$$test.sh build-deb || status=1; done; exit $$status

install: build/build.ninja | setup
	meson configure build --prefix='$(PREFIX)'
	ninja -C build
	DESTDIR='$(DESTDIR)' meson install -C build --no-rebuild

clean:
	rm -rf build build-san build-left build-fuzz build-old build-static build-static-test build-deb build-wasm build-wasm-deps

format:
	clang-format -i $(SOURCES)
