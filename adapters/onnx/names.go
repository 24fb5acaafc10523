package onnx

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
