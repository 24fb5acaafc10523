package main

import (
	"context"
	"strconv"
	"testing"

	"github.com/pho-go/pho/examples/paper/internal/experiment"
)

// TestRun: the shape of the results, and that on rows enough PHOGAM of a network
// that starts at the GAM is about as good as that, the network as published, in
// few epochs, not.
func TestRun(t *testing.T) {
	s := study{cells: []cell{{300, 1, 8, 2, ono(2), 1}}, steps: 1, epochs: 3, functions: 3, grid: 5}
	tables, err := experiment.Check(t.Context(), t.TempDir(), experiment.Experiment{Name: "nonlinear"}, func(ctx context.Context, e *experiment.Experiment) error { return run(ctx, e, s) })
	if err != nil {
		t.Fatal(err)
	}
	rows := tables["nonlinear.csv"]
	if want := 1 + 3*(2*(len(methods)-1)+1); len(rows) != want {
		t.Fatalf("%d lines, want %d", len(rows), want)
	}
	sum := map[string]float64{}
	for _, r := range rows[1:] {
		v, err := strconv.ParseFloat(r[6], 64)
		if err != nil {
			t.Fatal(err)
		}
		sum[r[4]] += v
	}
	if !(sum["PHOGAM, ours"] < 1.3*sum["GAM"] && sum["PHOGAM"] > 1.5*sum["GAM"]) {
		t.Errorf("sums of errors %v", sum)
	}
}
