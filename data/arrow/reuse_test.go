package arrow_test

import (
	"context"
	"math"
	"path/filepath"
	"testing"

	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/data/arrow"
)

// TestReuse: a loop that is done with each batch finds the same numbers, to the bit, some of them
// where others were; rows that are kept stay where they are without the option.
func TestReuse(t *testing.T) {
	files, err := filepath.Glob("../files/testdata/golden/rows*.arrow")
	if err != nil || len(files) == 0 {
		t.Fatal("no files", err)
	}
	again := 0
	for _, file := range files {
		for _, workers := range []int{1, 2} {
			var kept [][]float64
			places := map[*float64]bool{}
			read(t, file, &arrow.Options{BatchRows: 7, Workers: workers, NA: data.NAKeep}, func(x []float64) {
				if places[&x[0]] {
					t.Fatalf("%s: rows lie where others were", file)
				}
				places[&x[0]] = true
				kept = append(kept, x)
			})
			clear(places)
			at := 0
			read(t, file, &arrow.Options{BatchRows: 7, Workers: workers, NA: data.NAKeep, Reuse: true}, func(x []float64) {
				for i, v := range x {
					if math.Float64bits(v) != math.Float64bits(kept[at][i]) {
						t.Fatalf("%s, %d workers, run %d: %v, want %v", file, workers, at, x, kept[at])
					}
				}
				if places[&x[0]] {
					again++
				}
				places[&x[0]] = true
				at++
			})
		}
	}
	if again == 0 {
		t.Error("no memory was used again")
	}
}

// read shows the numbers of every batch, column by column.
func read(t *testing.T, file string, o *arrow.Options, show func([]float64)) {
	t.Helper()
	rows, err := arrow.Open([]string{file}, o)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	var names []string
	for _, c := range rows.Schema() {
		if c.Numeric {
			names = append(names, c.Name)
		}
	}
	for b, err := range rows.Batches(context.Background(), names) {
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range names {
			x, err := b.Numeric(name)
			if err != nil {
				t.Fatal(err)
			}
			show(x)
		}
	}
}
