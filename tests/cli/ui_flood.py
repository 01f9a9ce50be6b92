# SPDX-License-Identifier: BSD-2-Clause
"""A page that sends requests to a live view as fast as it can: ui_flood.py BASE TOKEN [REQUESTS]"""
import http.client
import json
import sys

base, token = sys.argv[1:3]
requests = int(sys.argv[3]) if len(sys.argv) > 3 else 300
kinds = [
    {'cmd': 'node', 'node': '0x0002000000000001'},
    {'cmd': 'loads'},
    {'cmd': 'users', 'port': {'node': '0x0002000000000001', 'port': 1}},
    {'cmd': 'tree', 'node': '0x0001000000000010'},
    {'cmd': 'counters', 'node': '0x0002000000000001'},
    {'cmd': 'control', 'request': {'cmd': 'topology', 'first': 0, 'count': 512}},
    {'cmd': 'control', 'request': {'cmd': 'tables'}},
]
page = http.client.HTTPConnection(base.split('/')[2])
seen = set()
for i in range(requests):
    page.request('POST', '/command?token=' + token, json.dumps(dict(kinds[i % len(kinds)], id=1000 + i)))
    answer = page.getresponse()
    answer.read()
    seen.add(answer.status)
# Queued, or too many wait.
sys.exit(not seen <= {204, 503})
