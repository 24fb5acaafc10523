package cubic

import (
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"sort"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/pho-go/pho/basis/internal/knot"
)

// TestPenaltiesMeasureRoughness: the cr penalty is the integral of the squared
// second derivative, found here by Simpson's rule on each interval (exact).
func TestPenaltiesMeasureRoughness(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 1))
	knots := make([]float64, 9)
	for i := range knots {
		knots[i] = r.Float64() * r.Float64()
	}
	slices.Sort(knots)
	c, err := NewNatural(knots)
	if err != nil {
		t.Fatal(err)
	}
	a := mat.NewVecDense(9, nil)
	for i := range 9 {
		a.SetVec(i, r.NormFloat64())
	}
	delta := make([]float64, 9)
	for i, f := range c.f {
		delta[i] = mat.Dot(mat.NewVecDense(9, f), a)
	}
	want := 0.0
	for i, h := range c.knots[1:] {
		mid := (delta[i] + delta[i+1]) / 2
		want += (h - c.knots[i]) / 6 * (delta[i]*delta[i] + 4*mid*mid + delta[i+1]*delta[i+1])
	}
	if got := mat.Inner(a, c.Penalty(), a); math.Abs(got/want-1) > 1e-10 {
		t.Errorf("a'Sa = %v, the integral is %v", got, want)
	}
}

// The interval of a cyclic spline is that of a search, on knots of any distances.
func TestCyclicInterval(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 50 {
		knots := []float64{r.NormFloat64()}
		for range 3 + r.IntN(20) {
			step := r.ExpFloat64() + 0.01
			if r.IntN(4) == 0 {
				step *= 50
			}
			knots = append(knots, knots[len(knots)-1]+step)
		}
		c, err := NewCyclic(knots)
		if err != nil {
			t.Fatal(err)
		}
		n := len(knots) - 1
		for i := range 200 {
			x := knots[0] + r.Float64()*(knots[n]-knots[0])
			if i <= n {
				x = knots[i]
			}
			want := sort.Search(n-1, func(i int) bool { return x < knots[i+1] })
			if got := c.breaks.Interval(x); got != want {
				t.Fatalf("x %v is in interval %d of %v, got %d", x, want, knots, got)
			}
		}
	}
}

// TestShrunkPenalty: the constant costs a hundredth and the line a tenth of the smoothest
// curve, whose cost stays as it was.
func TestShrunkPenalty(t *testing.T) {
	knots := []float64{0, 1, 1.5, 3, 4, 7}
	c, err := NewNatural(knots)
	if err != nil {
		t.Fatal(err)
	}
	s, err := c.ShrunkPenalty()
	if err != nil {
		t.Fatal(err)
	}
	values := func(m *mat.SymDense) []float64 {
		var d mat.EigenSym
		d.Factorize(m, false)
		return d.Values(nil)
	}
	plain, shrunk := values(c.Penalty()), values(s)
	for i, want := range []float64{plain[2] / 100, plain[2] / 10, plain[2], plain[3], plain[4], plain[5]} {
		if math.Abs(shrunk[i]-want) > 1e-12*plain[5] {
			t.Errorf("eigenvalue %d is %v, want %v", i, shrunk[i], want)
		}
	}
}

// TestRowsAreTheFormula: many rows at a time have the values of the formula in the book, one after the other,
// to rounding; x at knots, outside, and in other periods.
func TestRowsAreTheFormula(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 6))
	for _, k := range []int{4, 5, 9, 20, 41} {
		knots := []float64{r.NormFloat64()}
		for len(knots) < k {
			knots = append(knots, knots[len(knots)-1]+0.01+r.ExpFloat64()*r.ExpFloat64())
		}
		natural, err := NewNatural(knots)
		if err != nil {
			t.Fatal(err)
		}
		cyclic, err := NewCyclic(knots)
		if err != nil {
			t.Fatal(err)
		}
		x := slices.Clone(knots)
		for range 150 {
			x = append(x, knots[0]+(1.4*r.Float64()-0.2)*(knots[k-1]-knots[0]))
		}
		for _, n := range []int{1, 31, 32, 33, len(x)} {
			const pad = 3
			for _, c := range []struct {
				basis interface {
					Evaluate(dst []float64, stride int, x []float64)
					Row(out []float64, x float64) int
				}
				width int
				want  func(out []float64, x float64) (rounding float64)
			}{{natural, k, natural.formula}, {cyclic, k - 1, cyclic.formula}} {
				stride := c.width + pad
				got := slices.Repeat([]float64{7}, n*stride)
				c.basis.Evaluate(got[:n*stride-pad], stride, x[len(x)-n:])
				want, alone := make([]float64, c.width), make([]float64, c.width)
				for i, v := range x[len(x)-n:] {
					rounding := c.want(want, v)
					c.basis.Row(alone, v)
					for j, w := range want {
						if g := got[i*stride+j]; math.Abs(g-w) > rounding || g != alone[j] {
							t.Fatalf("k %d, %d rows: value %d at %v is %v, alone %v, want %v", k, n, j, v, g, alone[j], w)
						}
					}
					for j := c.width; j < stride && i*stride+j < len(got); j++ {
						if got[i*stride+j] != 7 {
							t.Fatalf("k %d, %d rows: what is behind row %d was changed", k, n, i)
						}
					}
				}
			}
		}
	}
}

