package main

import (
	"context"
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"testing"

	"github.com/pho-go/pho/data"
)

// TestGenerate reads the files of a table and compares them with its blocks: a row
// is the same in a table of any length.
func TestGenerate(t *testing.T) {
	const rows = blockRows + 3000
	dir := t.TempDir()
	if err := generate(dir, rows); err != nil {
		t.Fatal(err)
	}
	src, err := open([]string{filepath.Join(dir, "*.parquet")})
	if err != nil {
		t.Fatal(err)
	}
	w, block := newWorld(seed), 0
	for b, err := range data.Rebatch(src.Batches(context.Background(), src.Schema().Names()), blockRows) {
		if err != nil {
			t.Fatal(err)
		}
		want, err := w.block(block, blockRows) // of which the last is a part
		if err != nil {
			t.Fatal(err)
		}
		block++
		want = want.Slice(0, b.Rows())
		for _, name := range numbers {
			got, err := b.Numeric(name)
			same, _ := want.Numeric(name)
			if err != nil || !slices.Equal(got, same) {
				t.Errorf("block %d: %s differs (%v)", block, name, err)
			}
		}
		for _, name := range categories {
			got, err := b.Codes(name)
			if err != nil {
				t.Fatal(err)
			}
			same, _ := want.Codes(name)
			for i := range got.Index {
				if got.Levels[got.Index[i]] != same.Levels[same.Index[i]] {
					t.Fatalf("block %d, row %d: %s differs", block, i, name)
				}
			}
		}
	}
	if block != 2 {
		t.Errorf("%d blocks", block)
	}
}

// TestWorld: the shares are skewed, every airport has routes from and to it, and
// routes are what they are named.
func TestWorld(t *testing.T) {
	w := newWorld(seed)
	from, to := map[int32]bool{}, map[int32]bool{}
	for k, r := range w.routes {
		from[r.origin], to[r.dest] = true, true
		if r.origin == r.dest || w.route[k] != w.airport[r.origin]+w.airport[r.dest] {
			t.Errorf("route %d is %+v, %s", k, r, w.route[k])
		}
		if math.Abs(r.until[len(r.until)-1]-1) > 1e-12 {
			t.Errorf("route %d: the shares of carriers end at %v", k, r.until)
		}
	}
	if len(w.routes) != routes || len(from) != airports || len(to) != airports {
		t.Error(len(w.routes), len(from), len(to))
	}
}

// TestAlias: positions come as often as their weights say.
func TestAlias(t *testing.T) {
	weights := []float64{1, 0, 5, 0.1, 3.9}
	a, random := newAlias(weights), rand.New(rand.NewPCG(1, 2))
	const n = 200_000
	counts := make([]float64, len(weights))
	for range n {
		counts[a.draw(random)]++
	}
	for i, v := range weights {
		p := v / 10
		if sd := math.Sqrt(n * p * (1 - p)); math.Abs(counts[i]-n*p) > 5*sd {
			t.Errorf("weight %g: %g of %d", v, counts[i], n)
		}
	}
}
