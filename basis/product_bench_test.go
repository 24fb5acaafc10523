package basis

import (
	"testing"

	"github.com/pho-go/pho/decompose"
)

// BenchmarkTensor evaluates te(x,z) of P-splines, 8 x 8, sparse and dense.
func BenchmarkTensor(b *testing.B) {
	rows := sample(b, 4096, 1)
	spec := Tensor([]Margin{{Columns: []string{"x"}, Basis: PS{K: 8}}, {Columns: []string{"z"}, Basis: PS{K: 8}}}, nil)
	term := mustBuild(b, spec, rows)[0].Term
	b.Run("sparse", func(b *testing.B) {
		for b.Loop() {
			if _, err := term.(decompose.SparseTerm).EvalSparse(rows); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("dense", func(b *testing.B) {
		for b.Loop() {
			evaluate(b, term, rows)
		}
	})
}
