# SPDX-License-Identifier: BSD-2-Clause
"""Command blocks of a Markdown document, and what its hidden comments say about them.

Keeps no state; the way in is read(). Runs nothing (commands.py does).

A block fenced by ``` or ```sh holds commands; any other word behind the fence (```text, ```yaml)
says that it does not. Where lines begin with "$ ", these are the commands and the lines below each
are its output: "..." alone on a line stands for any number of lines, within a line for any text.

A comment before a block, which the reader does not see, can say (several lines, several comments):

    <!-- docs-test: skip (REASON) -->          do not run the next block
    <!-- docs-test: skip (REASON): COMMAND --> do not run the commands that begin like this
    <!-- docs-test: needs PROGRAM ... -->      skip the next block where a program is missing
    <!-- docs-test: setup: COMMAND -->         run this first; the document's files and fabrics
    <!-- docs-test: background: COMMAND -->    runs until it is stopped: start it and go on
    <!-- docs-test: status N: COMMAND -->      ends with status N instead of 0
    <!-- docs-test: file NAME -->              the next block is the content of this file
    <!-- docs-test: output -->                 the next block is the output of the last command
"""

import re
import subprocess
from dataclasses import dataclass, field

DIRECTIVE = re.compile(
    r"(?P<word>skip|needs|setup|background|status|file|output)"
    r"(?: \((?P<reason>[^)]*)\)| (?P<argument>[^:]*))?(?:: *(?P<command>.*))?$"
)
COMMENT = re.compile(r"<!--(.*?)-->", re.S)


@dataclass
class Command:
    line: int
    text: str
    expected: list = field(default_factory=list)  # lines of output; none: not compared
    status: int = 0
    background: bool = False
    skip: str = ""


@dataclass
class Block:
    line: int
    setup: list = field(default_factory=list)
    commands: list = field(default_factory=list)
    file: str = ""  # the block is this file's content
    output: bool = False  # the block is the output of the command before
    text: str = ""


class BadDocument(Exception):
    pass


def directives(comment, where):
    """The lines of one comment as matches of DIRECTIVE; [] when it is not for us."""
    text = comment.strip()
    if not text.startswith("docs-test:"):
        return []
    found = []
    for line in text.splitlines():
        line = line.strip()
        line = line[len("docs-test:"):].strip() if line.startswith("docs-test:") else line
        match = DIRECTIVE.match(line)
        if not match:
            raise BadDocument(f"{where}: not a docs-test directive: {line}")
        found.append(match)
    return found


def is_complete(text):
    """Whether a shell takes this for whole commands: no loop, quotation or line left open."""
    if text.endswith("\\"):
        return False
    return subprocess.run(["bash", "-n"], input=text, text=True, capture_output=True).returncode == 0


def commands_of(lines, first):
    prompts = any(line.startswith("$ ") for line in lines)
    found, open_text = [], ""
    for number, line in enumerate(lines, first):
        if open_text:
            found[-1].text = open_text = open_text + "\n" + line
        elif prompts and not line.startswith("$ "):
            if found:
                found[-1].expected.append(line)
            continue
        elif not line.strip() or line.startswith("#"):
            continue
        else:
            open_text = line[2:] if prompts else line
            found.append(Command(number, open_text))
        if is_complete(open_text):
            open_text = ""
    for command in found:
        while command.expected and not command.expected[-1].strip():
            command.expected.pop()
    return found


def apply(block, said):
    """What the directives before a block say about its commands."""
    for match in said:
        word, command = match["word"], match["command"]
        if word == "setup":
            block.setup.append(command)
        elif word == "file":
            block.file = match["argument"].strip()
        elif word == "output":
            block.output = True
        elif word != "needs":
            apply_to_commands(block, match)


def apply_to_commands(block, match):
    command = match["command"] or ""
    concerned = [c for c in block.commands if c.text.startswith(command)]
    if not concerned:
        raise BadDocument(f"line {block.line}: no command begins with: {command}")
    for c in concerned:
        if match["word"] == "skip":
            c.skip = match["reason"] or "no reason given"
        elif match["word"] == "background":
            c.background = True
        else:
            c.status = int(match["argument"])


def read(path):
    """All blocks of a document, with needs as (block, programs) applied by the caller."""
    with open(path, encoding="utf-8") as f:
        lines = f.read().splitlines()
    blocks, said, comment, fence = [], [], None, None
    for number, line in enumerate(lines, 1):
        if fence is not None:
            if line.startswith("```"):
                blocks.append(finish(fence, body, said))
                said, fence = [], None
            else:
                body.append(line)
        elif comment is not None or line.startswith("<!--"):
            comment = (comment + "\n" if comment is not None else "") + line
            if "-->" in line:
                said += directives(COMMENT.match(comment)[1], f"{path}:{number}")
                comment = None
        elif line.startswith("```"):
            fence, body = (number, line[3:].strip()), []
    return blocks


def finish(fence, body, said):
    number, language = fence
    block = Block(number, text="\n".join(body) + "\n")
    block.needs = [p for m in said if m["word"] == "needs" for p in m["argument"].split()]
    if language in ("", "sh") and not any(m["word"] in ("file", "output") for m in said):
        block.commands = commands_of(body, number + 1)
    apply(block, said)
    return block
