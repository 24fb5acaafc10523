package main

import (
	"context"
	"math"
	"math/rand/v2"
	"strconv"
	"testing"

	"github.com/pho-go/pho/examples/paper/internal/experiment"
)

// TestRun: with fewer test rows than structured columns the whole deep part is
// lost, whatever the batch; larger batches lose less; the training rows' alpha
// loses nothing that switching the projection off keeps.
func TestRun(t *testing.T) {
	s := study{cells: []cell{{published, 3000, 6, 100}, {overlap, 1000, 2, 100}}, repetitions: 1, batches: []int{1, 10, 100, 1000, 10000}, test: 2000}
	tables, err := experiment.Check(t.Context(), t.TempDir(), experiment.Experiment{Name: "onoerror"}, func(ctx context.Context, e *experiment.Experiment) error { return run(ctx, e, s) })
	if err != nil {
		t.Fatal(err)
	}
	rows := tables["onoerror.csv"]
	if len(rows) != 1+2*len(s.batches) {
		t.Fatalf("%d lines", len(rows))
	}
	value := func(row, column int) float64 {
		v, err := strconv.ParseFloat(rows[row][column], 64)
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	on := func(k int) float64 { return value(1+k, 4) }
	off, deep := value(1, 5), value(1, 7)
	if on(0) != on(1) || !(on(1) > on(2) && on(2) > on(3)) {
		t.Errorf("errors %g, %g, %g, %g of batches of 1, 10, 100, 1000", on(0), on(1), on(2), on(3))
	}
	if got := (on(2) - value(3, 6)) / deep; math.Abs(got-0.1) > 0.05 {
		t.Errorf("excess error of batches of 100: %g of the deep part's square, want about 0.1", got)
	}
	if math.Abs(off-value(1, 6)) > 0.1*off {
		t.Errorf("errors %g without projection and %g with the training rows' alpha", off, value(1, 6))
	}
	// X among Z: all test rows in one batch are as good as the training rows' alpha,
	// without projection the network says something else.
	first := 1 + len(s.batches)
	whole, off, alpha := value(first+3, 4), value(first, 5), value(first, 6)
	if math.Abs(whole-alpha) > math.Abs(off-alpha)/3 {
		t.Errorf("X among Z: errors %g in one batch, %g with the training rows' alpha, %g without projection", whole, alpha, off)
	}
}

func TestSlope(t *testing.T) {
	if got := slope([]int{10, 50, 100, 500, 1000}, []float64{1, 0.2, 0.1, 0.02, -1}); math.Abs(got+1) > 1e-12 {
		t.Errorf("slope %g of 10/b", got)
	}
}

// TestDraw: the response is the sum of its parts.
func TestDraw(t *testing.T) {
	tab, err := cell{design: published}.draw(rand.New(rand.NewPCG(1, 1)), 5000)
	if err != nil {
		t.Fatal(err)
	}
	for b, err := range tab.Batches(t.Context(), []string{"y", "z0", "z1"}) {
		if err != nil {
			t.Fatal(err)
		}
		y, _ := b.Numeric("y")
		z0, _ := b.Numeric("z0")
		z1, _ := b.Numeric("z1")
		s := 0.0
		for i := range y {
			e := y[i] - math.Sin(z0[i]) - z1[i]*z1[i]
			s += e * e
		}
		if v := s / float64(len(y)); math.Abs(v-1) > 0.07 {
			t.Errorf("the error has mean square %g", v)
		}
	}
}
