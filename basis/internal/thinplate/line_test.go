package thinplate

import (
	"cmp"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/pho-go/pho/basis/internal/distinct"
	"github.com/pho-go/pho/basis/internal/eigen"
)

// lines has points of one variable, spread in several ways.
func lines(n int) map[string][]float64 {
	out := map[string][]float64{}
	for name, draw := range map[string]func(r *rand.Rand, i int) float64{
		"scattered":     func(r *rand.Rand, _ int) float64 { return 3*r.Float64() - 1 },
		"equally far":   func(_ *rand.Rand, i int) float64 { return float64(i) - float64(n-1)/2 },
		"heavy tails":   func(r *rand.Rand, _ int) float64 { return math.Sinh(3 * r.NormFloat64()) },
		"two clusters":  func(r *rand.Rand, i int) float64 { return float64(i%2) + 1e-6*r.Float64() },
		"far from zero": func(r *rand.Rand, _ int) float64 { return 1e6 + r.Float64() },
	} {
		r, x := rand.New(rand.NewPCG(21, 1)), make([]float64, n)
		for i := range x {
			x[i] = draw(r, i)
		}
		slices.Sort(x)
		out[name] = slices.Compact(x)
	}
	return out
}

func linePlate(t *testing.T, x []float64, m, k int) *Basis {
	t.Helper()
	b := newBasis(Space{1, m, k})
	b.shift, b.points = []float64{0}, x
	return b
}

// exactSemiKernel is the thin plate function of one variable, with 160 bits.
func exactSemiKernel(b *Basis, x, y float64) *big.Float {
	number := func(v float64) *big.Float { return new(big.Float).SetPrec(160).SetFloat64(v) }
	d := number(x)
	d.Sub(d, number(y)).Abs(d)
	out := number(b.constant)
	for range 2*b.m - 1 {
		out.Mul(out, d)
	}
	return out
}

// exactSum is the sum of w_i eta(|x - p_i|), and that of its terms' sizes.
func exactSum(b *Basis, x float64, w func(i int) float64) (sum *big.Float, size float64) {
	sum = new(big.Float).SetPrec(160)
	for i, p := range b.points {
		v := new(big.Float).SetPrec(160).SetFloat64(w(i))
		v.Mul(v, exactSemiKernel(b, x, p))
		sum.Add(sum, v)
		f, _ := v.Float64()
		size += math.Abs(f)
	}
	return sum, size
}

func off(got float64, want *big.Float) float64 {
	d := new(big.Float).SetPrec(160).SetFloat64(got)
	f, _ := d.Sub(d, want).Float64()
	return math.Abs(f)
}

// TestSweepRoundsLikeTheProduct: against exact sums, sweeping makes no larger
// errors, relative to the sum of the terms' sizes, than multiplying by the matrix.
func TestSweepRoundsLikeTheProduct(t *testing.T) {
	const width = 2
	for name, x := range lines(90) {
		r := rand.New(rand.NewPCG(22, 1))
		for m := 1; m <= 4; m++ {
			b := linePlate(t, x, m, 12)
			n := len(x)
			v, swept, multiplied := make([]float64, n*width), make([]float64, n*width), make([]float64, n*width)
			for i := range v {
				v[i] = r.NormFloat64()
			}
			b.sweep(swept, v, width)
			eigen.Product(b.allDistances()).Times(multiplied, v, width)
			worst, before := 0.0, 0.0
			for i := range n {
				for j := range width {
					want, size := exactSum(b, x[i], func(l int) float64 { return v[l*width+j] })
					worst = max(worst, off(swept[i*width+j], want)/size)
					before = max(before, off(multiplied[i*width+j], want)/size)
				}
			}
			if eps := 0x1p-53; !(worst < 4*before+4*eps) {
				t.Errorf("%s, m = %d: errors of %.1f eps, of the product %.1f eps", name, m, worst/eps, before/eps)
			}
		}
	}
}

