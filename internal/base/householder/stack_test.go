package householder

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"
)

func TestStackIsTheFactorOfAllRows(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	var w Work
	for _, n := range []int{1, 2, 7, panel, panel + 1, 3*panel + 5} {
		for _, m := range []int{1, 3, 20, 130} {
			r, a := upper(rng, n), random(rng, m, n+2)
			want := grams(r, n, a, m)
			Stack(r, n, a, n+2, m, m, &w)
			compare(t, n, m, r, want)
		}
	}
}

func TestStackOfATriangle(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	var w Work
	for _, n := range []int{1, 5, panel, 4*panel + 3} {
		for head := range 3 {
			r := upper(rng, n)
			a := append(random(rng, head, n+2), make([]float64, n*(n+2))...)
			below := upper(rng, n)
			for i := range n {
				copy(a[(head+i)*(n+2):][:n], below[i*n:(i+1)*n])
			}
			want := grams(r, n, a, head+n)
			Stack(r, n, a, n+2, head+n, head, &w)
			compare(t, n, head+n, r, want)
		}
	}
}

// Columns of any scale keep their own digits.
func TestStackByColumns(t *testing.T) {
	const n, m = 60, 200
	rng := rand.New(rand.NewPCG(5, 6))
	scale := func(j int) float64 { return math.Pow(10, float64(j%7*20-60)) }
	a := random(rng, m, n)
	b := append([]float64(nil), a...)
	for i := range m {
		for j := range n {
			b[i*n+j] *= scale(j)
		}
	}
	r, s := make([]float64, n*n), make([]float64, n*n)
	var w Work
	Stack(r, n, a, n, m, m, &w)
	Stack(s, n, b, n, m, m, &w)
	for i := range n {
		for j := i; j < n; j++ {
			if d := math.Abs(s[i*n+j]/scale(j) - r[i*n+j]); d > 1e-12 {
				t.Fatalf("entry (%d,%d) differs by %g", i, j, d)
			}
		}
	}
}

func TestStackDegenerate(t *testing.T) {
	var w Work
	r := []float64{0, 0, 0, 0}
	Stack(r, 2, []float64{0, 3, 0, 4}, 2, 2, 2, &w)
	if r[0] != 0 || math.Abs(r[3]) != 5 {
		t.Errorf("a zero column: %v", r)
	}
	Stack(r, 2, []float64{math.Inf(1), 1}, 2, 1, 1, &w)
	if !math.IsNaN(r[0]) && !math.IsInf(r[0], 0) {
		t.Errorf("an infinite entry went unseen: %v", r)
	}
	Stack(r, 0, nil, 0, 0, 0, &w)
}

func upper(rng *rand.Rand, n int) []float64 {
	r := make([]float64, n*n)
	for i := range n {
		for j := i; j < n; j++ {
			r[i*n+j] = rng.NormFloat64()
		}
	}
	return r
}

func random(rng *rand.Rand, m, n int) []float64 {
	a := make([]float64, m*n)
	for i := range a {
		a[i] = rng.NormFloat64()
	}
	return a
}

// grams is r'r + a'a; a has two columns beyond n.
func grams(r []float64, n int, a []float64, m int) *mat.Dense {
	var rr, aa mat.Dense
	rd := mat.NewDense(n, n, append([]float64(nil), r...))
	rr.Mul(rd.T(), rd)
	if m > 0 {
		ad := mat.NewDense(m, n+2, append([]float64(nil), a...)).Slice(0, m, 0, n)
		aa.Mul(ad.T(), ad)
		rr.Add(&rr, &aa)
	}
	return &rr
}

func compare(t *testing.T, n, m int, r []float64, want *mat.Dense) {
	t.Helper()
	for i := range n {
		for j := range i {
			if r[i*n+j] != 0 {
				t.Fatalf("n %d, m %d: entry below the diagonal", n, m)
			}
		}
	}
	rd := mat.NewDense(n, n, r)
	var rr mat.Dense
	rr.Mul(rd.T(), rd)
	if !mat.EqualApprox(&rr, want, 1e-12*float64(n+m)) {
		t.Errorf("n %d, m %d: R'R is not the sum of squares", n, m)
	}
}

func BenchmarkStack(b *testing.B) {
	for _, n := range []int{50, 200, 800} {
		b.Run(map[int]string{50: "n=50", 200: "n=200", 800: "n=800"}[n], func(b *testing.B) {
			const m = 256
			rng := rand.New(rand.NewPCG(1, 2))
			rows, a, r := random(rng, m, n), make([]float64, m*n), make([]float64, n*n)
			var w Work
			for b.Loop() {
				copy(a, rows)
				Stack(r, n, a, n, m, m, &w)
			}
			b.ReportMetric(2*float64(m*n*n)*float64(b.N)/b.Elapsed().Seconds()/1e9, "GFLOP/s")
		})
	}
}
