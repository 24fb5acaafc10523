#!/usr/bin/env bash
# imports.sh: the packages of the module against the table of rooms in DESIGN.md.
# A package is in the room with the longest matching path; it imports packages of
# its own room and of the rooms named in the last column. By folders, of which
# internal/base, internal/app and internal/command are three, no imports go in circles.
set -euo pipefail
go=${GO:-go}
module=$("$go" list -m)
imports=$("$go" list -f '{{.ImportPath}} {{join .Imports " "}}' ./...)
awk -v module="$module/" '
	function room(p,   r, best) {
		for (r in known) if (index(p "/", r "/") == 1 && length(r) > length(best)) best = r
		return best
	}
	NR == FNR {
		if (!/^\| `[a-z\/0-9.]+\/` \|/) next
		columns = split($0, column, "|")
		split(column[2], part, "`"); from = part[2]; sub(/\/$/, "", from); known[from] = 1
		n = split(column[columns - 1], part, "`")
		for (i = 2; i <= n; i += 2) allowed[from, part[i]] = 1
		if (part[1] ~ /^ all /) all[from] = 1
		next
	}
	{
		if ($1 "/" == module) $1 = "." # the package at the root
		sub("^" module, "", $1); from = room($1)
		if ($1 ~ /^examples\//) next # programs: they may import anything
		if (from == "") { print "lint: package " $1 " is in no room of DESIGN.md"; bad = 1; next }
		for (i = 2; i <= NF; i++) if (index($i, module) == 1) {
			sub("^" module, "", $i); to = room($i)
			if (to != from && !(from in all) && !((from, to) in allowed)) {
				print "lint: " $1 " imports " $i ", which DESIGN.md does not allow the room " from; bad = 1
			}
		}
	}
	END { for (r in known) rooms++; if (rooms == 0) { print "lint: no rooms found in DESIGN.md"; bad = 1 }; exit bad }
' DESIGN.md - <<<"$imports"
awk -v module="$module" '
	function folder(p) { # of the package p; the root is its own
		if (p == module) return "."
		sub("^" module "/", "", p)
		split(p, part, "/")
		return part[1] == "internal" ? part[1] "/" part[2] : part[1]
	}
	folder($1) != "examples" {
		for (i = 2; i <= NF; i++) if (index($i "/", module "/") == 1) print folder($1), folder($i)
	}
' <<<"$imports" | sort -u | tsort >/dev/null || { echo "lint: folders import each other in a circle: those that tsort names"; exit 1; }
