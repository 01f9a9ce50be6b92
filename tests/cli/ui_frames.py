# SPDX-License-Identifier: BSD-2-Clause
"""The frames of a stream as lines, as they come: curl -sN URL | ui_frames.py

JSON frames as they are; others as "FABRIC nodes=8 links=12", "STATE now=0 nodes=7777 links=3333 managers=3" (a digit
for each) or "KIND bytes".
"""
import struct
import sys

KINDS = {1: 'JSON', 2: 'FABRIC', 3: 'STATE', 4: 'SMPS', 5: 'PACKETS', 6: 'LOG', 7: 'SERIES', 8: 'LOADS'}
shape = (0, 0)


def text_of(kind, data):
    global shape
    if kind == 1:
        return data.decode()
    if kind == 2:
        shape = struct.unpack_from('<II', data, 4)
        return 'FABRIC nodes=%d links=%d' % shape
    if kind == 3:
        nodes, links = shape
        at = 20 + (nodes + 3) // 4 * 4
        end = at + (links * 3 + 3) // 4 * 4
        return 'STATE now=%d nodes=%s links=%s managers=%s' % (
            struct.unpack_from('<Q', data)[0], ''.join(str(b & 7) for b in data[20:20 + nodes]),
            ''.join(str(data[at + 3 * i]) for i in range(links)),
            ''.join(str(data[m + 4]) for m in range(end, len(data), 8)))
    return '%s %d' % (KINDS.get(kind, '?'), len(data))


def main():
    source = sys.stdin.buffer
    while True:
        head = source.read(8)
        if len(head) < 8:
            break
        length, kind = struct.unpack('<IB', head[:5])
        print(text_of(kind, source.read(length - 8)), flush=True)


main()
