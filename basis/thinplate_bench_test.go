package basis

import (
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/decompose"
)

func plateRows(b *testing.B, n int) *data.Batch {
	r := rand.New(rand.NewPCG(1, 2))
	out := data.NewBatch(n, 0)
	for _, name := range []string{"x", "z", "w"} {
		x := make([]float64, n)
		for i := range x {
			x[i] = r.Float64()
		}
		must(b, out.SetNumeric(name, x))
	}
	return out
}

func benchmarkPlate(b *testing.B, spec decompose.Spec) {
	term := mustBuild(b, spec, plateRows(b, 10_000))[0].Term
	rows := plateRows(b, 1024)
	dst := mat.NewDense(rows.Rows(), term.Dim(), nil)
	for b.Loop() {
		must(b, term.Eval(dst, rows))
	}
	rowsPerSecond(b, rows)
}

// Ten smooths in turn on 256 rows, as decompose evaluates them: their tables do
// not fit into the second cache together.
func BenchmarkEvalTenTP1(b *testing.B) {
	r := rand.New(rand.NewPCG(3, 4))
	rows := data.NewBatch(20_000, 0)
	var terms []decompose.Term
	for j := range 10 {
		x := make([]float64, rows.Rows())
		for i := range x {
			x[i] = r.NormFloat64()
		}
		name := string(rune('a' + j))
		must(b, rows.SetNumeric(name, x))
		terms = append(terms, mustBuild(b, Smooth(name, TP{K: 9}, nil), rows)[0].Term)
	}
	dst := mat.NewDense(256, 9, nil)
	for b.Loop() {
		for i := 0; i+256 <= rows.Rows(); i += 256 {
			some := rows.Slice(i, i+256)
			for _, term := range terms {
				must(b, term.Eval(dst, some))
			}
		}
	}
	rowsPerSecond(b, rows)
}

// All have 2000 knots.
func BenchmarkEvalTP1(b *testing.B) { benchmarkPlate(b, Smooth("x", TP{}, nil)) }
func BenchmarkEvalTP2(b *testing.B) { benchmarkPlate(b, Surface([]string{"x", "z"}, TP{}, nil)) }
func BenchmarkEvalTP3(b *testing.B) {
	benchmarkPlate(b, Surface([]string{"x", "z", "w"}, TP{K: 50}, nil))
}
func BenchmarkEvalRBF(b *testing.B) { benchmarkPlate(b, Surface([]string{"x", "z"}, RBF{}, nil)) }

func BenchmarkScanTP2Million(b *testing.B) {
	rows := plateRows(b, 1_000_000)
	for b.Loop() {
		must(b, Surface([]string{"x", "z"}, TP{}, nil).Scanner().Scan(rows))
	}
	rowsPerSecond(b, rows)
}

func BenchmarkBuildTP2(b *testing.B) {
	rows := plateRows(b, 10_000)
	for b.Loop() {
		mustBuild(b, Surface([]string{"x", "z"}, TP{}, nil), rows)
	}
}

func BenchmarkBuildTP3(b *testing.B) {
	rows := plateRows(b, 10_000)
	for b.Loop() {
		mustBuild(b, Surface([]string{"x", "z", "w"}, TP{}, nil), rows)
	}
}

func BenchmarkBuildTP1(b *testing.B) {
	rows := plateRows(b, 10_000)
	for b.Loop() {
		mustBuild(b, Smooth("x", TP{}, nil), rows)
	}
}
