package moments_test

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"

	"github.com/pho-go/pho/decompose/internal/moments"
	"github.com/pho-go/pho/design"
)

type rowset struct {
	layout moments.Layout
	x      []design.Columns
	w      []float64
	r      *mat.Dense
}

func (s rowset) rows() int { n, _ := s.r.Dims(); return n }

func (s rowset) slice(i, j int) (x []design.Columns, w []float64, r *mat.Dense) {
	for _, c := range s.x {
		switch c := c.(type) {
		case design.Dense:
			_, d := c.Dims()
			x = append(x, design.Dense{Dense: c.Slice(i, j, 0, d).(*mat.Dense)})
		case *design.Sparse:
			x = append(x, &design.Sparse{D: c.D, K: c.K, Index: c.Index[i*c.K : j*c.K], Value: c.Value[i*c.K : j*c.K]})
		case *design.Banded:
			x = append(x, rowsOf(c, i, j))
		case *design.Product:
			x = append(x, &design.Product{A: rowsOf(c.A, i, j), B: rowsOf(c.B, i, j)})
		case *design.Codes:
			k := &design.Codes{D: c.D, Code: c.Code[i:j]}
			if c.Value != nil {
				k.Value = c.Value[i:j]
			}
			x = append(x, k)
		}
	}
	if s.w != nil {
		w = s.w[i:j]
	}
	_, k := s.r.Dims()
	return x, w, s.r.Slice(i, j, 0, k).(*mat.Dense)
}

func rowsOf(c *design.Banded, i, j int) *design.Banded {
	return &design.Banded{D: c.D, K: c.K, Cyclic: c.Cyclic, First: c.First[i:j], Value: c.Value[i*c.K : j*c.K]}
}

func awkward(n int, weighted bool, seed uint64) rowset {
	rng := rand.New(rand.NewPCG(seed, 7))
	s := rowset{layout: moments.Layout{
		Bases: []moments.Basis{{Name: "year", Dim: 3}, {Name: "s(x)", Dim: 8}, {Name: "dow", Dim: 4}, {Name: "g:x", Dim: 3}, {Name: "full", Dim: 1},
			{Name: "s(y)", Dim: 9}, {Name: "s(hour)", Dim: 6}, {Name: "s(z)", Dim: 5}},
		Predictors: [][]int{{0, 1, 2, 4, 5, 6}, {1, 3, 5, 7}},
		Responses:  3,
	}}
	year, r := mat.NewDense(n, 3, nil), mat.NewDense(n, 3, nil)
	sp := &design.Sparse{D: 8, K: 4}
	dow, gx := &design.Codes{D: 4}, &design.Codes{D: 3}
	full := &design.Sparse{D: 1, K: 1}
	bands := []*design.Banded{{D: 9, K: 4}, {D: 6, K: 4, Cyclic: true}, {D: 5, K: 3}}
	for i := range n {
		x := rng.Float64()
		year.SetRow(i, []float64{1e6 + rng.NormFloat64(), 2013 + float64(rng.IntN(5)), 42.1})
		first := int32(x * 5)
		for l := range int32(4) {
			sp.Index = append(sp.Index, first+(l+int32(i))%4)
			sp.Value = append(sp.Value, rng.Float64())
		}
		dow.Code = append(dow.Code, int32(rng.IntN(5)-1))
		gx.Code = append(gx.Code, int32(rng.IntN(3)))
		gx.Value = append(gx.Value, x-3)
		full.Index = append(full.Index, 0)
		full.Value = append(full.Value, -1e5+x)
		for _, b := range bands {
			last := b.D - b.K
			if b.Cyclic {
				last = b.D - 1
			}
			b.First = append(b.First, int32(rng.IntN(last+1)))
			for range b.K {
				b.Value = append(b.Value, rng.Float64())
			}
		}
		r.SetRow(i, []float64{-1e6 + x + rng.NormFloat64(), x, 3 * rng.NormFloat64()})
		if weighted {
			w := rng.ExpFloat64()
			if rng.IntN(6) == 0 {
				w = 0
			}
			s.w = append(s.w, w)
		}
	}
	s.x, s.r = []design.Columns{design.Dense{Dense: year}, sp, dow, gx, full, bands[0], bands[1], bands[2]}, r
	return s
}