// TestLeadingEigenpairsOfALine: the pairs found by sweeps are those of the matrix.
func TestLeadingEigenpairsOfALine(t *testing.T) {
	for name, x := range lines(420) {
		b := linePlate(t, x, 2, 10)
		e := b.radial()
		var d mat.EigenSym
		d.Factorize(e.Whole(), false)
		all := d.Values(nil)
		const k = 12
		diagonal, u, err := eigen.Leading(e, k)
		must(t, err)
		values := make([]float64, k)
		for j := range values {
			values[j] = diagonal.At(j, j)
		}
		slices.SortFunc(all, func(a, b float64) int { return cmp.Compare(math.Abs(b), math.Abs(a)) })
		slices.SortFunc(all[:k], func(a, b float64) int { return cmp.Compare(b, a) })
		size := math.Abs(values[0])
		for j, v := range values {
			if !(math.Abs(v-all[j]) < 1e-13*size) {
				t.Errorf("%s: eigenvalue %d is %v, want %v", name, j, v, all[j])
			}
		}
		var eu mat.Dense
		eu.Mul(e.Whole(), u)
		for j := range k {
			for i := range e.N {
				if r := eu.At(i, j) - values[j]*u.At(i, j); !(math.Abs(r) < 1e-13*size) {
					t.Fatalf("%s: pair %d has residual %g of %g (%g)", name, j, r, size, values[j])
				}
			}
		}
	}
}

// TestLeadingEigenpairsNextToAnOutlier are found from few vectors: the rounding of the
// products with the far point must not keep the others' pairs from being good enough.
func TestLeadingEigenpairsNextToAnOutlier(t *testing.T) {
	const n, k = 2000, 11
	x := make([]float64, n)
	for i := range x {
		x[i] = math.Sqrt(float64(i) / n)
	}
	x[n-1] = 1e4
	e := linePlate(t, x, 2, 10).radial()
	vectors, times := 0, e.Times
	e.Times = func(dst, v []float64, width int) {
		vectors += width
		times(dst, v, width)
	}
	_, _, err := eigen.Leading(e, k)
	must(t, err)
	if vectors > 3*n/4 { // in all calls for more pairs
		t.Errorf("%d vectors of %d were needed", vectors, n)
	}
}

// TestTableIsTheSum of 2000 weighted thin plate functions, as exactly as if they
// were added up, inside, at the points and outside.
func TestTableIsTheSum(t *testing.T) {
	for name, x := range lines(2000) {
		r := rand.New(rand.NewPCG(23, 1))
		data := distinct.NewPoints(1, 2000)
		for _, v := range x {
			data.Add(v)
		}
		data.Sort()
		b, _, err := construct(Space{1, 2, 11}, data, nil)
		must(t, err)
		radial := b.line.width
		row := make([]float64, b.k)
		worst, before := 0.0, 0.0
		lo, hi := x[0], x[len(x)-1]
		at := []float64{lo, hi, x[len(x)/2], lo - (hi - lo), hi + 10*(hi-lo)}
		for range 3 {
			at = append(at, lo+(hi-lo)*(1.2*r.Float64()-0.1), x[r.IntN(len(x))])
		}
		for _, v := range at {
			b.Row(row, v)
			v -= b.shift[0]
			for _, j := range []int{0, radial - 1} {
				weight := func(i int) float64 { return b.weights[i*radial+j] }
				want, size := exactSum(b, v, weight)
				sum := 0.0
				for i, p := range b.points {
					sum += weight(i) * b.semiKernel((v-p)*(v-p))
				}
				worst, before = max(worst, off(row[j], want)/size), max(before, off(sum, want)/size)
			}
		}
		if eps := 0x1p-53; !(worst < 1e-12) || !(worst < 4*before+8*eps) {
			t.Errorf("%s: errors of %.1f eps, of the sum %.1f eps", name, worst/eps, before/eps)
		}
	}
}