// formula is Row by table 5.1 of the book as it stands there, and what rounding makes of it.
func (c *Natural) formula(out []float64, x float64) (rounding float64) {
	t, last := c.knots, len(c.knots)-1
	if x < t[0] || x > t[last] {
		c.tangent(out, x)
		return 0
	}
	j := sort.Search(last-1, func(i int) bool { return x < t[i+1] })
	return byIntervals(out, x, t, j, j+1, c.f[j], c.f[j+1])
}

// formula is Row as it stands in 5.3.2.
func (c *Cyclic) formula(out []float64, x float64) (rounding float64) {
	t, n := c.knots, len(c.knots)-1
	x = knot.Wrap(x, t[0], t[n])
	j := sort.Search(n-1, func(i int) bool { return x < t[i+1] })
	return byIntervals(out, x, t, j, (j+1)%n, c.f.RawRowView(j), c.f.RawRowView((j+1)%n))
}

// byIntervals may lose four roundings of h in the differences, which F multiplies.
func byIntervals(out []float64, x float64, t []float64, j, next int, f0, f1 []float64) (rounding float64) {
	h, below, above := t[j+1]-t[j], x-t[j], t[j+1]-x
	for l := range out {
		out[l] = above*(above*above/h-h)/6*f0[l] + below*(below*below/h-h)/6*f1[l]
		rounding = max(rounding, 1+h/6*(above*math.Abs(f0[l])+below*math.Abs(f1[l])))
	}
	out[j] += above / h
	out[next] += below / h
	return 4 * 0x1p-53 * rounding
}

// TestRowsOfAWideInterval: next to a knot from which the next one is 1e9 away, the formula as it stands takes the
// difference of numbers of 1e9. The values are those of exact arithmetic with the same F.
func TestRowsOfAWideInterval(t *testing.T) {
	c, err := NewNatural([]float64{0, 0.3, 0.5, 0.9, 1e9})
	if err != nil {
		t.Fatal(err)
	}
	const j = 3
	got, formula, worst, before := make([]float64, 5), make([]float64, 5), 0.0, 0.0
	for i := range 50 {
		x := 0.9 + float64(i)/500
		c.Row(got, x)
		c.formula(formula, x)
		below, above := new(big.Rat).Sub(rat(x), rat(c.knots[j])), new(big.Rat).Sub(rat(c.knots[j+1]), rat(x))
		h := new(big.Rat).Add(below, above)
		weight := func(d *big.Rat) *big.Rat { // d (d^2/h - h) / 6
			v := new(big.Rat).Mul(d, d)
			v.Sub(v.Quo(v, h), h)
			return v.Mul(v, d).Quo(v, rat(6))
		}
		for l := range got {
			v := new(big.Rat).Mul(weight(above), rat(c.f[j][l]))
			v.Add(v, new(big.Rat).Mul(weight(below), rat(c.f[j+1][l])))
			switch l {
			case j:
				v.Add(v, new(big.Rat).Quo(above, h))
			case j + 1:
				v.Add(v, new(big.Rat).Quo(below, h))
			}
			want, _ := v.Float64()
			worst, before = max(worst, math.Abs(got[l]-want)), max(before, math.Abs(formula[l]-want))
		}
	}
	if worst > 1e-15 || before < 1e-9 {
		t.Errorf("errors of %.1e, of the formula as it stands %.1e", worst, before)
	}
}

func rat(x float64) *big.Rat { return new(big.Rat).SetFloat64(x) }

func BenchmarkRows(b *testing.B) {
	r := rand.New(rand.NewPCG(4, 7))
	knots, x := make([]float64, 20), make([]float64, 4096)
	for i := range knots {
		knots[i] = float64(i) + r.Float64()
	}
	for i := range x {
		x[i] = knots[0] + r.Float64()*(knots[19]-knots[0])
	}
	c, err := NewNatural(knots)
	if err != nil {
		b.Fatal(err)
	}
	out := make([]float64, len(x)*20)
	b.Run("one after the other", func(b *testing.B) {
		for b.Loop() {
			for i, v := range x {
				c.formula(out[20*i:][:20], v)
			}
		}
	})
	b.Run("many", func(b *testing.B) {
		for b.Loop() {
			c.Evaluate(out, 20, x)
		}
	})
}
