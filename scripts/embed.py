# SPDX-License-Identifier: BSD-2-Clause
"""The files of the page as a C source: embed.py OUT.c FILE...

The assembler reads the files (.incbin), so that nothing is compiled but a table. Their sums are in a comment: the
source changes when a file does.
"""
import hashlib
import os
import sys

TYPES = {'.html': 'text/html; charset=utf-8', '.js': 'text/javascript; charset=utf-8', '.css': 'text/css; charset=utf-8',
         '.svg': 'image/svg+xml', '.png': 'image/png', '.ico': 'image/x-icon', '.json': 'application/json',
         '.woff2': 'font/woff2', '.wasm': 'application/wasm', '.txt': 'text/plain; charset=utf-8'}

PIECE = '''/* {sum} */
__asm__(".pushsection .rodata\\n"
	"web_file_{n}: .incbin \\"{path}\\"\\n"
	"web_file_{n}_end: .byte 0\\n"
	".global web_file_{n}\\n.global web_file_{n}_end\\n"
	".popsection\\n");
extern const uint8_t web_file_{n}[], web_file_{n}_end[];
'''


def main(out, files):
    pieces, rows = [], []
    for n, path in enumerate(files):
        name, ext = os.path.basename(path), os.path.splitext(path)[1]
        if ext not in TYPES:
            sys.exit('embed.py: %s: no Content-Type is known for %s' % (path, ext))
        with open(path, 'rb') as f:
            digest = hashlib.sha256(f.read()).hexdigest()
        pieces.append(PIECE.format(n=n, path=os.path.abspath(path), sum=digest))
        rows.append('\t{"/%s", "%s", web_file_%d, web_file_%d_end},\n' %
                    ('' if name == 'index.html' else name, TYPES[ext], n, n))
    with open(out, 'w', encoding='utf-8') as f:
        f.write('/* Made by scripts/embed.py. */\n#include "web/static_files.h"\n\n' + ''.join(pieces) +
                'const struct static_file static_files[] = {\n' + ''.join(rows) + '\t{0},\n};\n')


if __name__ == '__main__':
    main(sys.argv[1], sys.argv[2:])
