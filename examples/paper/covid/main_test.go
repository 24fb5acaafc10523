package main

import (
	"encoding/csv"
	"os"
	"path/filepath"
	"testing"

	"github.com/pho-go/pho/examples/paper/internal/experiment"
)

// TestRun fits everything to every 300th row, for a few epochs.
func TestRun(t *testing.T) {
	e := &experiment.Experiment{Name: "covid", Seed: 1, Out: t.TempDir(), Data: experiment.NeedData(t, 1)}
	if err := runWith(t.Context(), e, setting{Step: 300, Epochs: 2, EpochsNAM: 2}); err != nil {
		t.Fatal(err)
	}
	for name, rows := range map[string]int{"covid_effects.csv": 4*60 + 1, "covid_variance.csv": 5 + 1} {
		f, err := os.Open(filepath.Join(e.Out, name))
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		all, err := csv.NewReader(f).ReadAll()
		if err != nil || len(all) != rows {
			t.Errorf("%s has %d rows, want %d (%v)", name, len(all), rows, err)
		}
	}
}