// andProduct adds a tensor product to both predictors.
func (s rowset) andProduct() rowset {
	const a, b = 5, 4
	rng := rand.New(rand.NewPCG(uint64(s.rows()), 3))
	x := (*design.Product)(nil).Sized(s.rows(), a, b)
	for i := range x.A.First {
		x.A.First[i] = int32(rng.IntN(2))
	}
	for i := range x.A.Value {
		x.A.Value[i], x.B.Value[i] = rng.Float64(), rng.NormFloat64()
	}
	s.layout.Bases = append(s.layout.Bases, moments.Basis{Name: "te(x,y)", Dim: a * b})
	for k, bases := range s.layout.Predictors {
		s.layout.Predictors[k] = append(bases, len(s.x))
	}
	s.x = append(s.x, x)
	return s
}

// andLevels adds a smooth for each of four levels to both predictors, dense columns that are 0 in all rows of the
// others; in rows from end on none is 0.
func (s rowset) andLevels(end int) rowset {
	const levels, d = 4, 5
	rng := rand.New(rand.NewPCG(uint64(s.rows()), 4))
	own := make([]*mat.Dense, levels)
	for l := range own {
		own[l] = mat.NewDense(s.rows(), d, nil)
	}
	for i := range s.rows() {
		level := rng.IntN(levels + 1)
		for l, x := range own {
			if l == level || i >= end {
				x.SetRow(i, []float64{5 + rng.NormFloat64(), rng.Float64(), float64(rng.IntN(2)), rng.NormFloat64(), 1})
			}
		}
	}
	for l, x := range own {
		s.layout.Bases = append(s.layout.Bases, moments.Basis{Name: fmt.Sprintf("s(x):%d", l), Dim: d})
		for k, bases := range s.layout.Predictors {
			s.layout.Predictors[k] = append(bases, len(s.x))
		}
		s.x = append(s.x, design.Dense{Dense: x})
	}
	return s
}

func (s rowset) add(t fataler, b *moments.Chunk, i, j, batch int) {
	for ; i < j; i += batch {
		x, w, r := s.slice(i, min(i+batch, j))
		if err := b.Add(x, w, r); err != nil {
			t.Fatal(err)
		}
	}
}

type fataler interface{ Fatal(...any) }

func (s rowset) moments(t fataler, i, j, batch int) *moments.Moments {
	b := moments.NewChunk(s.layout)
	s.add(t, b, i, j, batch)
	return b.Moments()
}

func (s rowset) direct(t fataler) (mean []float64, c *mat.SymDense, w float64) {
	n := s.rows()
	p := s.layout.Columns()
	_, k := s.r.Dims()
	all := mat.NewDense(n, p+k, nil)
	at := 0
	for _, c := range s.x {
		_, d := c.Dims()
		if err := design.ToDense(all.Slice(0, n, at, at+d).(*mat.Dense), c); err != nil {
			t.Fatal(err)
		}
		at += d
	}
	all.Slice(0, n, p, p+k).(*mat.Dense).Copy(s.r)
	exact := func(v float64) *big.Float { return new(big.Float).SetPrec(200).SetFloat64(v) }
	ws := make([]*big.Float, n)
	total := exact(0)
	for i := range ws {
		ws[i] = exact(1)
		if s.w != nil {
			ws[i] = exact(s.w[i])
		}
		total.Add(total, ws[i])
	}
	means := make([]*big.Float, p+k)
	mean = make([]float64, p+k)
	for j := range means {
		m := exact(0)
		for i := range n {
			m.Add(m, new(big.Float).Mul(ws[i], exact(all.At(i, j))))
		}
		means[j] = m.Quo(m, total)
		mean[j], _ = m.Float64()
	}
	c = mat.NewSymDense(p+k, nil)
	for a := range means {
		for b := a; b < len(means); b++ {
			v := exact(0)
			for i := range n {
				u := new(big.Float).Sub(exact(all.At(i, a)), means[a])
				u.Mul(u, new(big.Float).Sub(exact(all.At(i, b)), means[b]))
				v.Add(v, u.Mul(u, ws[i]))
			}
			f, _ := v.Float64()
			c.SetSym(a, b, f)
		}
	}
	w, _ = total.Float64()
	return mean, c, w
}

