package basis

import (
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/decompose"
)

func benchmarkTerm(b *testing.B, u Univariate, n int) (decompose.Term, *data.Batch) {
	r := rand.New(rand.NewPCG(1, 2))
	x := make([]float64, n)
	for i := range x {
		x[i] = r.Float64()
	}
	rows := numbers(b, "x", x)
	return mustBuild(b, Smooth("x", u, nil), rows)[0].Term, rows
}

func BenchmarkEvalSparsePS20(b *testing.B) {
	term, rows := benchmarkTerm(b, PS{K: 20}, 4096)
	for b.Loop() {
		if _, err := term.(decompose.SparseTerm).EvalSparse(rows); err != nil {
			b.Fatal(err)
		}
	}
	rowsPerSecond(b, rows)
}

func benchmarkEval(b *testing.B, u Univariate) {
	term, rows := benchmarkTerm(b, u, 4096)
	dst := mat.NewDense(rows.Rows(), term.Dim(), nil)
	for b.Loop() {
		if err := term.Eval(dst, rows); err != nil {
			b.Fatal(err)
		}
	}
	rowsPerSecond(b, rows)
}

func BenchmarkEvalPS20(b *testing.B) { benchmarkEval(b, PS{K: 20}) }
func BenchmarkEvalCC20(b *testing.B) { benchmarkEval(b, CC{K: 20}) }
func BenchmarkEvalCR10(b *testing.B) { benchmarkEval(b, CR{K: 10}) }

func benchmarkScan(b *testing.B, u Univariate) {
	_, rows := benchmarkTerm(b, PS{}, 4096)
	spec := Smooth("x", u, nil).Scanner()
	for b.Loop() {
		if err := spec.Scan(rows); err != nil {
			b.Fatal(err)
		}
	}
	rowsPerSecond(b, rows)
}

// BenchmarkScanCRDistinct is the dear case: a million values, no two alike.
func BenchmarkScanCRDistinct(b *testing.B) {
	_, rows := benchmarkTerm(b, PS{}, 1_000_000)
	b.ReportAllocs()
	for b.Loop() {
		if err := Smooth("x", CR{}, nil).Scanner().Scan(rows); err != nil {
			b.Fatal(err)
		}
	}
	rowsPerSecond(b, rows)
}

func BenchmarkScanPS20(b *testing.B) { benchmarkScan(b, PS{K: 20}) }
func BenchmarkScanCR10(b *testing.B) { benchmarkScan(b, CR{}) }

func rowsPerSecond(b *testing.B, rows *data.Batch) {
	b.ReportMetric(float64(b.N)*float64(rows.Rows())/b.Elapsed().Seconds(), "rows/s")
}
