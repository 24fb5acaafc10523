package moments_test

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"

	"github.com/pho-go/pho/decompose/internal/moments"
	"github.com/pho-go/pho/design"
)

// products are the moments that m's factor stands for.
func products(m *moments.Moments) *moments.Moments {
	l := m.Layout
	l.Factor = false
	out := moments.New(l)
	out.Rows, out.Positive, out.SumW, out.SumLogW = m.Rows, m.Positive, m.SumW, m.SumLogW
	copy(out.Sum, m.Sum)
	copy(out.MaxRowNorm, m.MaxRowNorm)
	copy(out.Mean, m.Mean)
	copy(out.MeanR, m.MeanR)
	var place []int // of each column in R; -1: not there
	next := 0
	for a, b := range l.Bases {
		used := false
		for _, bases := range l.Predictors {
			for _, k := range bases {
				used = used || k == a
			}
		}
		for range b.Dim {
			place = append(place, -1)
			if used {
				place[len(place)-1] = next
				next++
			}
		}
	}
	var c mat.Dense
	if n, _ := m.R.Dims(); n > 0 {
		c.Mul(m.R.T(), m.R)
	}
	meet := met(l)
	for i, a := range place {
		for j, b := range place {
			if a >= 0 && b >= 0 && j >= i && meet(i, j) {
				out.XX.SetSym(i, j, c.At(a, b))
			}
		}
		for k := range m.MeanR {
			if a >= 0 {
				out.XR.Set(i, k, c.At(a, next+k))
			}
		}
	}
	for k := range m.MeanR {
		for l := range m.MeanR {
			out.RR.SetSym(k, l, c.At(next+k, next+l))
		}
	}
	return out
}

func TestFactorAgainstExact(t *testing.T) {
	for _, weighted := range []bool{false, true} {
		s := awkward(700, weighted, 3)
		s.layout.Factor = true
		mean, c, w := s.direct(t)
		whole := s.moments(t, 0, 700, 700)
		against(t, products(whole), mean, c, w, 1e-14)
		merged := s.moments(t, 0, 13, 5)
		for _, cut := range [][2]int{{13, 14}, {14, 300}, {300, 700}} {
			if err := merged.Merge(s.moments(t, cut[0], cut[1], 64)); err != nil {
				t.Fatal(err)
			}
		}
		against(t, products(merged), mean, c, w, 1e-14)
		if got := whole.Mean[2]; got != 42.1 {
			t.Errorf("a constant column has mean %.17g, want exactly 42.1", got)
		}
		if got := products(merged).XX.At(2, 2); got != 0 {
			t.Errorf("a constant column has variance %g, want exactly 0", got)
		}
		if whole.XX.SymmetricDim() != 0 {
			t.Error("products next to a factor")
		}
	}
}

// A column of standard deviation 1 and one that differs from it by 1e-8: the
// factor knows the difference to eight digits, products not at all.
func TestFactorKeepsWhatSquaresLose(t *testing.T) {
	const n, angle = 3000, 1e-8
	rng := rand.New(rand.NewPCG(1, 2))
	x := mat.NewDense(n, 2, nil)
	s := rowset{r: mat.NewDense(n, 1, nil), x: []design.Columns{design.Dense{Dense: x}},
		layout: moments.Layout{Bases: []moments.Basis{{Name: "x", Dim: 2}}, Predictors: [][]int{{0}}, Responses: 1, Factor: true}}
	var u, v, uu, uv, vv float64
	for i := range n {
		a := rng.NormFloat64()
		b := a + angle*rng.NormFloat64()
		x.SetRow(i, []float64{a, b})
		s.r.Set(i, 0, rng.NormFloat64())
		d := b - a // exact
		u, v, uu, uv, vv = u+a, v+d, uu+a*a, uv+a*d, vv+d*d
	}
	uu, uv, vv = uu-u*u/n, uv-u*v/n, vv-v*v/n
	want := math.Sqrt(vv - uv*uv/uu)
	total := moments.NewSum(s.layout, 0)
	for i := 0; i < n; i += 500 {
		if err := total.Append(s.moments(t, i, i+500, 100)); err != nil {
			t.Fatal(err)
		}
	}
	r := total.Total().Predictor(0).R
	if got := math.Abs(r.At(1, 1)); math.Abs(got-want) > 1e-6*want {
		t.Errorf("the part of the second column beside the first is %g, want %g", got, want)
	}
	s.layout.Factor = false
	m := s.moments(t, 0, n, n)
	got := math.Sqrt(math.Abs(m.XX.At(1, 1) - m.XX.At(0, 1)*m.XX.At(0, 1)/m.XX.At(0, 0)))
	if math.Abs(got-want) < 0.01*want {
		t.Errorf("the check is not hard enough: products give %g, want %g", got, want)
	}
}

