# SPDX-License-Identifier: BSD-2-Clause
"""The rules of the house, as figures: see house.sh.

State: the tree as read once (Tree) and the symbols of a build (Symbols). Way in: main(). Does not build
anything, and changes nothing but a list of files known to be formatted, in the build directory.
"""
import argparse
import collections
import concurrent.futures
import fnmatch
import hashlib
import json
import os
import re
import statistics
import struct
import subprocess
import sys

# point: (limit, whether more than that fails). What does not fail is shown with its target.
POINTS = {
    'layering': (0, True),
    'call cycles': (5, True),
    'foreign writes': (0, False),
    'imports': (0, True),
    'function lengths': (40, False),
    'file lengths': (500, False),
    'format': (0, True),
    'basenames': (0, True),
    'stray files': (0, True),
    'file tables': (0, False),
}
PURE = 'base iba fabric draw perf policy route sa sm sim lab trial settings'.split()

# What a pure room may ask of libc and libm: memory, text, sorting, arithmetic.
HARMLESS = set('''
    malloc calloc realloc free abort qsort qsort_r bsearch __assert_fail __stack_chk_fail
    memcpy memmove memset memcmp memchr memmem mempcpy strlen strnlen strcmp strncmp strcasecmp
    strncasecmp strchr strrchr strchrnul strstr strspn strcspn strpbrk strdup strndup strcpy strncpy
    fnmatch stpcpy strcat strtok_r strsep strtol strtoul strtoll strtoull strtod memrchr aligned_alloc strerror strerror_r
    snprintf vsnprintf asprintf vasprintf sscanf __isoc99_sscanf __isoc23_sscanf __isoc23_strtoull
    __isoc23_strtoul __isoc23_strtol
    __ctype_b_loc __ctype_tolower_loc __ctype_toupper_loc tolower toupper __errno_location
    log log2 log10 exp pow sqrt sin cos tan atan2 floor ceil round lround llround fabs fmod hypot ldexp
    _GLOBAL_OFFSET_TABLE_ __memcpy_chk __memset_chk __snprintf_chk __vsnprintf_chk __asprintf_chk
    __vasprintf_chk __strcpy_chk __memmove_chk
'''.split())
KINDS = [
    ('threads', r'pthread_|sem_|GOMP_|omp_|thrd_|mtx_|cnd_|sched_'),
    ('clock', r'clock|time|gettimeofday|.*sleep|localtime|gmtime|strftime'),
    ('randomness', r's?rand|random|getrandom|drand'),
    ('arithmetic', r'__\w+[sdt][if][234]$'),
    ('sanitizer', r'__(asan|ubsan|tsan|sanitizer|gcov|llvm|sanitizer_cov)'),
]
OPENMP = 'GOMP_* omp_* __kmpc_*'
# (files, symbols, reason). Names with 64 at the end are the same functions.
EXCEPTIONS = [
    ('src/base/base.c', 'fopen fread fwrite ferror fclose fflush fileno fsync rename unlink stat fstat getpid stdin stdout stderr',
     'whole files, read and replaced: the helpers that rooms at the edge use'),
    ('src/base/base.c', 'madvise reallocarray _exit write', 'memory, and the end without it'),
    ('src/fabric/import_files.c', 'scandir alphasort getenv',
     'descriptions of systems beside a plan, for fab_netlist_load(), which rooms at the edge call'),
    ('src/base/nonblock_out.c', 'fstat poll send write', 'output that never blocks; called at the edge'),
    ('src/route/*', OPENMP, 'OpenMP inside an engine and the verifier; no result depends on the number of threads'),
    ('src/lab/*', OPENMP, 'independent runs side by side; no result depends on the number of threads'),
    ('src/sim/plane/parallel.c', 'pthread_* sched_* __sched_cpucount',
     'shards of one simulation, window by window; no result depends on the number of threads'),
]

STRAY = ['sys-*', '*.orig', '*.rej', 'core.[0-9]*', 'vgcore*', '*.o', '*.a', '*.so', '*.log', '*~', '*.swp',
         'a.out', 'callgrind.out*', '*.pyc', '.nfs*', '*.gcda', '*.gcno', 'nohup.out']
