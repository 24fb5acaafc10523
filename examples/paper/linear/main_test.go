package main

import (
	"context"
	"strconv"
	"testing"

	"github.com/pho-go/pho/examples/paper/internal/experiment"
	"github.com/pho-go/pho/examples/paper/internal/lineareffects"
)

// TestRun: the shape of the results, and that least squares on 200 rows is better
// than a network of four epochs that starts at 0.
func TestRun(t *testing.T) {
	s := lineareffects.Study{Settings: []lineareffects.Setting{{N: 200, P: 3, Noise: 2, Repetitions: 2}}, Epochs: 4, Hidden: []int{8, 4}}
	tables, err := experiment.Check(t.Context(), t.TempDir(), experiment.Experiment{Name: "linear"}, func(ctx context.Context, e *experiment.Experiment) error { return run(ctx, e, s) })
	if err != nil {
		t.Fatal(err)
	}
	rows := tables["linear.csv"]
	if len(rows) != 1+2*len(estimators) {
		t.Fatalf("%d lines", len(rows))
	}
	rmse := map[string]float64{}
	for _, r := range rows[1:] {
		if rmse[r[4]], err = strconv.ParseFloat(r[5], 64); err != nil {
			t.Fatal(err)
		}
	}
	if !(rmse["least squares"] < 0.3 && rmse["PHO, warm start"] < 0.3 && rmse["unconstrained"] > 1.5 && rmse["PHO"] < rmse["unconstrained"]) {
		t.Errorf("errors %v", rmse)
	}
}