func TestFactorBatchSizeChangesNothing(t *testing.T) {
	s := awkward(900, true, 5)
	s.layout.Factor = true
	want := marshal(t, s.moments(t, 0, 900, 900))
	b := moments.NewChunk(s.layout)
	for _, batch := range []int{1, 7, 255, 256, 257, 600} {
		s.add(t, b, 500, 900, 100) // an earlier use
		b.Reset()
		s.add(t, b, 0, 900, batch)
		if got := marshal(t, b.Moments()); !bytes.Equal(got, want) {
			t.Errorf("batches of %d rows give other bytes", batch)
		}
		b.Reset()
	}
}

func TestFactorShards(t *testing.T) {
	s := awkward(61*23+7, true, 21)
	s.layout.Factor = true
	leaves := s.leaves(t, 23)
	n := len(leaves)
	one := sum(t, s.layout, leaves, 0, n)
	want, wantTotal := marshal(t, one), marshal(t, one.Total())
	for cut := range n + 1 {
		left, right := sum(t, s.layout, leaves, 0, cut), sum(t, s.layout, leaves, cut, n)
		stored := new(moments.Sum)
		if err := stored.UnmarshalBinary(marshal(t, right)); err != nil {
			t.Fatal(err)
		}
		if err := left.Merge(stored); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(marshal(t, left), want) || !bytes.Equal(marshal(t, left.Total()), wantTotal) {
			t.Errorf("cut at chunk %d: other bytes", cut)
		}
	}
	var back moments.Moments
	if err := back.UnmarshalBinary(wantTotal); err != nil || !bytes.Equal(marshal(t, &back), wantTotal) {
		t.Error("round trip", err)
	}
	whole := s.moments(t, 0, s.rows(), 100)
	if d := difference(products(one.Total()), products(whole)); d > 1e-12 {
		t.Errorf("total and one pass differ by %.1e", d)
	}
	plain := s
	plain.layout.Factor = false
	if err := moments.NewSum(s.layout, 0).Append(plain.moments(t, 0, 10, 10)); err == nil {
		t.Error("products were added to factors")
	}
	if d := difference(plain.moments(t, 0, s.rows(), 100), products(whole)); d > 1e-12 {
		t.Errorf("factor and products differ by %.1e", d)
	}
}

// A view of any predictor is the factor of its own columns.
func TestFactorOfPredictors(t *testing.T) {
	s := awkward(400, true, 2)
	gram := s.moments(t, 0, 400, 400)
	s.layout.Factor = true
	m := s.moments(t, 0, 400, 400)
	for k := range s.layout.Predictors {
		v, want := m.Predictor(k), gram.Predictor(k)
		q := len(v.Mean)
		for i := range q {
			scale := math.Sqrt(want.XX.At(i, i)) + 1e-9
			for j := i; j < q; j++ {
				if d := math.Abs(v.XX.At(i, j) - want.XX.At(i, j)); d > 1e-12*scale*(math.Sqrt(want.XX.At(j, j))+1e-9) {
					t.Errorf("predictor %d, product (%d,%d) off by %g", k, i, j, d)
				}
			}
			if d := math.Abs(v.XR[i] - want.XR[i]); d > 1e-12*scale*math.Sqrt(want.RR) {
				t.Errorf("predictor %d, column %d with the response: off by %g", k, i, d)
			}
		}
		if math.Abs(v.RR-want.RR) > 1e-12*want.RR {
			t.Errorf("predictor %d: response %g, want %g", k, v.RR, want.RR)
		}
		raw, xr, rr := want.Raw()
		var got mat.Dense
		r := v.RawFactor()
		got.Mul(r.T(), r)
		for i := range q + 1 {
			for j := i; j <= q; j++ {
				w := rr
				switch {
				case j < q:
					w = raw.At(i, j)
				case i < q:
					w = xr[i]
				}
				if d := math.Abs(got.At(i, j) - w); d > 1e-12*math.Sqrt(got.At(i, i)*got.At(j, j)) {
					t.Errorf("predictor %d, raw product (%d,%d) off by %g", k, i, j, d)
				}
			}
		}
	}
	if gram.Predictor(0).RawFactor() != nil {
		t.Error("a factor without factors")
	}
}

