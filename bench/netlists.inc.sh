# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash disable=SC2154 # `weft` is set by the script that reads this
#
# Fabrics that weft topo gen does not make, as netlists on standard output. Sourced. Keeps nothing.

# Cables in, "NODE PORT NODE PORT" with S- and H- before a name of letters and digits: nodes in the order in which they are
# named get GUIDs, both ends of each cable are written.
netlist()
{
	awk '
		function see(n) {
			if (n in number)
				return
			number[n] = n ~ /^S-/ ? ++switches : ++hosts
			node[++count] = n
		}
		function id(n) { return sprintf(n ~ /^S-/ ? "S-00020000%08x" : "H-00010000%08x", n ~ /^S-/ ? number[n] : 12 + 4 * number[n]) }
		function join(a, p, b, q) {
			line[a, p] = sprintf("[%d]\t\"%s\"[%d]", p, id(b), q)
			if (p > ports[a]) ports[a] = p
		}
		{ see($1); see($3); join($1, $2, $3, $4); join($3, $4, $1, $2) }
		END {
			for (i = 1; i <= count; i++) {
				n = node[i]
				sub(/^S-|^H-/, "", n)
				printf "%s\t%d \"%s\"\t# \"%s\"\n", node[i] ~ /^S-/ ? "Switch" : "Ca", ports[node[i]], id(node[i]), n
				for (p = 1; p <= ports[node[i]]; p++)
					if ((node[i], p) in line)
						print line[node[i], p]
				print ""
			}
		}'
}

# Two levels: each of E edge switches has H hosts and C cables to each of S spines.
parallel()
{
	awk -v e="$1" -v h="$2" -v s="$3" -v c="$4" 'BEGIN {
		for (i = 0; i < e; i++) {
			for (k = 0; k < h; k++) print "S-edge" i, k + 1, "H-node" i * h + k, 1
			for (j = 0; j < s; j++)
				for (k = 0; k < c; k++) print "S-edge" i, h + j * c + k + 1, "S-spine" j, i * c + k + 1
		}
	}' | netlist
}

# Three levels, half as many links up as down at the edge: P pods of E edge and M middle switches, H hosts at an edge switch.
tapered()
{
	awk -v p="$1" -v e="$2" -v m="$3" -v h="$4" 'BEGIN {
		for (x = 0; x < p; x++) {
			for (i = 0; i < e; i++) {
				for (k = 0; k < h; k++) print "S-edge" x "x" i, k + 1, "H-node" (x * e + i) * h + k, 1
				for (j = 0; j < m; j++) print "S-edge" x "x" i, h + j + 1, "S-mid" x "x" j, i + 1
			}
			for (j = 0; j < m; j++)
				for (k = 0; k < e; k++) print "S-mid" x "x" j, e + k + 1, "S-top" j * e + k, x + 1
		}
	}' | netlist
}

# Rail-optimised: P pods of N nodes with R HCAs each, HCA r of all nodes of a pod at its leaf r; S spines above all leaves.
rails()
{
	awk -v p="$1" -v n="$2" -v r="$3" -v s="$4" 'BEGIN {
		for (x = 0; x < p; x++) {
			for (i = 0; i < n; i++)
				for (k = 0; k < r; k++) print "S-leaf" x "x" k, i + 1, "H-node" x * n + i "x" k, 1
			for (k = 0; k < r; k++)
				for (j = 0; j < s; j++) print "S-leaf" x "x" k, n + j + 1, "S-spine" j, x * r + k + 1
		}
	}' | netlist
}

# A netlist in, the same with so many of 1,000 cables between switches missing. Drawn, and the same each time.
without()
{
	awk -v share="$1" -v seed="${2:-1}" '
		function draw(text,   i, x) {
			x = seed * 7919 % 65521
			for (i = 1; i <= length(text); i++)
				x = (x * 263 + index("0123456789abcdef/", substr(text, i, 1)) * 97 + 31) % 65521
			return (x * 25173 + 13849) % 65536 % 1000
		}
		/^Switch/ { split($0, q, "\""); own = substr(q[2], 3) }
		/^Ca/ { own = "" }
		own != "" && /^\[[0-9]+\]\t"S-/ {
			split($0, q, "\"")
			split($0, b, /[][]/)
			far = substr(q[2], 3)
			a = own "/" b[2]
			z = far "/" b[4]
			if (draw(a < z ? a z : z a) < share)
				next
		}
		{ print }'
}