# New work that is not added yet is no stray file where such files live.
SOURCES = {'src': '.c .h .build', 'tests': '.c .h .build .sh .py .txt .md .toy', 'bench': '.c .sh .jq .py .md .build',
           'docs': '.md .svg', 'experiments': '.yaml .csv .jsonl .net', 'scripts': '.sh .py', 'data': '.service .yaml .build .md'}

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def git(*args):
    out = subprocess.run(('git', '-c', 'core.quotepath=off') + args, cwd=ROOT, capture_output=True, text=True)
    return out.stdout.splitlines() if out.returncode == 0 else []


def room_of(path):
    """src/sm/core/step.c -> src/sm"""
    return '/'.join(path.split('/')[:2])


def blank(text, pattern):
    return re.sub(pattern, lambda m: re.sub(r'[^\n]', ' ', m.group()), text, flags=re.S)


class Tree:
    """Tracked and new sources, with comments and strings blanked; line numbers stay."""

    def __init__(self):
        listed = git('ls-files', '-co', '--exclude-standard') or [
            os.path.relpath(os.path.join(d, f), ROOT) for top in ('src', 'tests', 'bench')
            for d, _, fs in os.walk(os.path.join(ROOT, top)) for f in fs]
        self.files = sorted({f for f in listed if os.path.isfile(os.path.join(ROOT, f))})
        self.sources = [f for f in self.files if f.endswith(('.c', '.h'))]
        self.raw = {f: self.read(f) for f in self.sources}
        self.code = {}
        for f, text in self.raw.items():
            text = blank(text, r'/\*.*?\*/|//[^\n]*')
            self.code[f] = blank(text, r'"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])+\'') \
                if f.startswith('src/') else text

    @staticmethod
    def read(path):
        with open(os.path.join(ROOT, path), encoding='utf-8', errors='replace') as f:
            return f.read()

    def src(self):
        return [f for f in self.sources if f.startswith('src/')]


def tables(markdown):
    """Each table of a document: (header cells, rows of cells)."""
    block = []
    for line in markdown.splitlines() + ['']:
        if line.startswith('|'):
            block.append([c.strip() for c in line.strip().strip('|').split('|')])
        elif block:
            if len(block) > 2:
                yield [h.lower() for h in block[0]], block[2:]
            block = []


# ---- layering ----

def may_include(doc):
    """room -> set of rooms and headers, as the table says and as those may themselves."""
    said = {}
    for head, rows in tables(doc):
        if 'may include' not in head:
            continue
        column = head.index('may include')
        for row in rows:
            for room in re.findall(r'`(src/[\w/]+)`', row[0]):
                said[room] = row[column] if column < len(row) else ''
    allowed = {room: set() for room in said}
    for room, text in said.items():
        for word in re.findall(r'[\w/.]+', re.sub(r'\band below\b', '', text)):
            if word == 'all':
                allowed[room] |= set(said)
            elif word.endswith('.h'):
                allowed[room].add('src/' + word)
            else:
                near = '/'.join(room.split('/')[:2]) + '/' + word
                allowed[room] |= {r for r in (near, 'src/' + word) if r in said}
    for _ in said:
        for room in said:
            for other in list(allowed[room]):
                allowed[room] |= allowed.get(other, set())
    return allowed


def included(tree, path):
    here = os.path.dirname(path)
    for line, text in enumerate(tree.raw[path].splitlines(), 1):
        m = re.match(r'\s*#\s*include\s+"([^"]+)"', text)
        if m:
            for candidate in ('src/' + m.group(1), os.path.normpath(here + '/' + m.group(1))):
                if candidate in tree.raw:
                    yield line, candidate
                    break


def layering(tree, _symbols):
    allowed = may_include(Tree.read('ARCHITECTURE.md'))
    bad, n = [], 0
    rooms = {room_of(f) for f in tree.src() if f.count('/') > 1}
    bad += ['%s has no row in ARCHITECTURE.md' % r for r in sorted(rooms - set(allowed))]
    for path in tree.src():
        room, sub = room_of(path), os.path.dirname(path)
        for line, target in included(tree, path):
            n += 1
            to, to_sub = room_of(target), os.path.dirname(target)
            where = '%s:%d includes %s' % (path, line, target)
            if to == room:
                if sub != to_sub and sub in allowed and to_sub in allowed and to_sub not in allowed[sub]:
                    bad.append(where)
            elif room in allowed and to not in allowed[room] and target not in allowed[room]:
                bad.append(where)
            elif target.endswith('_priv.h'):
                bad.append(where + ', which is private')
    return len(bad), '%d of %d includes against the table' % (len(bad), n), bad


