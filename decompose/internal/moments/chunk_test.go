package moments_test

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"

	"github.com/pho-go/pho/decompose/internal/moments"
	"github.com/pho-go/pho/design"
)

func TestOutlierFirst(t *testing.T) {
	s := awkward(400, true, 12).andProduct()
	s.x[0].(design.Dense).Set(0, 0, 0)
	s.r.Set(0, 0, 0)
	s.w[0] = 1e-12
	mean, c, w := s.direct(t)
	against(t, s.moments(t, 0, 400, 400), mean, c, w, 1e-12)
}

func TestCounts(t *testing.T) {
	s := awkward(500, true, 11).andProduct()
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
		if err := new(design.Work).AddSums(sums, c); err != nil {
			t.Fatal(err)
		}
		for j := range sums {
			codes, ok := c.(*design.Codes) // others are summed many rows at a time, in another order
			counts := ok && codes.Value == nil
			if m.Sum[at+j] != sums[j] && !(!counts && math.Abs(m.Sum[at+j]-sums[j]) <= 1e-14*math.Abs(sums[j])) {
				t.Errorf("sum of column %d is %g, want %g unweighted over all rows", at+j, m.Sum[at+j], sums[j])
			}
		}
		if m.MaxRowNorm[a] != design.MaxRowNorm(c) {
			t.Errorf("row norm of basis %d is %g, want %g", a, m.MaxRowNorm[a], design.MaxRowNorm(c))
		}
		at += d
	}
}

func TestBatchSizeChangesNothing(t *testing.T) {
	s := awkward(900, true, 5).andProduct()
	want := marshal(t, s.moments(t, 0, 900, 900))
	b := moments.NewChunk(s.layout)
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
		// Rows that are parts of longer ones.
		year := mat.NewDense(900, 5, nil)
		part := design.Dense{Dense: year.Slice(0, 900, 1, 4).(*mat.Dense)}
		part.Copy(s.x[0].(design.Dense).Dense)
		parts := s
		parts.x = append([]design.Columns{part}, s.x[1:]...)
		b.Reset()
		parts.add(t, b, 0, 900, batch)
		if got := marshal(t, b.Moments()); !bytes.Equal(got, want) {
			t.Errorf("batches of %d parts of rows give other bytes", batch)
		}
		// Another user of the chunk stores the same bases densely.
		b.Reset()
		dense.add(t, b, 0, 300, 100)
	}
}

// TestLevels: of smooths by levels the rows of other levels, which are 0, are left out, and come back when they are
// not 0 any more.
func TestLevels(t *testing.T) {
	const n = 400
	for _, end := range []int{n, 300} {
		for _, weighted := range []bool{false, true} {
			s := awkward(n, weighted, 21).andProduct().andLevels(end)
			m := s.moments(t, 0, n, 256)
			mean, c, w := s.direct(t)
			against(t, m, mean, c, w, 1e-11)
			if got := s.moments(t, 0, n, 300); !bytes.Equal(marshal(t, got), marshal(t, m)) {
				t.Error("batches of 300 rows give other bytes")
			}
		}
	}
}

func TestStorageChangesCostOnly(t *testing.T) {
	s := awkward(900, true, 6).andProduct()
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
		b := moments.NewChunk(s.layout)
		order[0].add(t, b, 0, 333, 50)
		order[1].add(t, b, 333, 700, 50)
		s.add(t, b, 700, 900, 50)
		if d := difference(b.Moments(), want); d > 1e-12 {
			t.Errorf("moments differ by %.1e", d)
		}
	}
}

