package folds

import (
	"encoding/csv"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/pho-go/pho/examples/paper/internal/experiment"
)

// TestRNG: set.seed(1); runif(3); sample(10).
func TestRNG(t *testing.T) {
	r := newRNG(1)
	for _, want := range []string{"0.2655087", "0.3721239", "0.5728534"} {
		if got := strconv.FormatFloat(r.uniform(), 'f', 7, 64); got != want {
			t.Errorf("uniform %s, want %s", got, want)
		}
	}
}

// TestAuthorsFolds: all seven sets, every row.
func TestAuthorsFolds(t *testing.T) {
	dir := filepath.Join(experiment.NeedData(t, 2), "paper_folds")
	for _, name := range []string{"airfoil", "concrete", "diabetes", "energy", "forest_fire", "yacht", "naval_compressor"} {
		f, err := os.Open(filepath.Join(dir, name+".csv"))
		if err != nil {
			t.Fatal(err)
		}
		records, err := csv.NewReader(f).ReadAll()
		if f.Close(); err != nil {
			t.Fatal(err)
		}
		var y []float64
		var want []int
		for _, r := range records[1:] {
			v, err := strconv.ParseFloat(r[len(r)-2], 64)
			if err != nil {
				t.Fatal(err)
			}
			k, err := strconv.Atoi(r[len(r)-1])
			if err != nil {
				t.Fatal(err)
			}
			y, want = append(y, v), append(want, k)
		}
		wrong := 0
		for i, k := range Create(y, 10, 1) {
			if k != want[i] {
				wrong++
			}
		}
		if wrong > 0 {
			t.Errorf("%s: %d of %d rows are in other folds", name, wrong, len(y))
		}
	}
}