# ---- symbols ----

CALL = {62: (4,), 183: (282, 283)}  # relocations of a call or jump: R_X86_64_PLT32; R_AARCH64_JUMP26, CALL26


class Object:
    """Global symbols of a 64-bit little-endian ELF object: defined, asked for, and called."""

    def __init__(self, path):
        with open(path, 'rb') as f:
            self.data = f.read()
        machine, = struct.unpack_from('<H', self.data, 18)
        offset, = struct.unpack_from('<Q', self.data, 40)
        size, count, names = struct.unpack_from('<HHH', self.data, 58)
        sections = [struct.unpack_from('<IIQQQQIIQQ', self.data, offset + i * size) for i in range(count)]
        symtab = next(s for s in sections if s[1] == 2)
        strings = sections[symtab[6]][4]
        entries = [struct.unpack_from('<IBBHQQ', self.data, symtab[4] + i * 24) for i in range(symtab[5] // 24)]
        symbols = [self.text(strings + e[0]) for e in entries]
        self.defined = {n for n, e in zip(symbols, entries) if e[3] and e[1] >> 4}
        self.asked = {n for n, e in zip(symbols, entries) if not e[3] and n}
        self.called = set()
        for s in sections:
            if s[1] == 4 and self.text(sections[names][4] + sections[s[7]][0]).startswith('.text'):
                for at in range(s[4], s[4] + s[5], 24):
                    info = struct.unpack_from('<QQq', self.data, at)[1]
                    if info & 0xffffffff in CALL.get(machine, ()):
                        self.called.add(symbols[info >> 32])

    def text(self, at):
        return self.data[at:self.data.index(b'\0', at)].decode()


class Symbols:
    """What each source defines, asks for and calls, from the objects of a build."""

    def __init__(self, build):
        self.defined = {}                           # symbol -> source
        self.asked = collections.defaultdict(set)   # source -> symbols
        self.called = collections.defaultdict(set)
        self.stale, self.sources = 0, set()
        with open(os.path.join(build, 'compile_commands.json'), encoding='utf-8') as f:
            entries = json.load(f)
        for e in entries:
            source = os.path.relpath(os.path.join(e['directory'], e['file']), ROOT)
            path, origin = os.path.join(build, e['output']), os.path.join(ROOT, source)
            if source.startswith('src/') and os.path.exists(path) and os.path.exists(origin):
                self.sources.add(source)
                self.stale += os.path.getmtime(path) < os.path.getmtime(origin)
                o = Object(path)
                self.defined.update((s, source) for s in o.defined)
                self.asked[source] |= o.asked
                self.called[source] |= o.called
        if not self.defined:
            raise OSError('no objects')


def components(graph):
    """Strongly connected components, by Tarjan, without recursion."""
    index, low, on, stack, found = {}, {}, set(), [], []
    for root in graph:
        if root in index:
            continue
        work = [(root, iter(graph[root]))]
        index[root] = low[root] = len(index)
        stack.append(root)
        on.add(root)
        while work:
            node, edges = work[-1]
            for other in edges:
                if other not in index:
                    index[other] = low[other] = len(index)
                    stack.append(other)
                    on.add(other)
                    work.append((other, iter(graph[other])))
                    break
                if other in on:
                    low[node] = min(low[node], index[other])
            else:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[node])
                if low[node] == index[node]:
                    part = []
                    while not part or part[-1] != node:
                        part.append(stack.pop())
                        on.discard(part[-1])
                    found.append(part)
    return found


def call_cycles(tree, symbols):
    worst, details = 0, []
    by_room = collections.defaultdict(list)
    for f in tree.src():
        if f.endswith('.c'):
            by_room[room_of(f)].append(f)
    figures = []
    for room, files in sorted(by_room.items()):
        graph = {f: sorted({symbols.defined[s] for s in symbols.called[f] if s in symbols.defined} &
                           set(files) - {f}) for f in files}
        parts = sorted((p for p in components(graph) if len(p) > 1), key=len, reverse=True)
        if parts:
            figures.append('%s %d of %d' % (room[4:], len(parts[0]), len(files)))
            worst = max(worst, len(parts[0]))
        details += ['%s: %s' % (room, ' '.join(sorted(f[len(room) + 1:] for f in p)))
                    for p in parts if len(p) > POINTS['call cycles'][0]]
    return worst, 'files in the largest cycle: %s' % (', '.join(figures) or 'none'), details


def imports(tree, symbols):
    bad, n = [], 0
    for f in tree.src():
        if room_of(f)[4:] not in PURE:
            continue
        for s in sorted(symbols.asked[f] - set(symbols.defined) - HARMLESS):
            kind = next((k for k, p in KINDS if re.match(p, s)), 'I/O or unknown')
            if kind in ('arithmetic', 'sanitizer'):
                continue
            n += 1
            name = re.sub('64$', '', s)
            if not any(fnmatch.fnmatch(f, where) and any(fnmatch.fnmatch(name, w) for w in what.split())
                       for where, what, _ in EXCEPTIONS):
                bad.append('%s asks for %s (%s)' % (f, s, kind))
    return len(bad), '%d in pure rooms without a reason, %d with one' % (len(bad), n - len(bad)), bad


# ---- fields written from outside their room ----

class Structs:
    """Fields of the structs in headers: name -> {field: type}, and where each struct is declared."""

    def __init__(self, tree):
        self.fields, self.home, self.owners, self.anonymous = {}, {}, {}, 0
        for path in tree.src():
            if path.endswith('.h'):
                text = re.sub(r'^[ \t]*#(?:[^\n]*\\\n)*[^\n]*', '', tree.code[path], flags=re.M)
                for who, name in re.findall(r'\bOwner: ([\w ]+)[^*]*\*/\s*(?:struct|union)\s+(\w+)\s*\{', tree.raw[path]):
                    self.owners[name] = who
                for m in re.finditer(r'\b(?:struct|union)\s+(\w+)\s*\{', text):
                    self.home[m.group(1)] = path
                    self.body(m.group(1), self.inside(text, m.end()))

    @staticmethod
    def inside(text, start):
        depth, at = 1, start
        while depth and at < len(text):
            depth += {'{': 1, '}': -1}.get(text[at], 0)
            at += 1
        return text[start:at - 1]

    def body(self, name, text):
        fields = self.fields.setdefault(name, {})
        home = self.home[name]
        while True:  # structs within, first: they become types with a name of their own or of ours
            m = re.search(r'\b(?:struct|union)\s*(\w*)\s*\{', text)
            if not m:
                break
            inner = self.inside(text, m.end())
            end = m.end() + len(inner) + 1
            inner_name = m.group(1)
            if not inner_name:
                self.anonymous += 1
                inner_name = '%s#%d' % (name, self.anonymous)
            self.home[inner_name] = home
            self.body(inner_name, inner)
            rest = text[end:]
            if rest.lstrip().startswith(';'):  # its fields are ours
                fields.update(self.fields[inner_name])
                text = text[:m.start()] + rest
            else:
                text = text[:m.start()] + 'struct ' + inner_name + ' ' + rest
        text = re.sub(r'\benum\s*\w*\s*\{[^}]*\}', 'int ', text)
        for declaration in text.split(';'):
            m = re.match(r'\s*(?:const\s+)?(?:VEC\((?P<vec>[^)]*)\)|(?P<type>(?:struct\s+|union\s+|enum\s+|unsigned\s+)?[\w#]+))',
                         declaration)
            if not m:
                continue
            kind = re.sub(r'^\s*(?:const\s+)?(?:struct|union)\s+', '', m.group('vec') or m.group('type') or '').strip(' *')
            for field in re.findall(r'[,\s*(]([A-Za-z_]\w*)\s*(?=[,\[:)]|$)', declaration[m.end():] + ' '):
                fields[field] = ('vec ' if m.group('vec') else '') + kind

    def owner(self, kind):
        """The sub-room that may write it: the one that declares it, unless a comment "Owner: NAME" above says another.
        A name that is no sub-room, such as "Owner: the sender", makes it a value that is filled in and handed over, as
        configurations are."""
        if kind.endswith('_config'):
            return None
        home = os.path.dirname(self.home.get(kind, ''))
        return os.path.dirname(home) + '/' + self.owners[kind] if kind in self.owners else home


ASSIGN = r'(?:=(?!=)|[-+*/%&|^]=|<<=|>>=|\+\+|--)'
WRITE = re.compile(r'(?<![\w.>])(\w+)((?:\[\])*(?:(?:->|\.)\w+(?:\[\])*)+)\s*' + ASSIGN)
BEFORE = re.compile(r'(?:\+\+|--)\s*(\w+)((?:\[\])*(?:(?:->|\.)\w+(?:\[\])*)+)')
DECLARED = re.compile(r'\bstruct\s+(\w+)\s+(\**)\s*(?:const\s+)?(\w+)\b((?:\s*(?:=[^,;]*)?,\s*\**\w+)*)')


def functions(code):
    """(first line, lines, text) of each function of a formatted source."""
    lines, start = code.split('\n'), None
    for i, line in enumerate(lines):
        if line == '{' and start is None:
            start = i
            while start > 0 and lines[start - 1].strip() and not re.match(r'[}#]|.*;\s*$', lines[start - 1]):
                start -= 1
        elif line.startswith('}') and start is not None:
            yield start + 1, i - start + 1, '\n'.join(lines[start:i + 1])
            start = None


def declared(text, known):
    """Variables that are structs or point to one: name -> (struct, whether it is the struct itself)."""
    types = {}
    for kind, stars, name, more in DECLARED.findall(text):
        if kind in known:
            for star, n in [(stars, name)] + re.findall(r',\s*(\**)(\w+)', more):
                types[n] = kind, not star
    return types


def flat(text):
    while True:
        shorter = re.sub(r'\[[^\[\]]+\]', '[]', text)
        if shorter == text:
            return text
        text = shorter


def written(structs, types, name, chain):
    """The struct whose field is assigned to, and the field; None when the heuristic cannot tell."""
    kind, field = types.get(name, (None, False))[0], None
    for step in re.findall(r'\w+', chain):
        if kind is None:
            return None
        if kind.startswith('vec '):  # .at[i] is an element; .n and .cap belong to the vector
            if step != 'at':
                return None
            kind = kind[4:]
            continue
        if step not in structs.fields.get(kind, {}):
            return None
        owner, field, kind = kind, step, structs.fields[kind][step]
    return (owner, field) if field else None


def foreign_writes(tree, _symbols):
    structs, rooms = Structs(tree), {os.path.dirname(f) for f in tree.src()}
    bad, seen, n = collections.Counter(), {}, 0
    for path in tree.src():
        here = os.path.dirname(path)
        code = tree.code[path]
        outside = declared('\n'.join(l for l in code.split('\n') if re.match(r'(static\s+)?struct\s', l)), structs.fields)
        for first, _, text in functions(code):
            types = {**outside, **declared(text, structs.fields)}
            text = flat(text)
            for m in list(WRITE.finditer(text)) + list(BEFORE.finditer(text)):
                hit = written(structs, types, m.group(1), m.group(2))
                if not hit:
                    continue
                n += 1
                home = structs.owner(hit[0])
                if home in rooms and home.count('/') >= 2 and home != here and not own(types, m.group(1), m.group(2)):
                    key = '%s.%s of %s' % (hit[0].split('#')[0], hit[1], home[4:])
                    bad[key] += 1
                    seen.setdefault(key, set()).add('%s:%d' % (path, first + text[:m.start()].count('\n')))
    details = ['%s: %s' % (k, ' '.join(sorted(seen[k])[:4])) for k, _ in bad.most_common()]
    by_room = collections.Counter(re.search(r' of (\w+)/', k).group(1) for k in bad)
    return len(bad), '%d fields of sub-rooms written elsewhere%s, %d writes of %d seen; not seen: memset, pointers to ' \
        'fields, chains through calls' % (len(bad), ''.join(', %s %d' % x for x in sorted(by_room.items())),
                                          sum(bad.values()), n), details


def own(types, name, chain):
    """A struct that the function or file holds itself, to be handed over when it is filled in."""
    return types[name][1] and '->' not in chain


# ---- lengths, format, names, files ----

def spread(lengths):
    lengths = sorted(lengths)
    return statistics.median_low(lengths), lengths[min(len(lengths) - 1, len(lengths) * 95 // 100)], lengths[-1]


def function_lengths(tree, _symbols):
    all_ = [(n, f, first) for f in tree.src() for first, n, _ in functions(tree.code[f])]
    limit = POINTS['function lengths'][0]
    over = sorted((x for x in all_ if x[0] > limit), reverse=True)
    return len(over), 'over %d lines: %d of %d; median %d, 95 %% under %d, longest %d' % (
        (limit, len(over), len(all_)) + spread([x[0] for x in all_])), ['%s:%d has %d lines' % (f, a, n) for n, f, a in over]


def file_lengths(tree, _symbols):
    all_ = [(tree.raw[f].count('\n'), f) for f in tree.src()]
    limit = POINTS['file lengths'][0]
    over = sorted((x for x in all_ if x[0] > limit), reverse=True)
    return len(over), 'over %d lines: %d of %d; median %d, 95 %% under %d, longest %d' % (
        (limit, len(over), len(all_)) + spread([x[0] for x in all_])), ['%s has %d lines' % (f, n) for n, f in over]


def clang_format(files):
    out = subprocess.run(['clang-format', '--dry-run'] + files, cwd=ROOT, capture_output=True, text=True)
    return {re.match(r'[^:]+', line).group() for line in out.stderr.splitlines() if '[-Wclang-format' in line}


def formatting(tree, build):
    try:
        salt = subprocess.run(['clang-format', '--version'], capture_output=True, text=True).stdout
    except FileNotFoundError:
        return None, 'clang-format is not installed', []
    salt += Tree.read('.clang-format')
    key = {f: hashlib.sha1((salt + tree.raw[f]).encode()).hexdigest() for f in tree.sources}
    cache = os.path.join(build, 'house-formatted') if build else None
    known = set()
    if cache and os.path.exists(cache):
        with open(cache, encoding='utf-8') as f:
            known = set(f.read().split())
    todo = [f for f in tree.sources if key[f] not in known]
    bad = set()
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for found in pool.map(clang_format, [todo[i:i + 20] for i in range(0, len(todo), 20)]):
            bad |= found
    if cache and todo:
        with open(cache + '.new', 'w', encoding='utf-8') as f:
            f.write('\n'.join(key[f] for f in tree.sources if f not in bad))
        os.replace(cache + '.new', cache)
    return len(bad), '%d of %d sources differ from .clang-format' % (len(bad), len(tree.sources)), sorted(bad)


def basenames(tree, _symbols):
    names = collections.defaultdict(list)
    for f in tree.sources:
        names[os.path.basename(f)].append(f)
    twice = [' '.join(fs) for fs in names.values() if len(fs) > 1]
    return len(twice), '%d names used twice, of %d' % (len(twice), len(names)), sorted(twice)


def stray_files(_tree, _symbols):
    tracked = git('ls-files')
    if not tracked:
        return None, 'no git repository', []
    bad = [f + ' is tracked' for f in tracked if f.endswith('/core') or
           any(fnmatch.fnmatch(part, p) for part in f.split('/') for p in STRAY)]
    bad += [f + ' is tracked and ignored' for f in git('ls-files', '-ci', '--exclude-standard')]
    new = git('ls-files', '-o', '--exclude-standard')
    for f in new:
        if not f.endswith(tuple(SOURCES.get(f.split('/')[0], '\0').split())):
            bad.append(f + ' is not tracked')
    return len(bad), '%d beside %d tracked' % (len(bad), len(tracked)), bad


def file_tables(tree, _symbols):
    """Every .c file of src has a row; every file that a table names is there."""
    named, bad = set(), []
    sources = [f for f in tree.src()]
    for head, rows in tables(Tree.read('ARCHITECTURE.md')):
        if head[0] != 'file':
            continue
        for row in rows:
            for word in re.findall(r'`([\w/*.]+\.[ch])`', row[0]):
                hits = [f for f in sources if fnmatch.fnmatchcase('/' + f, '*/' + word)]
                named |= set(hits)
                if not hits:
                    bad.append('%s is in a table and not in src' % word)
    missing = [f for f in sources if f.endswith('.c') and f not in named]
    return len(bad) + len(missing), '%d files without a row, %d rows without a file' % (len(missing), len(bad)), \
        ['%s is in no table' % f for f in missing] + bad


# ---- all of them ----

RUN = {'layering': layering, 'call cycles': call_cycles, 'foreign writes': foreign_writes, 'imports': imports,
       'function lengths': function_lengths, 'file lengths': file_lengths, 'format': formatting,
       'basenames': basenames, 'stray files': stray_files, 'file tables': file_tables}
NEED_BUILD = ('call cycles', 'imports')


def figure_of(point, result):
    """What is held against the limit: lengths are about how many are over it."""
    return result[0], 0 if point.endswith('lengths') else POINTS[point][0]


def judge(point, result):
    figure, text, details = result
    if figure is None:
        return {'point': point, 'state': 'left out', 'figure': None, 'text': text, 'details': []}
    figure, limit = figure_of(point, result)
    state = 'ok' if figure <= limit else 'failed' if POINTS[point][1] else 'over'
    return {'point': point, 'state': state, 'figure': figure, 'target': limit, 'fails': POINTS[point][1],
            'text': text, 'details': details}


def line(r):
    says = {'ok': '', 'over': ': above the target of %s' % r.get('target'), 'failed': ': FAILED', 'left out': ': left out'}
    return '%s: %s%s' % (r['point'], r['text'], says[r['state']])


def print_text(results, everything):
    for r in results:
        print('house: ' + line(r))
        shown = r['details'] if everything else r['details'][:10 if r['state'] == 'failed' else 0]
        for d in shown:
            print('    ' + d)
        if len(shown) < len(r['details']) and r['state'] == 'failed':
            print('    and %d more (--all)' % (len(r['details']) - len(shown)))


def print_tap(results):
    print('1..%d' % len(results))
    for n, r in enumerate(results, 1):
        skip = ' # SKIP' if r['state'] == 'left out' else ''
        print('%s %d - %s%s' % ('not ok' if r['state'] == 'failed' else 'ok', n, line(r), skip))
        for d in r['details'] if r['state'] == 'failed' else []:
            print('# ' + d)


def main():
    args = argparse.ArgumentParser(prog='house.sh', description='Check the rules of the house.')
    args.add_argument('--json', action='store_true', help='print the result as JSON')
    args.add_argument('--tap', action='store_true', help='print it as a test does, a point a case')
    args.add_argument('--all', action='store_true', help='print all that is against a rule, not the first few')
    args.add_argument('--build', metavar='DIR', help='a build with objects (default $WEFT_BUILD or build)')
    args.add_argument('points', nargs='*', metavar='POINT', help='only these: ' + ', '.join(POINTS))
    o = args.parse_args()
    for p in o.points:
        if p not in POINTS:
            args.error('unknown point %r' % p)
    build = os.path.abspath(o.build or os.environ.get('WEFT_BUILD') or os.path.join(ROOT, 'build'))
    build = build if os.path.isdir(build) else None
    tree, symbols, results = Tree(), None, []
    points = o.points or list(POINTS)
    if any(p in NEED_BUILD for p in points):
        try:
            symbols = Symbols(build) if build else None
        except (OSError, ValueError):
            symbols = None
    for p in points:
        if p in NEED_BUILD and not symbols:
            result = None, 'no build to read symbols from', []
        else:
            result = RUN[p](tree, build if p == 'format' else symbols)
        r = judge(p, result)
        behind = symbols and p in NEED_BUILD and symbols.stale + sum(
            f.endswith('.c') and f not in symbols.sources for f in tree.src())
        if behind:
            r['text'] += ' (the build is out of date: %d objects)' % behind
            r['state'] = 'over' if r['state'] == 'failed' else r['state']
        results.append(r)
    ok = not any(r['state'] == 'failed' for r in results)
    if o.json:
        print(json.dumps({'ok': ok, 'points': results}, indent=2))
    elif o.tap:
        print_tap(results)
    else:
        print_text(results, o.all)
    return 0 if ok else 1


if __name__ == '__main__':
    sys.exit(main())