func TestZeroWeights(t *testing.T) {
	s := awkward(300, true, 9).andProduct()
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
	without := moments.NewChunk(s.layout)
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

func TestChunkFaults(t *testing.T) {
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
		b := moments.NewChunk(l)
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
			t.Errorf("Add to a closed chunk: %v", err)
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
		{moments.Layout{Bases: ok, Predictors: [][]int{{0}}}, "moments: 1 predictors but 0 responses; they need one at least"},
		{moments.Layout{Bases: ok, Responses: -1}, "moments: 0 predictors but -1 responses; they need one at least"},
		{moments.Layout{Bases: ok, Predictors: [][]int{{1, 0}}, Responses: 1}, "moments: predictor 0 lists basis 0 after 1; bases are increasing numbers below 2"},
		{moments.Layout{Bases: ok, Predictors: [][]int{{2}}, Responses: 1}, "moments: predictor 0 lists basis 2 after -1; bases are increasing numbers below 2"},
	} {
		if err := c.layout.Check(); err == nil || err.Error() != c.want {
			t.Errorf("Check: %v, want %s", err, c.want)
		}
		b := moments.NewChunk(c.layout)
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

func TestEmptySides(t *testing.T) {
	for _, l := range []moments.Layout{{}, {Responses: 2, Predictors: [][]int{{}, {}}}, {Bases: []moments.Basis{{Name: "x", Dim: 1}}}} {
		b := moments.NewChunk(l)
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
	s := awkward(1024, true, 4).andProduct()
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

func TestChunkRows(t *testing.T) {
	for p, want := range map[int]int{0: 4096, 200: 4096, 512: 4096, 513: 8192, 1000: 16384} {
		if got := moments.ChunkRows(p); got != want {
			t.Errorf("ChunkRows(%d) = %d, want %d", p, got, want)
		}
	}
}

// Any layout, any mixture of storage: products are formed where bases meet, and
// nowhere else.
func TestAnyLayout(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		const n = 40
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(rt, "seed"), 1))
		s := rowset{layout: moments.Layout{Responses: 3}, r: mat.NewDense(n, 3, nil)}
		for i := range n {
			s.r.SetRow(i, []float64{rng.NormFloat64(), 1e4 + rng.NormFloat64(), rng.Float64()})
			s.w = append(s.w, float64(rng.IntN(4)))
		}
		s.w[0] = 1
		for a := range rapid.IntRange(1, 6).Draw(rt, "bases") {
			d := rapid.IntRange(1, 3).Draw(rt, "dim")
			s.layout.Bases = append(s.layout.Bases, moments.Basis{Name: fmt.Sprint("b", a), Dim: d})
			if rapid.IntRange(0, 3).Draw(rt, "coded") == 0 {
				c := &design.Codes{D: d}
				for range n {
					c.Code = append(c.Code, int32(rng.IntN(d+1)-1))
				}
				s.x = append(s.x, c)
				continue
			}
			m := mat.NewDense(n, d, nil)
			for i := range n {
				for j := range d {
					m.Set(i, j, 1e5+rng.NormFloat64())
				}
			}
			s.x = append(s.x, design.Dense{Dense: m})
		}
		for range rapid.IntRange(0, 3).Draw(rt, "predictors") {
			var bases []int
			for a := range s.layout.Bases {
				if rapid.IntRange(0, 3).Draw(rt, "used") > 0 {
					bases = append(bases, a)
				}
			}
			s.layout.Predictors = append(s.layout.Predictors, bases)
		}
		mean, c, w := s.direct(rt)
		against(rt, s.moments(rt, 0, n, 7), mean, c, w, 1e-13)
	})
}

// A worker's chunk that joined two bases forgets it when one comes coded.
func TestReuseWithOtherStorage(t *testing.T) {
	const n = 300
	rng := rand.New(rand.NewPCG(4, 4))
	l := moments.Layout{Bases: []moments.Basis{{Name: "a", Dim: 2}, {Name: "b", Dim: 3}}, Predictors: [][]int{{0, 1}}, Responses: 1}
	coded := rowset{layout: l, r: mat.NewDense(n, 1, nil)}
	a, b := &design.Codes{D: 2}, mat.NewDense(n, 3, nil)
	for i := range n {
		a.Code = append(a.Code, int32(rng.IntN(2)))
		b.SetRow(i, []float64{rng.Float64(), rng.Float64(), 7})
		coded.r.Set(i, 0, rng.NormFloat64())
	}
	coded.x = []design.Columns{a, design.Dense{Dense: b}}
	full := coded
	full.x = []design.Columns{design.Dense{Dense: b.Slice(0, n, 0, 2).(*mat.Dense)}, design.Dense{Dense: b}}
	chunk := moments.NewChunk(l)
	for _, s := range []rowset{full, coded, full, coded} {
		chunk.Reset()
		s.add(t, chunk, 0, n, 50)
		if !bytes.Equal(marshal(t, chunk.Moments()), marshal(t, s.moments(t, 0, n, n))) {
			t.Error("a chunk's past changes its moments")
		}
	}
}
