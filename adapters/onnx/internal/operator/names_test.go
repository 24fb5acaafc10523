package operator_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/pho-go/pho/adapters/onnx/internal/operator"
)

// TestNamesStayHere counts, by room, where code outside this package compares something with an
// operator's name: a condition, a case, an element of a list. What an operator is belongs to its
// entry (graph.Traits, Head, Missing, ...). Nodes that are written need names, and are not counted.
func TestNamesStayHere(t *testing.T) {
	most := map[string]int{
		// Each of these nodes is rewritten in a way of its own: to see rows inside a loop, to follow
		// the number of a row, to expand control flow and sequences.
		"graph": 120,
		// Patterns of nodes that spell a softmax, a link, an imputation or probabilities.
		"structure": 72,
		// The patterns of the passes.
		"engine": 14,
		// The attributes of the nodes that mean the same in every opset.
		"export": 17,
	}
	known := map[string]bool{}
	for _, key := range operator.New[float64]().Keys() {
		known[key[strings.LastIndexByte(key, '.')+1:]] = true
	}
	got := map[string]int{}
	for room := range most {
		dir := filepath.Join("..", room)
		if room == "export" {
			dir = filepath.Join("..", "..", room)
		}
		err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return err
			}
			file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
			if err != nil {
				return err
			}
			ast.Inspect(file, func(x ast.Node) bool {
				for _, e := range compared(x) {
					if l, ok := e.(*ast.BasicLit); ok && l.Kind == token.STRING {
						if name, _ := strconv.Unquote(l.Value); known[name] {
							got[room]++
						}
					}
				}
				return true
			})
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if !maps.Equal(got, most) {
		t.Errorf("operators' names in conditions, cases and lists: %v, want %v; more belong into entries here, fewer into this test", got, most)
	}
}

// compared are the expressions that x compares something with.
func compared(x ast.Node) []ast.Expr {
	switch x := x.(type) {
	case *ast.BinaryExpr:
		return []ast.Expr{x.X, x.Y}
	case *ast.CaseClause:
		return x.List
	case *ast.CompositeLit:
		list := slices.Clone(x.Elts)
		for i, e := range list {
			if pair, ok := e.(*ast.KeyValueExpr); ok {
				list[i] = pair.Key
			}
		}
		return list
	}
	return nil
}
