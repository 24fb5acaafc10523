package decompose_test

import (
	"bytes"
	"context"
	"errors"
	"iter"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/decompose"
)

// lines writes the parts of all rows, so that runs can be compared to the bit.
type lines struct{ all []float64 }

func (l *lines) Begin(*decompose.Result) error { return nil }
func (l *lines) Columns() []string             { return nil }
func (l *lines) Map(p *decompose.Parts) (any, error) {
	var row []float64
	for k, d := range p.Predictors {
		for i, eta := range d.Eta {
			row = append(append(append(row, d.Row(i)...), d.Unstructured[i], eta), p.Sum(k, i))
		}
	}
	return row, nil
}
func (l *lines) Reduce(part any) error       { l.all = append(l.all, part.([]float64)...); return nil }
func (l *lines) End(*decompose.Result) error { return nil }

// Wherever the outputs of the first pass are kept, the answer is the same bytes and
// the network runs as often as it has to.
func TestKeptOutputsChangeNothing(t *testing.T) { byRoute(t, testKeptOutputsChangeNothing) }

func testKeptOutputsChangeNothing(t *testing.T, route decompose.Route) {
	const n = 10_000 // three chunks, 16 + 16 + 8 evaluations a pass
	const row = 8 * (2*2 + 4)
	tab := table(t, n, 21)
	tab.BatchRows = 777
	dir := t.TempDir()
	var doc, moments []byte
	var parts []float64
	for _, c := range []struct {
		name  string
		keep  int64
		file  bool
		calls int64
	}{
		{"two passes", -1, false, 80},
		{"all in memory", 0, false, 40},
		{"exactly in memory", n * row, false, 40},
		{"two blocks in memory", n*row - 1, false, 48},
		{"one block in memory", 4096 * row, false, 64},
		{"one block in memory, two in the file", 4096 * row, true, 40},
		{"all in the file", -1, true, 40},
		{"a file for nothing", 0, true, 40},
	} {
		for _, workers := range []int{1, 3} {
			var calls atomic.Int64
			m := newFake(2).withTap()
			m.forwards = func() { calls.Add(1) }
			seen := &lines{}
			o := decompose.Options{Projection: decompose.Projection{Route: route}, Resources: decompose.Resources{Workers: workers, OutputMemory: c.keep}, Columns: decompose.Columns{Weights: "w"}, Visitors: []decompose.Visitor{seen}}
			if c.file {
				o.OutputFile = filepath.Join(dir, "zeta")
			}
			r, err := decompose.Decompose(t.Context(), m, tab, &o)
			if err != nil {
				t.Fatalf("%s: %v", c.name, err)
			}
			d, b := encode(t, r)
			if doc == nil {
				doc, moments, parts = d, b, seen.all
			}
			if !bytes.Equal(d, doc) || !bytes.Equal(b, moments) {
				t.Errorf("%s, %d workers: other bytes", c.name, workers)
			}
			for i, v := range seen.all {
				if v != parts[i] {
					t.Errorf("%s, %d workers: part %d is %g, want %g", c.name, workers, i, v, parts[i])
					break
				}
			}
			if len(seen.all) != len(parts) {
				t.Errorf("%s: %d numbers, want %d", c.name, len(seen.all), len(parts))
			}
			if calls.Load() != c.calls {
				t.Errorf("%s, %d workers: %d calls of Forward, want %d", c.name, workers, calls.Load(), c.calls)
			}
			if left, _ := os.ReadDir(dir); len(left) > 0 {
				t.Errorf("%s: %q is left", c.name, left[0].Name())
			}
		}
	}
}

// The file is nobody's but the run's: one that exists is left alone, and nothing is
// left behind by a run that ends early.
func TestOutputFile(t *testing.T) {
	tab := table(t, 9000, 22)
	path := filepath.Join(t.TempDir(), "zeta")
	if err := os.WriteFile(path, []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := decompose.Decompose(t.Context(), newFake(1), tab, &decompose.Options{Resources: decompose.Resources{OutputFile: path}})
	if err == nil || !strings.HasSuffix(err.Error(), `zeta" exists: it would be overwritten; name a new file`) {
		t.Errorf("an existing file: %v", err)
	}
	if raw, err := os.ReadFile(path); err != nil || string(raw) != "mine" {
		t.Errorf("the existing file holds %q, %v", raw, err)
	}
	_, err = decompose.Decompose(t.Context(), newFake(1), tab, &decompose.Options{Resources: decompose.Resources{OutputFile: filepath.Join(path, "in", "a", "file")}})
	if err == nil || !strings.HasPrefix(err.Error(), "decompose: the cache cannot be made: ") {
		t.Errorf("an impossible place: %v", err)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	_, err = decompose.Decompose(ctx, newFake(1), tab, &decompose.Options{Resources: decompose.Resources{OutputMemory: -1, OutputFile: path}, Progress: func(p decompose.Progress) {
		if p.Pass == "contributions" {
			cancel()
		}
	}})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("interrupted: %v", err)
	}
	if _, err := os.Stat(path); !os.IsNotExist(err) {
		t.Errorf("interrupted, the file is there: %v", err)
	}
}

// growing has other rows in its second pass.
type growing struct {
	*data.Table
	then *data.Table
	pass int
}

func (g *growing) Batches(ctx context.Context, columns []string) iter.Seq2[*data.Batch, error] {
	g.pass++
	if g.pass > 1 {
		return g.then.Batches(ctx, columns)
	}
	return g.Table.Batches(ctx, columns)
}

func TestOtherRowsInTheSecondPass(t *testing.T) {
	for _, rows := range []int{4000, 6000, 9000} {
		for _, keep := range []int64{-1, 0} {
			src := &growing{Table: table(t, 5000, 3), then: table(t, rows, 3)}
			_, err := decompose.Decompose(t.Context(), newFake(1), src, &decompose.Options{Resources: decompose.Resources{OutputMemory: keep}})
			if err == nil || !strings.Contains(err.Error(), "other rows in the second pass") {
				t.Errorf("%d rows, then %d, keep %d: %v", 5000, rows, keep, err)
			}
		}
	}
}

// Outputs that are kept serve a second decomposition of the same network, to the same bytes as a first one.
func TestKeptBetweenCalls(t *testing.T) {
	tab := table(t, 10_000, 21)
	var calls atomic.Int64
	m := newFake(2).withTap()
	m.forwards = func() { calls.Add(1) }
	kept := new(decompose.KeptOutputs)
	defer kept.Close()
	var docs [][]byte
	for range 2 {
		r, err := decompose.Decompose(t.Context(), m, tab, &decompose.Options{Resources: decompose.Resources{Kept: kept}})
		if err != nil {
			t.Fatal(err)
		}
		doc, moments := encode(t, r)
		docs = append(docs, append(doc, moments...))
	}
	if calls.Load() != 40 || !bytes.Equal(docs[0], docs[1]) { // 40 evaluations are one pass
		t.Errorf("the network ran %d times, want 40; equal bytes: %v", calls.Load(), bytes.Equal(docs[0], docs[1]))
	}
}
