#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Run the commands of one document: commands.py WEFT DOCUMENT, or WEFT --help-examples RULES.

Keeps a scratch directory and one shell for the document, both gone at the end with everything that
was started in it. Prints TAP, one case a command. Does not read Markdown (blocks.py does) and does
not check names in prose (names.py does).
"""

import fcntl
import json
import os
import re
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True  # nothing is left in the source tree
import blocks  # noqa: E402

LIMIT_S = 40  # for one command
ALIVE_S = 0.5  # a background command must still run after this time


class Shell:
    """A clean shell in a directory of its own, with weft on its PATH."""

    def __init__(self, weft):
        self.dir = tempfile.mkdtemp(prefix="weft-docs-")
        self.work = os.path.join(self.dir, "work")
        for name in ("bin", "work", "runtime", "state"):
            os.mkdir(os.path.join(self.dir, name))
        os.symlink(os.path.abspath(weft), os.path.join(self.dir, "bin/weft"))
        self.status_read, status_write = os.pipe()
        prefix = self.isolated()
        self.lock = None if prefix else self.wait_for_others()
        self.bash = subprocess.Popen(
            prefix + ["bash", "--noprofile", "--norc"],
            stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            cwd=self.work, env=self.environment(), pass_fds=[status_write],
            start_new_session=True)
        os.close(status_write)
        self.say(f"exec 9>&{status_write} {status_write}>&-; set -o pipefail; shopt -s expand_aliases\n")

    def environment(self):
        keep = ("LANG", "TERM", "TMPDIR", "ASAN_OPTIONS", "UBSAN_OPTIONS", "OMP_WAIT_POLICY")
        env = {k: os.environ[k] for k in keep if k in os.environ}
        env.update(
            PATH=f"{self.dir}/bin:{os.environ['PATH']}:/usr/sbin:/sbin", HOME=self.work,
            LC_ALL="C.UTF-8", RUNTIME_DIRECTORY=f"{self.dir}/runtime", PAGER="cat", MANPAGER="cat",
            STATE_DIRECTORY=f"{self.dir}/state")
        return env

    @staticmethod
    def isolated():
        """A network namespace of its own where the system allows it: names of sockets are then its own."""
        for prefix in (["unshare", "-n"], ["unshare", "-rn"]):
            if shutil.which("unshare") and not subprocess.run(prefix + ["true"], capture_output=True).returncode:
                return prefix
        return []

    @staticmethod
    def wait_for_others():
        """Documents use the same names of sockets: without a namespace one runs after the other."""
        lock = open(os.path.join(tempfile.gettempdir(), f"weft-docs-{os.getuid()}.lock"), "w", encoding="utf-8")
        fcntl.flock(lock, fcntl.LOCK_EX)
        return lock

    def say(self, text):
        self.bash.stdin.write(text.encode())
        self.bash.stdin.flush()

    def run(self, text, background=False):
        """(status, output); status None when the time limit passed or the shell ended."""
        script, output = f"{self.dir}/command", f"{self.dir}/output"
        with open(script, "w", encoding="utf-8") as f:
            f.write(text + "\n")
        if background:
            call = f"(exec 9>&-; . {script}) > {output}.$RANDOM 2>&1 < /dev/null & sleep {ALIVE_S}; kill -0 $!"
            self.say(f"{{ {call}; }} 2> /dev/null; echo $? >&9\n")
        else:
            self.say(f"{{ . {script}; }} > {output} 2>&1 < /dev/null 9>&-; echo $? >&9\n")
        status = self.wait()
        if background:
            return status, "it ended, or did not start\n" if status else ""
        with open(output, encoding="utf-8", errors="replace") as f:
            return status, f.read()

    def wait(self):
        if not select.select([self.status_read], [], [], LIMIT_S)[0]:
            return None
        said = os.read(self.status_read, 16)
        return int(said) if said else None

    def end(self):
        for how in (signal.SIGTERM, signal.SIGKILL):
            try:
                os.killpg(self.bash.pid, how)
            except ProcessLookupError:
                break
            time.sleep(0.1)
        self.bash.wait()
        shutil.rmtree(self.dir, ignore_errors=True)


def pattern(lines):
    """Expected lines as a regular expression over the whole output."""
    parts = []
    for line in lines:
        if line.strip() == "...":
            parts.append(r"(?:.*\n)*?")
        else:
            parts.append(r"[^\n]*?".join(re.escape(p) for p in line.rstrip().split("...")) + r"[ \t]*\n")
    return re.compile("".join(parts) + r"\s*\Z")


def differs(expected, output):
    """'' or what to print: the output is not the one shown."""
    if not expected or pattern(expected).match(output if output.endswith("\n") else output + "\n"):
        return ""
    return "shown:\n" + "\n".join(expected) + "\nprinted:\n" + output


class Tap:
    def __init__(self):
        self.n = self.failed = self.skipped = 0

    def case(self, name, problem="", skip=""):
        self.n += 1
        self.failed += bool(problem)
        self.skipped += bool(skip)
        name = re.sub(r" +# .*|[\\#]", "", name.replace("\n", " "))
        print(("not " if problem else "") + f"ok {self.n} - {name}" + (f" # SKIP {skip}" if skip else ""))
        for line in problem.rstrip().splitlines()[:60]:
            print("# " + line)
        sys.stdout.flush()

    def end(self):
        print(f"1..{self.n}")
        print(f"# {self.n - self.failed - self.skipped} passed, {self.failed} failed, {self.skipped} skipped")
        return 1 if self.failed else 0


def run_command(shell, tap, name, command):
    """The output, for a block that shows it."""
    if command.skip:
        tap.case(name, skip=command.skip)
        return ""
    began = time.monotonic()
    status, output = shell.run(command.text, command.background)
    problem = ""
    if status is None:
        problem = f"no end after {time.monotonic() - began:.0f} s\n{output}"
    elif status != command.status:
        problem = f"status {status}, expected {command.status}\n{output}"
    tap.case(f"{name} ({time.monotonic() - began:.1f} s)", problem or differs(command.expected, output))
    if status is None:
        raise TimeoutError
    return output


def run_setup(shell, lines):
    for line in lines:
        status, output = shell.run(line)
        if status != 0:
            raise RuntimeError(f"set-up failed with status {status}: {line}\n{output}")


def run_block(shell, tap, document, block, last):
    missing = [p for p in block.needs if not shutil.which(p, path=os.environ["PATH"] + ":/usr/sbin:/sbin")]
    for command in block.commands if missing else []:
        command.skip = command.skip or f"{missing[0]} is not installed"
    run_setup(shell, [] if missing else block.setup)
    if block.file:
        with open(os.path.join(shell.work, block.file), "w", encoding="utf-8") as f:
            f.write(block.text)
    if block.output:
        tap.case(f"{document}:{block.line}: output as shown", differs(block.text.splitlines(), last))
    for command in block.commands:
        name = (f"{document}:{command.line}: " if block.line else f"{document}: ") + re.sub(r" +#.*", "", command.text)
        last = run_command(shell, tap, name, command)
    return last


def examples(weft, rules):
    """The examples of every command's help, as blocks that the rules' blocks are laid over."""
    table = json.loads(subprocess.run([weft, "help", "--json"], capture_output=True, check=True).stdout)
    said, found = {}, []
    for block in blocks.read(rules):
        for command in block.commands:
            said[command.text] = (block, command)
    for command in table["commands"]:
        for text in command.get("examples", []):
            block, rule = said.pop(text, (blocks.Block(0), blocks.Command(0, text)))
            block.needs = getattr(block, "needs", [])
            found.append((command["name"], blocks.Block(0, block.setup, [rule])))
            found[-1][1].needs, block.setup = block.needs, []
    if said:
        raise blocks.BadDocument(f"{rules}: no help has the example: {next(iter(said))}")
    return found


def main(weft, *which):
    tap, shell, last = Tap(), Shell(weft), ""
    document = which[-1]
    try:
        if which[0] == "--help-examples":
            todo = [(f"{name} --help", block) for name, block in examples(weft, which[1])]
        else:
            todo = [(os.path.basename(document), block) for block in blocks.read(document)]
        for name, block in todo:
            last = run_block(shell, tap, name, block, last)
    except TimeoutError:
        pass
    except (RuntimeError, blocks.BadDocument) as problem:
        tap.case(f"{document} can be run", str(problem))
    finally:
        shell.end()
    return tap.end()


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    sys.exit(main(*sys.argv[1:]))
