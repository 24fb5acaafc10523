package graph

import (
	"fmt"
	"strconv"
	"strings"
)

// String names a node in messages: node "/fc/Gemm" (Gemm).
func (n *Node) String() string {
	op := opName(n.Op)
	if n.Domain != "" {
		op = opName(n.Domain + "." + n.Op)
	}
	if strings.TrimSpace(n.Name) == "" {
		return fmt.Sprintf("node %d (%s)", n.Index, op)
	}
	return fmt.Sprintf("node %q (%s)", n.Name, op)
}

// opName is the name of an operator, quoted unless it is a word of ASCII letters,
// digits, dots and underscores: it comes from a file.
func opName(name string) string {
	for _, r := range name {
		if r != '.' && r != '_' && (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z') {
			return strconv.Quote(name)
		}
	}
	return name
}

// maxListed bounds the names that a message lists.
const maxListed = 40

// QuotedList writes names in a message, maxListed at most; "none" without any.
func QuotedList(names []string) string {
	if len(names) == 0 {
		return "none"
	}
	var q []string
	for i, n := range names {
		if i == maxListed {
			q = append(q, fmt.Sprintf("and %d more", len(names)-i))
			break
		}
		q = append(q, strconv.Quote(n))
	}
	return strings.Join(q, ", ")
}

// Plural is n and what it counts: "1 row", "2 rows".
func Plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// PlainName is n as it stands in the name of a term: in quotes if it is empty or holds a
// space, a comma or what needs an escape.
func PlainName(n string) string {
	if q := strconv.Quote(n); n == "" || len(q) != len(n)+2 || strings.ContainsAny(n, " ,") {
		return q
	}
	return n
}