type checker interface {
	Helper()
	Errorf(string, ...any)
}

func against(t checker, m *moments.Moments, mean []float64, c *mat.SymDense, w, tol float64) {
	t.Helper()
	p := m.Layout.Columns()
	if math.Abs(m.SumW-w) > tol*w {
		t.Errorf("SumW %g, want %g", m.SumW, w)
	}
	meet := met(m.Layout)
	for j := range mean {
		got, want := append(append([]float64{}, m.Mean...), m.MeanR...)[j], mean[j]
		if j < p && !meet(j, j) { // in no predictor
			want = 0
		}
		if math.Abs(got-want) > 4e-16*math.Abs(mean[j])+tol {
			t.Errorf("mean %d: %.17g, want %.17g", j, got, want)
		}
	}
	for a := range mean {
		for b := a; b < len(mean); b++ {
			var got float64
			want := c.At(a, b)
			switch {
			case b < p:
				got = m.XX.At(a, b)
				if !meet(a, b) {
					want = 0
				}
			case a < p:
				got = m.XR.At(a, b-p)
				if !meet(a, a) {
					want = 0
				}
			default:
				got = m.RR.At(a-p, b-p)
			}
			scale := math.Sqrt(c.At(a, a) * c.At(b, b))
			if math.Abs(got-want) > tol*scale {
				t.Errorf("product (%d,%d): %.17g, want %.17g, off by %.1e of its scale", a, b, got, want, math.Abs(got-want)/scale)
			}
		}
	}
}

func met(l moments.Layout) func(a, b int) bool {
	var basis []int
	for i, b := range l.Bases {
		for range b.Dim {
			basis = append(basis, i)
		}
	}
	return func(a, b int) bool {
		for _, bases := range l.Predictors {
			hasA, hasB := false, false
			for _, k := range bases {
				hasA = hasA || k == basis[a]
				hasB = hasB || k == basis[b]
			}
			if hasA && hasB {
				return true
			}
		}
		return false
	}
}

func difference(a, b *moments.Moments) float64 {
	worst := 0.0
	relative := func(x, y, scale float64) {
		if x != y {
			worst = max(worst, math.Abs(x-y)/max(scale, 1e-300))
		}
	}
	if a.Rows != b.Rows || a.Positive != b.Positive {
		return math.Inf(1)
	}
	relative(a.SumW, b.SumW, b.SumW)
	relative(a.SumLogW, b.SumLogW, math.Abs(b.SumLogW)+1)
	for j := range a.Mean {
		relative(a.Mean[j], b.Mean[j], math.Abs(b.Mean[j])+1e-12)
		relative(a.Sum[j], b.Sum[j], math.Abs(b.Sum[j])+1e-12)
	}
	for j := range a.MaxRowNorm {
		relative(a.MaxRowNorm[j], b.MaxRowNorm[j], b.MaxRowNorm[j])
	}
	// A column without variance is compared by its mean's rounding.
	sd := func(s *mat.SymDense, mean []float64, w float64, j int) float64 {
		return math.Sqrt(s.At(j, j)) + 1e-15*math.Abs(mean[j])*math.Sqrt(w)
	}
	for i := range a.Mean {
		for j := range a.Mean {
			relative(a.XX.At(i, j), b.XX.At(i, j), sd(b.XX, b.Mean, b.SumW, i)*sd(b.XX, b.Mean, b.SumW, j))
		}
		for k := range a.MeanR {
			relative(a.XR.At(i, k), b.XR.At(i, k), sd(b.XX, b.Mean, b.SumW, i)*sd(b.RR, b.MeanR, b.SumW, k))
		}
	}
	for k := range a.MeanR {
		for l := range a.MeanR {
			relative(a.RR.At(k, l), b.RR.At(k, l), sd(b.RR, b.MeanR, b.SumW, k)*sd(b.RR, b.MeanR, b.SumW, l))
		}
	}
	return worst
}

type marshaler interface{ MarshalBinary() ([]byte, error) }

func marshal(t fataler, m marshaler) []byte {
	data, err := m.MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	return data
}
