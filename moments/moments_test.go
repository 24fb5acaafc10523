package moments_test

import (
	"bytes"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"

	"github.com/pho-go/pho/design"
	"github.com/pho-go/pho/moments"
)

// rowset is some rows of a layout, to be cut at will.
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

// awkward makes rows with means up to 1e6 times the standard deviation: a dense
// year-like basis, a B-spline-like basis, coded levels, numeric codes.
func awkward(n int, weighted bool, seed uint64) rowset {
	rng := rand.New(rand.NewPCG(seed, 7))
	s := rowset{layout: moments.Layout{
		Bases:      []moments.Basis{{Name: "year", Dim: 3}, {Name: "s(x)", Dim: 8}, {Name: "dow", Dim: 4}, {Name: "g:x", Dim: 3}, {Name: "full", Dim: 1}},
		Predictors: [][]int{{0, 1, 2, 4}, {1, 3}},
		Responses:  3,
	}}
	year, r := mat.NewDense(n, 3, nil), mat.NewDense(n, 3, nil)
	sp := &design.Sparse{D: 8, K: 4}
	dow, gx := &design.Codes{D: 4}, &design.Codes{D: 3}
	full := &design.Sparse{D: 1, K: 1}
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
		r.SetRow(i, []float64{-1e6 + x + rng.NormFloat64(), x, 3 * rng.NormFloat64()})
		if weighted {
			w := rng.ExpFloat64()
			if rng.IntN(6) == 0 {
				w = 0
			}
			s.w = append(s.w, w)
		}
	}
	s.x, s.r = []design.Columns{design.Dense{Dense: year}, sp, dow, gx, full}, r
	return s
}

// add feeds rows i to j-1 to b in batches.
func (s rowset) add(t fataler, b *moments.Block, i, j, batch int) {
	for ; i < j; i += batch {
		x, w, r := s.slice(i, min(i+batch, j))
		if err := b.Add(x, w, r); err != nil {
			t.Fatal(err)
		}
	}
}

type fataler interface{ Fatal(...any) }

func (s rowset) moments(t fataler, i, j, batch int) *moments.Moments {
	b := moments.NewBlock(s.layout)
	s.add(t, b, i, j, batch)
	return b.Moments()
}

// direct computes the centred products with 200 bits in two passes.
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

