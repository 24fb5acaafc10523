package plan

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/decompose"
)

// lines is a network that computes a column, beside lines of many.
type lines struct{ blocks []decompose.Block }

func (l *lines) Predictors() []string         { return []string{"eta"} }
func (l *lines) Columns() []string            { return []string{"x0"} }
func (l *lines) Intercept(int) float64        { return 0 }
func (l *lines) Taps() map[string]int         { return nil }
func (l *lines) Blocks(int) []decompose.Block { return l.blocks }
func (l *lines) Forward(_ context.Context, dst *decompose.Outputs, b *data.Batch) error {
	x, err := b.Numeric("x0")
	for i, v := range x {
		dst.Zeta.Set(i, 0, v)
		dst.Eta.Set(i, 0, v)
	}
	return err
}

// Ten thousand parts of statistics of 100 columns merge in the memory of a few. With PHO_LONG alone: it writes
// 400 MB.
func TestMergeManyStatistics(t *testing.T) {
	if os.Getenv("PHO_LONG") == "" {
		t.Skip("only with PHO_LONG")
	}
	const n, p = 10_000, 100
	m, tab := &lines{}, data.NewTable(1)
	for j := range p {
		name := fmt.Sprintf("x%d", j)
		if err := tab.AddNumeric(name, []float64{float64(j*j%17) + 0.5}); err != nil {
			t.Fatal(err)
		}
		m.blocks = append(m.blocks, decompose.Block{Term: &decompose.LinearTerm{Column: name}})
	}
	dir := t.TempDir()
	paths := make([]string, n)
	for i := range n {
		s, err := decompose.Accumulate(t.Context(), m, tab, &decompose.Options{Resources: decompose.Resources{FirstChunk: i, Workers: 1}})
		if err != nil {
			t.Fatal(err)
		}
		part, err := NewPart(partOf(t, func(h *Header) { h.Pass = Fit }, i).Header, s)
		if err != nil {
			t.Fatal(err)
		}
		paths[(i*7919)%n] = filepath.Join(dir, fmt.Sprint(i))
		f, err := os.Create(paths[(i*7919)%n])
		if err != nil {
			t.Fatal(err)
		}
		if _, err := part.WriteTo(f); err != nil {
			t.Fatal(err)
		}
		f.Close()
	}
	runtime.GC()
	began := time.Now()
	total, err := Merge(t.Context(), paths)
	if err != nil {
		t.Fatal(err)
	}
	var after runtime.MemStats
	runtime.ReadMemStats(&after)
	t.Logf("%d parts of %d bytes: %v, %d MB from the system", n, len(total.Payload), time.Since(began), after.Sys>>20)
	if after.Sys > 400<<20 {
		t.Errorf("the merge took %d MB", after.Sys>>20)
	}
}
