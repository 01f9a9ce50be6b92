#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Check docs/json.md against what the commands print: json_keys.py WEFT DOCUMENT

Each section names a command and the keys of its result. The comment `<!-- json: COMMAND -->` below its heading says how
to run it on the files made here (several: the results together). Every key that the section names must be in a
result. Prints TAP, one case a section. Keeps a scratch directory; does not check what the keys mean.
"""

import itertools
import json
import os
import re
import subprocess
import sys
import tempfile

SETUP = """weft topo gen mtree 4 3 --rate 1xSDR -o tree.net
weft topo gen ring 6 --rate 1xSDR -o before.net
weft topo gen ring 7 --rate 1xSDR -o after.net
weft route compute tree.net --lfts tree.lfts
"""


def expand(path):
    """.a.{b,c}[].d as .a.b[].d and .a.c[].d; {...} is any."""
    match = re.search(r"\{([^{}]*)\}", path)
    if not match:
        return [path]
    names = [n for n in match[1].split(",") if n != "..."] or ["*"]
    return [p for n in names for p in expand(path[:match.start()] + n + path[match.end():])]


def paths(section):
    """The keys in the code spans of a section: all that begin with a dot, relative to the whole result."""
    for span in re.findall(r"`([^`]+)`", section):
        for word in re.findall(r"\.[\w*.{},\[\]]+", span) if span.startswith(".") else []:
            yield from expand(word)


def find(value, steps):
    """Whether a path of steps leads somewhere in value; '[]' is any element, '*' any member."""
    if not steps:
        return True
    step, rest = steps[0], steps[1:]
    if step == "[]":
        return isinstance(value, list) and (not value or any(find(v, rest) for v in value))
    if not isinstance(value, dict):
        return False
    if step == "*":
        return any(find(v, rest) for v in value.values())
    return step in value and find(value[step], rest)


def steps_of(path):
    return list(itertools.chain.from_iterable(
        [part[:-2], "[]"] if part.endswith("[]") else [part] for part in path.split(".") if part))


def results(weft, section, directory):
    for command in re.findall(r"<!-- json: (.*?) -->", section):
        env = dict(os.environ, PATH=f"{os.path.dirname(os.path.abspath(weft))}:{os.environ['PATH']}")
        run = subprocess.run(["bash", "-c", command], cwd=directory, env=env, capture_output=True, text=True)
        if run.returncode > 1:
            raise RuntimeError(f"status {run.returncode}: {command}\n{run.stderr}")
        yield json.loads(run.stdout)


def problems(weft, section, directory):
    try:
        found = list(results(weft, section, directory))
    except (RuntimeError, ValueError) as e:
        return [str(e)]
    if not found:
        return ["no comment <!-- json: COMMAND --> says how to run it"] if list(paths(section)) else []
    return [f"{p}: not in the result" for p in dict.fromkeys(paths(section))
            if not any(find(r, steps_of(p)) for r in found)]


def main(weft, document):
    with open(document, encoding="utf-8") as f:
        sections = re.split(r"^## ", f.read(), flags=re.M)[1:]
    failed = 0
    with tempfile.TemporaryDirectory(prefix="weft-docs-") as directory:
        env = dict(os.environ, PATH=f"{os.path.dirname(os.path.abspath(weft))}:{os.environ['PATH']}")
        subprocess.run(["bash", "-ec", SETUP], cwd=directory, env=env, check=True, capture_output=True)
        for n, section in enumerate(sections, 1):
            wrong = problems(weft, section, directory)
            failed += bool(wrong)
            print(("not " if wrong else "") + f"ok {n} - keys of " + re.sub(r"[`#]", "", section.splitlines()[0]))
            for line in wrong:
                print("# " + line.replace("\n", "\n# "))
    print(f"1..{len(sections)}")
    return 1 if failed else 0


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    sys.exit(main(*sys.argv[1:]))
