package projection

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// TestLargest compares with all eigenvalues, for matrices A that are regular and
// such that make directions zero.
func TestLargest(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	for _, n := range []int{1, 2, 7, 60} {
		for _, rank := range []int{n, (n + 1) / 2, 1} {
			a, b := crossProduct(random, n, rank), crossProduct(random, n, n+3)
			white := whiten(a).above(ownTolerance)
			inverse := mat.NewDense(n, n, nil) // A^+
			inverse.Mul(white, white.T())
			// The eigenvalues of B A are those of A^1/2 B A^1/2.
			var root, x, y mat.Dense
			root.Mul(a, white)
			x.Mul(b, &root)
			y.Mul(root.T(), &x)
			var e mat.EigenSym
			if !e.Factorize(symmetrised(&y), false) {
				t.Fatal("no eigenvalues")
			}
			_, k := white.Dims()
			want := e.Values(nil)[k-1]
			if got := largest(b, a); math.Abs(got-want) > 1e-9*want {
				t.Errorf("n %d, rank %d: %v, want %v", n, rank, got, want)
			}
		}
	}
	if got := largest(crossProduct(random, 3, 3), mat.NewSymDense(3, nil)); got != 0 {
		t.Error(got)
	}
}

// crossProduct is X'X of a random X with rank rows.
func crossProduct(random *rand.Rand, n, rank int) *mat.SymDense {
	x := mat.NewDense(rank, n, nil)
	for i := range rank {
		for j := range n {
			x.Set(i, j, random.NormFloat64()*math.Exp(float64(j%5)))
		}
	}
	s := mat.NewSymDense(n, nil)
	s.SymOuterK(1, x.T())
	return s
}

