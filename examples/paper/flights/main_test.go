package main

import (
	"encoding/csv"
	"os"
	"path/filepath"
	"testing"

	"github.com/pho-go/pho/examples/paper/internal/experiment"
)

// TestRun fits both sets to few rows, for two epochs.
func TestRun(t *testing.T) {
	e := &experiment.Experiment{Name: "flights", Seed: 1, Out: t.TempDir(), Data: experiment.NeedData(t, 1)}
	if err := runWith(t.Context(), e, setting{Step: 60, Least: 8, Epochs: 1, Sets: 2}); err != nil {
		t.Fatal(err)
	}
	for name, rows := range map[string]int{"flights_nyc_effects.csv": 501, "flights_asa_effects.csv": 501, "flights_variance.csv": 5} {
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
