#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Check what documents name: names.py WEFT SOURCE_ROOT DOCUMENT_OR_DIRECTORY...

Relative links and their anchors, files of the tree (`src/...`), targets (`make ...`), commands and
options of weft, settings of the manager, functions and structs must exist. Prints TAP, one case a document. Keeps no
state and runs none of the commands (commands.py does).
"""

import glob
import json
import os
import re
import subprocess
import sys

FENCE = re.compile(r"^```.*?^```", re.M | re.S)
SPAN = re.compile(r"`([^`\n]+(?:\n[^`\n]+)?)`")
LINK = re.compile(r"\]\(([^)\s]+)\)")
PATH = re.compile(r"(?<![\w./-])((?:src|tests|bench|docs|scripts|data|\.ci)/[\w./*+-]+)")
MADE = re.compile(r"bench/out|.*-bench$")  # not tracked: made by running or building something
TARGET = re.compile(r"(?<![\w/-])make((?: +[A-Za-z_]+=(?:'[^']*'|\S+))*(?: +[a-z][\w-]*)+)")
OPTION = re.compile(r"(?<![\w-])--([a-z][a-z0-9-]*)")
# Options of other programs that documents name.
PLACEHOLDERS = {"module_noun_verb"}
FOREIGN = {
    "create-config", "maxsmps", "sweep", "honor_guid2lid_file", "honor", "reassign", "stay", "inactive", "sadb",
    "perfmgr", "congestion",  # OpenSM
    "write-docs", "prefix",  # bench/*.sh, Meson
    "suite", "build-arg",  # Meson, podman
}


def slug(heading):
    """The anchor that a heading gets."""
    text = re.sub(r"[`*_]|\[|\]\([^)]*\)", "", heading.strip().lower())
    return re.sub(r"[^\w\- ]", "", text).replace(" ", "-")


def anchors(path):
    with open(path, encoding="utf-8") as f:
        text = FENCE.sub("", f.read())
    return {slug(m) for m in re.findall(r"^#+ (.*)$", text, re.M)}


class Names:
    """What there is: targets, commands with their options, settings."""

    def __init__(self, weft, root):
        self.root = root
        table = json.loads(subprocess.run([weft, "help", "--json"], capture_output=True, check=True).stdout)
        self.commands = {c["name"]: {o["name"] for o in c["options"]} | {"help", "json"} for c in table["commands"]}
        self.options = set().union(*self.commands.values()) | {"version"} | FOREIGN
        schema = json.loads(subprocess.run([weft, "sm", "--schema"], capture_output=True, check=True).stdout)
        self.settings = {s: set(v.get("properties", {})) for s, v in schema["properties"].items()}
        with open(os.path.join(root, "tests/docs/meson.build"), encoding="utf-8") as f:
            self.tested = f.read()
        sources = glob.glob(os.path.join(root, "src/**/*.[ch]"), recursive=True)
        self.words = set()
        for path in sources:
            with open(path, encoding="utf-8") as f:
                self.words |= set(re.findall(r"\w+", f.read()))
        with open(os.path.join(root, "Makefile"), encoding="utf-8") as f:
            self.targets = set(re.findall(r"^([a-z][\w-]*):", f.read(), re.M))

    def links(self, path, text):
        for link in LINK.findall(text):
            if "://" in link:
                continue
            name, _, anchor = link.partition("#")
            there = os.path.normpath(os.path.join(os.path.dirname(path), name)) if name else path
            if not os.path.exists(there):
                yield f"link to {link}: no such file"
            elif anchor and anchor not in anchors(there):
                yield f"link to {link}: no such heading"

    def paths(self, text):
        for name in PATH.findall(text):
            name = name.rstrip(".")
            there = os.path.join(self.root, name)
            if not re.search(r"[/_][A-Z]+[/.]", name) and not MADE.match(name) and not glob.glob(there) and not os.path.exists(there + ".c"):
                yield f"{name}: no such file"

    def makes(self, code):
        for words in TARGET.findall(code):
            for target in [w for w in words.split() if "=" not in w]:
                if target not in self.targets:
                    yield f"make {target}: no such target"

    def weft(self, code):
        """Options behind a command of weft are its own; elsewhere some command's."""
        for line in re.split(r"\n|\||;|&&", code.replace("\\\n", " ")):
            line = line.split(" # ")[0]
            at = re.search(r"(?<![\w/.-])weft ([a-z]+(?: [a-z]+)?)", line)
            words = at[1].split() if at else []
            command = next((n for n in (" ".join(words), *words[:1]) if n in self.commands), None)
            if words and not command and not any(n.startswith(words[0] + " ") for n in self.commands):
                yield f"weft {words[0]}: no such command"
            known = self.commands[command] if command else self.options
            for option in OPTION.findall(line[at.start():] if command else line):
                if option not in known and (command or line.lstrip().startswith("--")):
                    yield f"{'weft ' + command if command else 'option'} --{option}: no such option"

    def identifiers(self, code):
        """`function()` and `struct name` of the program."""
        match = re.fullmatch(r"(?:struct )?(\w+)(\(.*\))?(?:\.\w+)?", code)
        if match and (code.startswith("struct ") or code.endswith("()")) and match[1] not in self.words | PLACEHOLDERS:
            yield f"{code}: not in src"

    def records(self, text):
        """The table of log records by level is that of the sources."""
        there = set()
        for path, row in (("src/run/log.h", r'X\(\w+, "(\w+)", (\w+),'),
                          ("src/sm/core/note_table.c", r'\{\{"(\w+)", RECORD_(\w+),')):
            with open(os.path.join(self.root, path), encoding="utf-8") as f:
                there |= {(name, level.lower()) for name, level in re.findall(row, f.read())}
        said = set()
        for level, names in re.findall(r"^\| (error|warning|notice|info|debug)(?: \(default\))? \| (.*) \|$", text, re.M):
            said |= {(name, level) for name in re.findall(r"`(\w+)`", names)}
        for name, level in sorted(there ^ said):
            yield f"log record {name} at level {level}: " + ("not named" if (name, level) in there else "not in src")

    def keys(self, code):
        for section, key in re.findall(r"\b([a-z]+)(?:\.|: \{)([a-z0-9_]+)", code):
            if re.fullmatch(rf"{section}(\.|: \{{){key}.*", code) and section in self.settings:
                if key not in self.settings[section] and not re.search(r"\.(c|h|sh|md|sock|net|txt|yaml)$", code):
                    yield f"setting {section}.{key}: no such key"

    def problems(self, path):
        with open(path, encoding="utf-8") as f:
            text = f.read()
        blocks, prose = FENCE.findall(text), FENCE.sub("", text)
        yield from self.links(path, prose)
        relative = os.path.relpath(path, self.root)
        made = relative.startswith("docs/results/lab/pages/")  # by weft lab report, with commands that take hours
        if relative == "docs/day.md":  # by scripts/day.sh: its blocks are logs
            made, blocks = True, []
        if not made and re.search(r"^```(sh)?\n.*?^```", text, re.M | re.S) and f"'{relative}'" not in self.tested:
            yield "has commands, but is not in tests/docs/meson.build"
        if os.path.basename(path) == "CHANGELOG.md":
            return  # tells of names that are history
        yield from self.paths(text)
        if relative == "docs/operate.md":
            yield from self.records(prose)
        spans = SPAN.findall(prose)
        for code in spans + blocks:
            yield from self.makes(code)
            yield from self.weft(code)
        for code in spans:
            yield from self.keys(code)
            yield from self.identifiers(code)


def main(weft, root, *where):
    names, failed = Names(weft, root), 0
    documents = []
    for path in where:
        inside = glob.glob(os.path.join(path, "**", "*.md"), recursive=True)
        documents += sorted(inside) if os.path.isdir(path) else [path]
    for n, path in enumerate(documents, 1):
        problems = list(names.problems(path))
        failed += bool(problems)
        print(("not " if problems else "") + f"ok {n} - {os.path.relpath(path, root)} names what there is")
        for problem in problems:
            print("# " + problem)
    print(f"1..{len(documents)}")
    return 1 if failed else 0


if __name__ == "__main__":
    if len(sys.argv) < 4:
        sys.exit(__doc__)
    sys.exit(main(*sys.argv[1:]))
