package main

import (
	"context"
	"slices"
	"testing"

	"github.com/pho-go/pho/examples/paper/internal/experiment"
	"github.com/pho-go/pho/examples/paper/internal/lineareffects"
)

func TestRun(t *testing.T) {
	s := lineareffects.Study{Settings: []lineareffects.Setting{{N: 60, P: 1, Repetitions: 2}, {N: 60, P: 3, Noise: 2, Repetitions: 2}}, Epochs: 4, Hidden: []int{8, 4}}
	tables, err := experiment.Check(t.Context(), t.TempDir(), experiment.Experiment{Name: "convergence"}, func(ctx context.Context, e *experiment.Experiment) error { return run(ctx, e, s) })
	if err != nil {
		t.Fatal(err)
	}
	rows := tables["convergence.csv"]
	if len(rows) != 1+2*2*3 {
		t.Fatalf("%d lines", len(rows))
	}
	if want := []string{"60", "3", "5", "1", "ONO", "4", "false"}; !slices.Equal(rows[11], want) {
		t.Errorf("line %v, want %v", rows[11], want)
	}
}