// TestConcurvityOfManyColumns takes a factor of more levels than are treated
// densely, nested in a coarser one and next to a smooth column, and compares the
// shortcuts with the definition.
func TestConcurvityOfManyColumns(t *testing.T) {
	const levels, coarse, rows = manyColumns + 20, 15, 6000
	random := rand.New(rand.NewPCG(5, 6))
	starts := []int{0, 2, 2 + coarse, 2 + coarse + levels}
	x := mat.NewDense(rows, starts[3], nil)
	for i := range rows {
		l := random.IntN(levels)
		x.Set(i, 0, random.NormFloat64()+float64(l%7))
		x.Set(i, 1, random.NormFloat64())
		x.Set(i, 2+(l+random.IntN(2))%coarse, 1)
		x.Set(i, 2+coarse+l, 1)
	}
	corr, sd, theta := mat.NewSymDense(starts[3], nil), make([]float64, starts[3]), make([]float64, starts[3])
	for j := range starts[3] {
		col := x.ColView(j).(*mat.VecDense)
		mean := mat.Sum(col) / rows
		for i := range rows {
			col.SetVec(i, col.AtVec(i)-mean)
		}
		sd[j], theta[j] = mat.Norm(col, 2)/math.Sqrt(rows), random.NormFloat64()
		col.ScaleVec(1/mat.Norm(col, 2), col)
	}
	corr.SymOuterK(1, x.T())
	s, err := newSpans(t.Context(), corr, sd, theta, starts, 1e-6)
	if err != nil {
		t.Fatal(err)
	}
	full, pairs, err := s.measure(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if large, err := s.dominant(); err != nil || large == nil {
		t.Fatalf("no term has most columns: %v", err)
	}
	asOthers(t, s, full, pairs)
	dense := mat.DenseCopyOf(corr)
	without := func(lo, hi int) ([]int, *mat.SymDense) { // the other columns
		var keep []int
		for i := range starts[3] {
			if i < lo || i >= hi {
				keep = append(keep, i)
			}
		}
		s := mat.NewSymDense(len(keep), nil)
		for a, i := range keep {
			for b, j := range keep[a:] {
				s.SetSym(a, a+b, corr.At(i, j))
			}
		}
		return keep, s
	}
	for j := range full {
		lo, hi := starts[j], starts[j+1]
		own := spannable{corr: corr.SliceSym(lo, hi).(*mat.SymDense), sd: sd[lo:hi]}
		own.whitening = whiten(own.corr.(*mat.SymDense))
		for i := lo; i < hi; i++ {
			own.theta = append(own.theta, theta[i]*sd[i])
		}
		keep, others := without(lo, hi)
		between := mat.NewDense(len(keep), hi-lo, nil)
		for a, i := range keep {
			between.SetRow(a, mat.Row(nil, i, dense)[lo:hi])
		}
		var p mat.Dense
		p.Mul(whiten(others).above(1e-6).T(), between)
		left := mat.NewSymDense(hi-lo, nil)
		left.SymOuterK(-1, p.T())
		left.AddSym(left, own.corr)
		want := own.average(left)
		want.Worst = own.worst(left)
		for name, v := range map[string][2]float64{"worst": {full[j].Worst, want.Worst}, "observed": {full[j].Observed, want.Observed}, "estimate": {full[j].Estimate, want.Estimate}} {
			if math.Abs(v[0]-v[1]) > 1e-6 {
				t.Errorf("%s of term %d: %v, want %v", name, j, v[0], v[1])
			}
		}
	}
	const coarseTerm, fineTerm = 1, 2
	worst := map[[2]int]float64{}
	for _, p := range pairs {
		worst[[2]int{p.Block, p.With}] = p.Worst
	}
	if a, b := worst[[2]int{fineTerm, coarseTerm}], worst[[2]int{coarseTerm, fineTerm}]; a < 0.3 || math.Abs(a-b) > 1e-6 {
		t.Errorf("the worst case of a pair is that of both: %v and %v", a, b)
	}
}

// asOthers compares with what is done where no term has most columns. The levels' columns
// depend on each other, so that both are as good as the ridge in their inverses allows.
func asOthers(t *testing.T, s *spans, full []Concurvity, pairs []Pair) {
	t.Helper()
	const tolerance = 1e-6
	want, err := s.againstAll(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	wantPairs, err := s.pairs(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	apart := func(a, b Concurvity) float64 {
		return max(math.Abs(a.Worst-b.Worst), math.Abs(a.Observed-b.Observed), math.Abs(a.Estimate-b.Estimate))
	}
	for j, c := range full {
		if d := apart(c, want[j]); d > tolerance {
			t.Errorf("term %d: %v, want %v", j, c, want[j])
		}
	}
	if len(pairs) != len(wantPairs) {
		t.Fatalf("%d pairs, want %d", len(pairs), len(wantPairs))
	}
	for i, p := range pairs {
		if q := wantPairs[i]; p.Block != q.Block || p.With != q.With || apart(p.Concurvity, q.Concurvity) > tolerance {
			t.Errorf("pair %d: %v, want %v", i, p, q)
		}
	}
}

// TestConcurvityBesideAliased: how much others take of many levels does not depend on whether the others are combinations of each other.
func TestConcurvityBesideAliased(t *testing.T) {
	const levels, rows, smooth = manyColumns + 20, 3000, 20
	random := rand.New(rand.NewPCG(3, 4))
	x := mat.NewDense(rows, levels+2*smooth, nil) // levels, smooth columns, and combinations of these
	for i := range rows {
		x.Set(i, random.IntN(levels), 1)
		at := smooth * random.Float64()
		for j := range smooth {
			x.Set(i, levels+j, math.Max(0, 1-math.Abs(at-float64(j)))) // sum to 1 but for the end
		}
	}
	for i := range rows {
		for j := range smooth {
			x.Set(i, levels+smooth+j, x.At(i, levels+j)-x.At(i, levels+(j+1)%smooth)/3)
		}
	}
	worst := func(columns int) float64 {
		starts := []int{0, levels, levels + smooth, levels + 2*smooth}
		for starts[len(starts)-1] > columns {
			starts = starts[:len(starts)-1]
		}
		own := mat.DenseCopyOf(x.Slice(0, rows, 0, columns))
		sd := make([]float64, columns)
		for j := range columns {
			column := own.ColView(j).(*mat.VecDense)
			mean := mat.Sum(column) / rows
			for i := range rows {
				column.SetVec(i, column.AtVec(i)-mean)
			}
			sd[j] = mat.Norm(column, 2) / math.Sqrt(rows)
			column.ScaleVec(1/mat.Norm(column, 2), column)
		}
		corr := mat.NewSymDense(columns, nil)
		corr.SymOuterK(1, own.T())
		s, err := newSpans(t.Context(), corr, sd, make([]float64, columns), starts, 1e-6)
		if err != nil {
			t.Fatal(err)
		}
		full, _, err := s.measure(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return full[0].Worst
	}
	if got, want := worst(levels+2*smooth), worst(levels+smooth); math.Abs(got-want) > 1e-6 {
		t.Errorf("the worst case is %v beside aliased columns, %v without", got, want)
	}
}
