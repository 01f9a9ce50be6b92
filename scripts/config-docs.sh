#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# Write what the table of settings says into docs/config.md and data/weft.schema.json:
#
#	scripts/config-docs.sh build/src/cli/weft
#
# A test fails while they differ.
set -eu

weft=$1
root=$(cd "$(dirname "$0")/.." && pwd)
doc=$root/docs/config.md

"$weft" sm --print-config > "$doc.keys"
sed -n '1,/^```yaml$/p' "$doc" > "$doc.new"
cat "$doc.keys" >> "$doc.new"
# shellcheck disable=SC2016 # the end of a code block
echo '```' >> "$doc.new"
mv "$doc.new" "$doc"
rm "$doc.keys"
"$weft" sm --schema > "$root/data/weft.schema.json"
