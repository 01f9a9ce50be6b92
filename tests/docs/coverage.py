#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Check docs/results/coverage.md against the experiments: coverage.py WEFT ROOT

Every table and figure in WANTED has a row; every row names experiments that exist, that are of this source, that say so
in their `item`, and that have a table or a plot for it; every experiment is in the rows of its items. In the results
that are kept as text, each statement that does not hold and each deviation has its reason in words, and the scoreboard
has the cells of the thesis alone. Prints TAP.
Keeps no state; does not run experiments.
"""

import json
import os
import re
import subprocess
import sys


def span(first, last):
    return list(range(first, last + 1))


# By source: kind (T: table, F: figure) and number.
WANTED = {
    "004": [("T", n) for n in span(11, 25) + span(28, 31)] +
           [("F", n) for n in [49] + span(59, 65) + span(72, 75) + span(80, 82) + span(84, 92) + span(94, 128)],
    "000": [("F", n) for n in span(5, 12)],
    "002": [("T", 1), ("T", 2)] + [("F", n) for n in span(10, 12)],
}
# The scoreboard: mean values of the thesis's Tables 11, 16, 17, 20 to 25 and 28 to 31, and nothing else.
COUNTED = 274
# Pictures of a fabric, and tables that tests/golden compares line by line: nothing to plot.
NO_PLOT = {("000", "F", 5), ("004", "T", 13)}


def numbers(text):
    """'Tables 11 and 16, Figs. 72 to 74, 8(b)' as a set of (kind, number)."""
    found = set()
    for kind, rest in re.findall(r"\b(Tables?|Figs?\.)((?:[ ,]|and|to|\d|\(\w\))+)", text):
        for first, last in re.findall(r"(\d+)(?:\(\w\))?(?: to (\d+))?", rest):
            found |= {(kind[0], n) for n in span(int(first), int(last or first))}
    return found


def rows(document):
    """(source, items, experiments) of each row."""
    source = None
    for line in document.splitlines():
        heading = re.match(r"## .*\((\d+)\)$", line)
        source = heading[1] if heading else source
        cells = [c.strip() for c in line.strip("|").split("|")]
        if line.startswith("|") and len(cells) == 3 and numbers(cells[0]):
            yield source, numbers(cells[0]), cells[2].split(", ")


def shown(path):
    """Items of the tables and plots in an experiment's file."""
    with open(path, encoding="utf-8") as f:
        text = f.read().partition("\nresults:")[2]
    return set().union(*map(numbers, re.findall(r"\bitem: *(\"[^\"]*\"|[^,\n]+(?: to \d+)?)", text)), set())


def faults(source, document, experiments, directory):
    listed = [r for r in rows(document) if r[0] == source]
    for item in WANTED[source]:
        if not any(item in items for _, items, _ in listed):
            yield f"no row for {item}"
    for _, items, names in listed:
        for name in names:
            e = experiments.get(name)
            if not e:
                yield f"{items}: there is no experiment '{name}'"
            elif e["source"] != source or not items <= numbers(e["item"]):
                yield f"{items}: '{name}' says that it is '{e['item']}' of {e['source']}"
            elif any(i not in shown(os.path.join(directory, name + ".yaml")) and (source, *i) not in NO_PLOT
                     for i in items):
                yield f"{items}: '{name}' has no table or plot for it"
    for name, e in experiments.items():
        for item in numbers(e["item"]) & set(WANTED[source]) if e["source"] == source else ():
            if not any(item in items and name in names for _, items, names in listed):
                yield f"{item}: no row names '{name}'"


def unexplained(compared):
    for t in compared["trends"]["failing"]:
        if not t["reason"]:
            yield f"{t['experiment']} {t['section']}: no reason why this does not hold: {t['says']}"
    for d in compared["deviations"]:
        if not d["reason"]:
            yield f"{d['item']}, {d['cell']}: no reason for {d['ours']} instead of {d['theirs']}"


def stale(root, compared):
    """What README.md and the table of open questions say of all cells."""
    figures = [compared[k] for k in ("cells", "within_10", "within_25", "within_50")]
    for path, text in (("README.md", "of {} mean values of the thesis {} within 10 %, {} within 25 %"),
                       ("docs/results/thesis-open-questions.md", "| all | {0} | {0} | {1} | {2} | {3} |")):
        with open(os.path.join(root, path), encoding="utf-8") as f:
            if text.format(*figures) not in " ".join(f.read().split()):
                yield f"{path}: expected '{text.format(*figures)}'"


def case(n, name, found):
    print(f"{'not ok' if found else 'ok'} {n} - {name}")
    for line in found:
        print("#", line)
    return bool(found)


def main():
    weft, root = sys.argv[1:]
    directory = os.path.join(root, "experiments")
    with open(os.path.join(root, "docs/results/coverage.md"), encoding="utf-8") as f:
        document = f.read()

    def lab(word):
        said = subprocess.run([weft, "lab", word, "--experiments", directory, "--json"], stdout=subprocess.PIPE, check=True)
        return json.loads(said.stdout)

    experiments = {e["name"]: e for e in lab("list")["experiments"]}
    bad = [case(n, f"every item of source {source} has its experiment",
                list(faults(source, document, experiments, directory))) for n, source in enumerate(WANTED, 1)]
    compared = lab("compare")
    bad.append(case(len(WANTED) + 1, "what deviates in the results that are kept has a reason",
                    list(unexplained(compared))))
    bad.append(case(len(WANTED) + 2, "the scoreboard has the thesis's cells",
                    [f"{compared['cells']} instead of {COUNTED}"] if compared["cells"] != COUNTED else []))
    bad.append(case(len(WANTED) + 3, "documents have the figures of the scoreboard", list(stale(root, compared))))
    print(f"1..{len(WANTED) + 3}")
    return any(bad)


if __name__ == "__main__":
    sys.exit(main())