// against compares m with exact values: entries relative to the standard
// deviations of their columns.
func against(t *testing.T, m *moments.Moments, mean []float64, c *mat.SymDense, w, tol float64) {
	t.Helper()
	p := m.Layout.Columns()
	if math.Abs(m.SumW-w) > tol*w {
		t.Errorf("SumW %g, want %g", m.SumW, w)
	}
	for j := range mean {
		got := append(append([]float64{}, m.Mean...), m.MeanR...)[j]
		if math.Abs(got-mean[j]) > 4e-16*math.Abs(mean[j])+tol {
			t.Errorf("mean %d: %.17g, want %.17g", j, got, mean[j])
		}
	}
	meet := met(m.Layout)
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

// met tells whether two columns' bases meet in a predictor.
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

func TestAgainstExact(t *testing.T) {
	for _, weighted := range []bool{false, true} {
		s := awkward(700, weighted, 3)
		mean, c, w := s.direct(t)
		whole := s.moments(t, 0, 700, 700)
		against(t, whole, mean, c, w, 2e-14)

		merged := s.moments(t, 0, 13, 5)
		for _, cut := range [][2]int{{13, 14}, {14, 300}, {300, 700}} {
			if err := merged.Merge(s.moments(t, cut[0], cut[1], 64)); err != nil {
				t.Fatal(err)
			}
		}
		against(t, merged, mean, c, w, 2e-14)

		if got := whole.XX.At(2, 2); got != 0 {
			t.Errorf("a constant column has variance %g, want exactly 0", got)
		}
		if got := whole.Mean[2]; got != 42.1 {
			t.Errorf("a constant column has mean %.17g, want exactly 42.1", got)
		}
		if got := merged.XX.At(2, 2); got != 0 {
			t.Errorf("merged: a constant column has variance %g, want exactly 0", got)
		}
		// The check can fail: raw products lose what the centred ones keep.
		raw, _, _ := whole.Predictor(0).Raw()
		lost := raw.At(0, 0) - w*mean[0]*mean[0]
		if math.Abs(lost-c.At(0, 0)) < 1e-8*c.At(0, 0) {
			t.Errorf("the data are not awkward: raw products are good to %.1e", math.Abs(lost-c.At(0, 0))/c.At(0, 0))
		}
	}
}

// A first row far from all others, of next to no weight, spoils nothing: columns
// are not summed about it.
func TestOutlierFirst(t *testing.T) {
	s := awkward(400, true, 12)
	s.x[0].(design.Dense).Set(0, 0, 0)
	s.r.Set(0, 0, 0)
	s.w[0] = 1e-12
	mean, c, w := s.direct(t)
	against(t, s.moments(t, 0, 400, 400), mean, c, w, 1e-12)
}

func TestCounts(t *testing.T) {
	s := awkward(500, true, 11)
	m := s.moments(t, 0, 500, 33)
	positive, logs := int64(0), 0.0
	for _, w := range s.w {
		if w > 0 {
			positive++
			logs += math.Log(w)
		}
	}
	if m.Rows != 500 || m.Positive != positive || math.Abs(m.SumLogW-logs) > 1e-10 {
		t.Errorf("rows %d, positive %d of %d, sum log w %g of %g", m.Rows, m.Positive, positive, m.SumLogW, logs)
	}
	at := 0
	for a, c := range s.x {
		_, d := c.Dims()
		sums := make([]float64, d)
		if err := design.AddSums(sums, c); err != nil {
			t.Fatal(err)
		}
		for j := range sums {
			if m.Sum[at+j] != sums[j] {
				t.Errorf("sum of column %d is %g, want %g unweighted over all rows", at+j, m.Sum[at+j], sums[j])
			}
		}
		if m.MaxRowNorm[a] != design.MaxRowNorm(c) {
			t.Errorf("row norm of basis %d is %g, want %g", a, m.MaxRowNorm[a], design.MaxRowNorm(c))
		}
		at += d
	}
}

// Batches of any size, and any earlier use of the block, give the same bytes.
func TestBatchSizeChangesNothing(t *testing.T) {
	s := awkward(900, true, 5)
	want := marshal(t, s.moments(t, 0, 900, 900))
	b := moments.NewBlock(s.layout)
	dense := rowset{s.layout, nil, s.w, s.r}
	for _, c := range s.x {
		n, d := c.Dims()
		m := mat.NewDense(n, d, nil)
		if err := design.ToDense(m, c); err != nil {
			t.Fatal(err)
		}
		m.Scale(10, m) // larger norms, which Reset must forget
		dense.x = append(dense.x, design.Dense{Dense: m})
	}
	for _, batch := range []int{1, 7, 255, 256, 257, 600} {
		b.Reset()
		s.add(t, b, 0, 900, batch)
		if got := marshal(t, b.Moments()); !bytes.Equal(got, want) {
			t.Errorf("batches of %d rows give other bytes", batch)
		}
		// Another user of the block stores the same bases densely.
		b.Reset()
		dense.add(t, b, 0, 300, 100)
	}
}

// A term may come sparse or dense, even in one block: the sums agree.
func TestStorageChangesCostOnly(t *testing.T) {
	s := awkward(900, true, 6)
	want := s.moments(t, 0, 900, 900)
	dense := s
	dense.x = nil
	for _, c := range s.x {
		n, d := c.Dims()
		m := mat.NewDense(n, d, nil)
		if err := design.ToDense(m, c); err != nil {
			t.Fatal(err)
		}
		dense.x = append(dense.x, design.Dense{Dense: m})
	}
	for _, order := range [][]rowset{{dense, dense}, {dense, s}, {s, dense}} {
		b := moments.NewBlock(s.layout)
		order[0].add(t, b, 0, 333, 50)
		order[1].add(t, b, 333, 700, 50)
		s.add(t, b, 700, 900, 50)
		if d := difference(b.Moments(), want); d > 1e-12 {
			t.Errorf("moments differ by %.1e", d)
		}
	}
}

// difference is the largest difference of two moments relative to the columns'
// standard deviations, or relative to the value for means and sums.
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

func TestZeroWeights(t *testing.T) {
	s := awkward(300, true, 9)
	// Sentinels in rows of weight 0 do no harm.
	year := s.x[0].(design.Dense).Dense
	var kept []int
	for i, w := range s.w {
		if w == 0 {
			year.Set(i, 0, -1e300)
			s.r.Set(i, 0, 1e300)
		} else {
			kept = append(kept, i)
		}
	}
	m := s.moments(t, 0, 300, 300)
	without := moments.NewBlock(s.layout)
	for _, i := range kept {
		s.add(t, without, i, i+1, 1)
	}
	n := without.Moments()
	if !mat.Equal(m.XX, n.XX) || !mat.Equal(m.XR, n.XR) || !mat.Equal(m.RR, n.RR) || m.SumW != n.SumW || m.Positive != n.Positive {
		t.Error("rows of weight 0 leave traces in weighted sums")
	}

	none := s
	none.w = make([]float64, 300)
	zero := none.moments(t, 0, 300, 100)
	if zero.SumW != 0 || zero.Positive != 0 || zero.Rows != 300 || zero.Sum[1] == 0 || zero.XX.At(1, 1) != 0 || zero.Mean[1] != 0 {
		t.Error("moments of weightless rows")
	}
	for _, pair := range [][2]*moments.Moments{{zero.Clone(), m}, {m.Clone(), zero}, {moments.New(s.layout), m}, {m.Clone(), moments.New(s.layout)}} {
		if err := pair[0].Merge(pair[1]); err != nil {
			t.Fatal(err)
		}
		if !mat.Equal(pair[0].XX, m.XX) || !mat.Equal(pair[0].XR, m.XR) || !mat.Equal(pair[0].RR, m.RR) || pair[0].SumW != m.SumW || pair[0].Mean[0] != m.Mean[0] {
			t.Error("a side without weight changes the other")
		}
	}
}

func TestPredictor(t *testing.T) {
	s := awkward(400, true, 2)
	m := s.moments(t, 0, 400, 400)
	v := m.Predictor(1)
	if fmt.Sprint(v.Bases, v.Starts) != "[1 3] [0 8 11]" {
		t.Fatalf("bases %v, starts %v", v.Bases, v.Starts)
	}
	at := func(j int) int {
		if j < 8 {
			return 3 + j
		}
		return 15 + j - 8
	}
	for i := range 11 {
		if v.XR[i] != m.XR.At(at(i), 1) || v.Mean[i] != m.Mean[at(i)] || v.Sum[i] != m.Sum[at(i)] {
			t.Errorf("column %d of the view", i)
		}
		for j := range 11 {
			if v.XX.At(i, j) != m.XX.At(at(i), at(j)) {
				t.Errorf("product (%d,%d) of the view", i, j)
			}
		}
	}
	if v.RR != m.RR.At(1, 1) || v.MeanR != m.MeanR[1] || v.MaxRowNorm[1] != m.MaxRowNorm[3] || v.SumW != m.SumW || v.Rows != 400 || v.Positive != m.Positive || v.SumLogW != m.SumLogW {
		t.Error("scalars of the view")
	}

	// Raw products are those of the raw columns.
	x := mat.NewDense(400, 11, nil)
	for i, b := range v.Bases {
		if err := design.ToDense(x.Slice(0, 400, v.Starts[i], v.Starts[i+1]).(*mat.Dense), s.x[b]); err != nil {
			t.Fatal(err)
		}
	}
	xx, xr, rr := v.Raw()
	want, wantR := mat.NewDense(11, 11, nil), mat.NewDense(11, 1, nil)
	z := s.r.Slice(0, 400, 1, 2).(*mat.Dense)
	if err := design.AddCross(want, design.Dense{Dense: x}, design.Dense{Dense: x}, s.w); err != nil {
		t.Fatal(err)
	}
	if err := design.AddTMul(wantR, design.Dense{Dense: x}, s.w, z); err != nil {
		t.Fatal(err)
	}
	wantRR := 0.0
	for i, w := range s.w {
		wantRR += w * z.At(i, 0) * z.At(i, 0)
	}
	if !mat.EqualApprox(xx, want, 1e-10) || !mat.EqualApprox(mat.NewDense(11, 1, xr), wantR, 1e-10) || math.Abs(rr-wantRR) > 1e-10 {
		t.Error("raw products")
	}

	v.XX.SetSym(0, 0, -1)
	v.Mean[0] = -1
	if m.XX.At(3, 3) == -1 || m.Mean[3] == -1 {
		t.Error("the view shares memory with the moments")
	}
	if v := m.Predictor(2); v.XX != nil || v.Bases != nil {
		t.Error("a predictor that is not there has the zero view")
	}
}

func TestBlockFaults(t *testing.T) {
	l := moments.Layout{Bases: []moments.Basis{{Name: "s(x)", Dim: 3}, {Name: "z", Dim: 1}}, Predictors: [][]int{{0, 1}}, Responses: 1}
	type operands struct {
		x []design.Columns
		w []float64
		r *mat.Dense
	}
	good := func() operands {
		return operands{
			[]design.Columns{&design.Sparse{D: 3, K: 1, Index: []int32{0, 2}, Value: []float64{1, 1}}, design.Dense{Dense: mat.NewDense(2, 1, nil)}},
			[]float64{1, 0}, mat.NewDense(2, 1, nil),
		}
	}
	for _, c := range []struct {
		name   string
		change func(*operands)
		want   string
	}{
		{"bases", func(o *operands) { o.x = o.x[:1] }, "moments: columns of 1 bases for a layout of 2"},
		{"nil columns", func(o *operands) { o.x[1] = nil }, `moments: basis "z", rows from 2: design: columns are nil`},
		{"index", func(o *operands) { o.x[0].(*design.Sparse).Index[1] = 3 }, `moments: basis "s(x)", rows from 2: design: sparse columns: row 1 has an entry in column 3 of 3; columns count from 0`},
		{"dimension", func(o *operands) { o.x[0] = &design.Codes{D: 2, Code: []int32{0, 1}} }, `moments: basis "s(x)" has 2 columns; the layout says 3`},
		{"rows", func(o *operands) { o.x[1] = design.Dense{Dense: mat.NewDense(3, 1, nil)} }, `moments: basis "z" has 3 rows, basis "s(x)" has 2`},
		{"no responses", func(o *operands) { o.r = nil }, "moments: no responses for 2 rows; need 2 x 1"},
		{"responses", func(o *operands) { o.r = mat.NewDense(2, 2, nil) }, "moments: responses are 2 x 2; need 2 x 1"},
		{"weights", func(o *operands) { o.w = []float64{1} }, "moments: 1 weights for 2 rows"},
		{"negative weight", func(o *operands) { o.w[1] = -1 }, "moments: weight -1 in row 3; weights are finite and not negative"},
		{"NaN weight", func(o *operands) { o.w[0] = math.NaN() }, "moments: weight NaN in row 2; weights are finite and not negative"},
		{"NaN column", func(o *operands) { o.x[1].(design.Dense).Set(1, 0, math.NaN()) }, `moments: basis "z" has the value NaN in row 3; remove the row or mend the basis`},
		{"Inf entry", func(o *operands) { o.x[0].(*design.Sparse).Value[0] = math.Inf(1) }, `moments: basis "s(x)" has the value +Inf in row 2; remove the row or mend the basis`},
		{"Inf response", func(o *operands) { o.r.Set(1, 0, math.Inf(-1)) }, "moments: response 0 has the value -Inf in row 3; the model's output must be finite"},
	} {
		b := moments.NewBlock(l)
		o := good()
		if err := b.Add(o.x, o.w, o.r); err != nil {
			t.Fatal(err)
		}
		before := marshal(t, b.Moments())
		b.Reset()
		if err := b.Add(o.x, o.w, o.r); err != nil {
			t.Fatal(err)
		}
		c.change(&o)
		if err := b.Add(o.x, o.w, o.r); err == nil || err.Error() != c.want {
			t.Errorf("%s: %v, want %s", c.name, err, c.want)
		}
		if !bytes.Equal(before, marshal(t, b.Moments())) {
			t.Errorf("%s: the refused rows left traces", c.name)
		}
		if err := b.Add(o.x, o.w, o.r); err == nil || !strings.Contains(err.Error(), "Reset it first") {
			t.Errorf("Add to a closed block: %v", err)
		}
	}
}

func TestLayoutFaults(t *testing.T) {
	ok := []moments.Basis{{Name: "a", Dim: 1}, {Name: "b", Dim: 2}}
	for _, c := range []struct {
		layout moments.Layout
		want   string
	}{
		{moments.Layout{Bases: []moments.Basis{{Name: "a", Dim: 0}}}, `moments: basis 0 ("a") has 0 columns; need at least 1 each and fewer than 2^31 together`},
		{moments.Layout{Bases: []moments.Basis{{Name: "a", Dim: math.MaxInt32}, {Name: "b", Dim: 1}}}, `moments: basis 1 ("b") has 1 columns; need at least 1 each and fewer than 2^31 together`},
		{moments.Layout{Bases: ok, Predictors: [][]int{{0}}}, "moments: 1 predictors but 0 responses; each predictor needs its own"},
		{moments.Layout{Bases: ok, Responses: -1}, "moments: 0 predictors but -1 responses; each predictor needs its own"},
		{moments.Layout{Bases: ok, Predictors: [][]int{{1, 0}}, Responses: 1}, "moments: predictor 0 lists basis 0 after 1; bases are increasing numbers below 2"},
		{moments.Layout{Bases: ok, Predictors: [][]int{{2}}, Responses: 1}, "moments: predictor 0 lists basis 2 after -1; bases are increasing numbers below 2"},
	} {
		if err := c.layout.Check(); err == nil || err.Error() != c.want {
			t.Errorf("Check: %v, want %s", err, c.want)
		}
		b := moments.NewBlock(c.layout)
		if err := b.Add(nil, nil, nil); err == nil || err.Error() != c.want {
			t.Errorf("Add: %v, want %s", err, c.want)
		}
		if b.Moments() == nil || moments.New(c.layout) == nil {
			t.Error("no moments")
		}
		s := moments.NewSum(c.layout, 0)
		if err := s.Append(b.Moments()); err == nil || err.Error() != c.want {
			t.Errorf("Append: %v, want %s", err, c.want)
		}
		if s.Total() == nil {
			t.Error("no total")
		}
		if _, err := s.MarshalBinary(); err == nil {
			t.Error("a faulty layout was written")
		}
	}
}

func TestMergeFaults(t *testing.T) {
	s := awkward(20, false, 1)
	m := s.moments(t, 0, 20, 20)
	if err := m.Merge(m); err == nil {
		t.Error("merge with itself")
	}
	other := s.layout
	other.Predictors = [][]int{{0}}
	if err := m.Merge(moments.New(other)); err == nil || !strings.Contains(err.Error(), "different layouts") {
		t.Errorf("other layout: %v", err)
	}
	if err := m.Merge(nil); err == nil {
		t.Error("merge with nil")
	}

	l := moments.Layout{Bases: []moments.Basis{{Name: "x", Dim: 2}}, Predictors: [][]int{{0}}, Responses: 1}
	at := func(v float64) *moments.Moments {
		b := moments.NewBlock(l)
		x := mat.NewDense(2, 2, []float64{1, v, 2, v})
		if err := b.Add([]design.Columns{design.Dense{Dense: x}}, nil, mat.NewDense(2, 1, nil)); err != nil {
			t.Fatal(err)
		}
		return b.Moments()
	}
	a := at(1e200)
	if err := a.Merge(at(-1e200)); err == nil || err.Error() != `moments: basis "x": the squares of column 1 overflow; rescale it` {
		t.Errorf("overflow: %v", err)
	}
}

// No bases, or no responses, is a layout like any other.
func TestEmptySides(t *testing.T) {
	for _, l := range []moments.Layout{{}, {Responses: 2, Predictors: [][]int{{}, {}}}, {Bases: []moments.Basis{{Name: "x", Dim: 1}}}} {
		b := moments.NewBlock(l)
		for range 2 {
			var x []design.Columns
			if len(l.Bases) > 0 {
				x = append(x, design.Dense{Dense: mat.NewDense(3, 1, []float64{1, 2, 4})})
			}
			var r *mat.Dense
			if l.Responses > 0 {
				r = mat.NewDense(3, 2, []float64{1, 2, 3, 4, 5, 7})
			}
			if err := b.Add(x, []float64{1, 1, 2}, r); err != nil {
				t.Fatal(err)
			}
		}
		m := b.Moments()
		if m.Rows != 6 || m.SumW != 8 {
			t.Errorf("rows %d, sum of weights %g", m.Rows, m.SumW)
		}
		if err := m.Merge(m.Clone()); err != nil {
			t.Fatal(err)
		}
		var back moments.Moments
		if err := back.UnmarshalBinary(marshal(t, m)); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(marshal(t, &back), marshal(t, m)) {
			t.Error("round trip")
		}
		_, _, _ = m.Predictor(0).Raw()
	}
}

func TestAddAllocatesNothing(t *testing.T) {
	s := awkward(1024, true, 4)
	b := moments.NewBlock(s.layout)
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

func TestBlockRows(t *testing.T) {
	for p, want := range map[int]int{0: 4096, 200: 4096, 512: 4096, 513: 8192, 1000: 16384} {
		if got := moments.BlockRows(p); got != want {
			t.Errorf("BlockRows(%d) = %d, want %d", p, got, want)
		}
	}
}

// Any cut of the rows agrees with one pass to 1e-12.
func TestAnyCut(t *testing.T) {
	s := awkward(2000, true, 8)
	whole := s.moments(t, 0, 2000, 2000)
	rapid.Check(t, func(t *rapid.T) {
		cuts := rapid.SliceOfN(rapid.IntRange(0, 2000), 0, 6).Draw(t, "cuts")
		sum := moments.New(s.layout)
		at := 0
		for _, c := range append(cuts, 2000) {
			if c < at {
				continue
			}
			if err := sum.Merge(s.moments(t, at, c, 512)); err != nil {
				t.Fatal(err)
			}
			at = c
		}
		if d := difference(sum, whole); d > 1e-12 {
			t.Fatalf("moments differ by %.1e", d)
		}
	})
}
