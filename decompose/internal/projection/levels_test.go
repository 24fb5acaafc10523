package projection

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/pho-go/pho/internal/base/linalg"
)

// TestTakenByLevels compares with the inverse of the levels' correlations, with all levels, which
// make the constant (so that the inverse has few digits), and without the first; columns of which a
// row has two are not taken for levels.
func TestTakenByLevels(t *testing.T) {
	const n, levels, others = 900, 12, 3
	r := rand.New(rand.NewPCG(4, 4))
	for _, first := range []int{0, 1} {
		columns := levels - first
		x := mat.NewDense(n, columns+others, nil)
		for i := range n {
			level := int(float64(levels) * math.Pow(r.Float64(), 2))
			if level >= first {
				x.Set(i, level-first, 1)
			}
			for j := range others {
				x.Set(i, columns+j, r.NormFloat64()+0.1*float64(j*level))
			}
		}
		s := spansOf(x, []int{0, columns, columns + others})
		cross := mat.DenseCopyOf(s.between(0, 1))
		got := s.takenByLevels(0, cross)
		if got == nil {
			t.Fatalf("from level %d: not taken for levels", first)
		}
		inverse, err := ridgeInverse(s.terms[0].corr.(*mat.SymDense), ridge(s.tolerance))
		if err != nil {
			t.Fatal(err)
		}
		want := times(cross.T(), linalg.Product(linalg.Mirror(inverse), cross))
		var apart mat.Dense
		apart.Sub(got, want)
		if far := mat.Norm(&apart, 2); !(far < 1e-6) {
			t.Errorf("from level %d: differs by %g", first, far)
		}
		x.Set(0, 0, 1)
		x.Set(0, 1, 1)
		if s := spansOf(x, []int{0, columns, columns + others}); s.takenByLevels(0, cross) != nil {
			t.Errorf("from level %d: columns that meet in a row are taken for levels", first)
		}
	}
}

// spansOf are the columns of x.
func spansOf(x *mat.Dense, start []int) *spans {
	n, p := x.Dims()
	s := &spans{start: start, tolerance: 1e-6, corr: mat.NewSymDense(p, nil), mean: make([]float64, p)}
	standard := mat.NewDense(n, p, nil)
	for j := range p {
		mean, squares := mat.Sum(x.ColView(j))/float64(n), 0.0
		for i := range n {
			squares += (x.At(i, j) - mean) * (x.At(i, j) - mean)
		}
		sd := math.Sqrt(squares / float64(n))
		for i := range n {
			standard.Set(i, j, (x.At(i, j)-mean)/sd)
		}
		s.mean[j] = mean / sd
	}
	s.corr.(*mat.SymDense).SymOuterK(1/float64(n), standard.T())
	for j := range len(start) - 1 {
		lo, hi := start[j], start[j+1]
		s.terms = append(s.terms, spannable{corr: s.corr.(*mat.SymDense).SliceSym(lo, hi).(*mat.SymDense)})
	}
	return s
}