func TestFactorDegenerate(t *testing.T) {
	s := awkward(300, true, 9)
	s.layout.Factor = true
	m := s.moments(t, 0, 300, 300)
	none := s
	none.w = make([]float64, 300)
	zero := none.moments(t, 0, 300, 100)
	if zero.SumW != 0 || zero.Rows != 300 || zero.Sum[1] == 0 || zero.Mean[1] != 0 || zero.R.At(0, 0) != 0 {
		t.Error("moments of weightless rows")
	}
	for _, pair := range [][2]*moments.Moments{{zero.Clone(), m}, {m.Clone(), zero}, {moments.New(s.layout), m}} {
		if err := pair[0].Merge(pair[1]); err != nil {
			t.Fatal(err)
		}
		if !mat.Equal(pair[0].R, m.R) || pair[0].Mean[0] != m.Mean[0] {
			t.Error("a side without weight changes the other")
		}
	}
	year := s.x[0].(design.Dense).Dense
	for i := range 300 {
		if s.w[i] > 0 {
			year.Set(i, 1, math.Copysign(1e200, float64(i%2)-0.5))
		}
	}
	over := s.moments(t, 0, 300, 300)
	if err := over.Check(); err == nil || err.Error() != `moments: basis "year": the squares of column 1 overflow; rescale it` {
		t.Errorf("overflow: %v", err)
	}
	for _, l := range []moments.Layout{{Factor: true}, {Bases: []moments.Basis{{Name: "x", Dim: 1}}, Factor: true}} {
		b := moments.NewChunk(l)
		x := make([]design.Columns, len(l.Bases))
		for i := range x {
			x[i] = design.Dense{Dense: mat.NewDense(2, 1, []float64{1, 2})}
		}
		if err := b.Add(x, []float64{1, 3}, nil); err != nil {
			t.Fatal(err)
		}
		m := b.Moments()
		if err := m.Merge(m.Clone()); err != nil || m.Rows != 4 || m.SumW != 8 {
			t.Error("rows without predictors", err)
		}
		marshal(t, m)
	}
}

func TestFactorOfAnyLayout(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		n := rapid.IntRange(1, 60).Draw(rt, "rows")
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(rt, "seed"), 1))
		s := rowset{layout: moments.Layout{Responses: 2, Factor: true}, r: mat.NewDense(n, 2, nil)}
		for i := range n {
			s.r.SetRow(i, []float64{rng.NormFloat64(), 1e4 + rng.NormFloat64()})
			s.w = append(s.w, float64(rng.IntN(3)))
		}
		s.w[0] = 1
		all := []int{}
		for a := range rapid.IntRange(1, 5).Draw(rt, "bases") {
			d := rapid.IntRange(1, 12).Draw(rt, "dim")
			s.layout.Bases = append(s.layout.Bases, moments.Basis{Name: fmt.Sprint("b", a), Dim: d})
			m := mat.NewDense(n, d, nil)
			for i := range n {
				for j := range d {
					m.Set(i, j, 1e5+rng.NormFloat64())
				}
			}
			s.x = append(s.x, design.Dense{Dense: m})
			all = append(all, a)
		}
		// All bases somewhere, so that all means are known.
		s.layout.Predictors = [][]int{all, {rng.IntN(len(all))}}
		mean, c, w := s.direct(rt)
		cut := rapid.IntRange(0, n).Draw(rt, "cut")
		m := s.moments(rt, 0, cut, 7)
		if err := m.Merge(s.moments(rt, cut, n, 5)); err != nil {
			rt.Fatal(err)
		}
		against(rt, products(m), mean, c, w, 1e-13)
	})
}

func TestFactorAddAllocatesNothing(t *testing.T) {
	s := awkward(1024, true, 4)
	s.layout.Factor = true
	b := moments.NewChunk(s.layout)
	s.add(t, b, 0, 1024, 1024)
	if n := testing.AllocsPerRun(10, func() {
		b.Reset()
		if err := b.Add(s.x, s.w, s.r); err != nil {
			t.Fatal(err)
		}
	}); n != 0 {
		t.Errorf("Add allocates %v times", n)
	}
}
