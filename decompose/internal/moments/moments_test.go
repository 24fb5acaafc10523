package moments_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"

	"github.com/pho-go/pho/decompose/internal/moments"
	"github.com/pho-go/pho/design"
)

// rowset is some rows of a layout, to be cut at will.
// awkward makes rows with means up to 1e6 times the standard deviation: a dense
// year-like basis, a B-spline-like basis, coded levels, numeric codes.
// add feeds rows i to j-1 to b in batches.
// direct computes the centred products with 200 bits in two passes.
// against compares m with exact values: entries relative to the standard
// deviations of their columns.
// met tells whether two columns' bases meet in a predictor.
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
// Batches of any size, and any earlier use of the chunk, give the same bytes.
// A term may come sparse or dense, even in one chunk: the sums agree.
// difference is the largest difference of two moments relative to the columns'
// standard deviations, or relative to the value for means and sums.
func TestPredictor(t *testing.T) {
	s := awkward(400, true, 2)
	m := s.moments(t, 0, 400, 400)
	v := m.Predictor(1)
	if fmt.Sprint(v.Bases, v.Starts) != "[1 3 5 7] [0 8 11 20 25]" {
		t.Fatalf("bases %v, starts %v", v.Bases, v.Starts)
	}
	at := func(j int) int {
		if j < 8 {
			return 3 + j
		}
		if j < 11 {
			return 15 + j - 8
		}
		if j < 20 {
			return 19 + j - 11 // after the basis in one column
		}
		return 34 + j - 20
	}
	for i := range 25 {
		if v.XR[i] != m.XR.At(at(i), 1) || v.Mean[i] != m.Mean[at(i)] || v.Sum[i] != m.Sum[at(i)] {
			t.Errorf("column %d of the view", i)
		}
		for j := range 25 {
			if v.XX.At(i, j) != m.XX.At(at(i), at(j)) {
				t.Errorf("product (%d,%d) of the view", i, j)
			}
		}
	}
	if v.RR != m.RR.At(1, 1) || v.MeanR != m.MeanR[1] || v.MaxRowNorm[1] != m.MaxRowNorm[3] || v.SumW != m.SumW || v.Rows != 400 || v.Positive != m.Positive || v.SumLogW != m.SumLogW {
		t.Error("scalars of the view")
	}

	// Raw products are those of the raw columns.
	x := mat.NewDense(400, 25, nil)
	for i, b := range v.Bases {
		if err := design.ToDense(x.Slice(0, 400, v.Starts[i], v.Starts[i+1]).(*mat.Dense), s.x[b]); err != nil {
			t.Fatal(err)
		}
	}
	xx, xr, rr := v.Raw()
	want, wantR := mat.NewDense(25, 25, nil), mat.NewDense(25, 1, nil)
	z := s.r.Slice(0, 400, 1, 2).(*mat.Dense)
	if err := design.AddCross(want, design.Dense{Dense: x}, design.Dense{Dense: x}, s.w); err != nil {
		t.Fatal(err)
	}
	if err := new(design.Work).AddTMul(wantR, design.Dense{Dense: x}, s.w, z); err != nil {
		t.Fatal(err)
	}
	wantRR := 0.0
	for i, w := range s.w {
		wantRR += w * z.At(i, 0) * z.At(i, 0)
	}
	if !mat.EqualApprox(xx, want, 1e-10) || !mat.EqualApprox(mat.NewDense(25, 1, xr), wantR, 1e-10) || math.Abs(rr-wantRR) > 1e-10 {
		t.Error("raw products")
	}

	v.XX.(*mat.SymDense).SetSym(0, 0, -1)
	v.Mean[0] = -1
	if m.XX.At(3, 3) == -1 || m.Mean[3] == -1 {
		t.Error("the view shares memory with the moments")
	}
	if v := m.Predictor(2); v.XX != nil || v.Bases != nil {
		t.Error("a predictor that is not there has the zero view")
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
		b := moments.NewChunk(l)
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
