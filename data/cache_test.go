package data

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"testing"
)

// counted counts the passes over a table of 10 rows.
type counted struct {
	*Table
	passes int
	fail   error // behind the first batch
}

func (c *counted) Batches(ctx context.Context, columns []string) iter.Seq2[*Batch, error] {
	c.passes++
	return func(yield func(*Batch, error) bool) {
		for b, err := range c.Table.Batches(ctx, columns) {
			if c.fail != nil && b.Row(0) > 0 {
				yield(nil, c.fail)
				return
			}
			if !yield(b, err) {
				return
			}
		}
	}
}

func tenRows(t *testing.T) *counted {
	t.Helper()
	tab := NewTable(10)
	x := make([]float64, 10)
	for i := range x {
		x[i] = float64(i)
	}
	for _, name := range []string{"x", "y"} {
		if err := tab.AddNumeric(name, x); err != nil {
			t.Fatal(err)
		}
	}
	tab.BatchRows = 4
	return &counted{Table: tab}
}

// shown is what a pass yields.
func shown(src Source, columns ...string) string {
	var b strings.Builder
	for batch, err := range src.Batches(context.Background(), columns) {
		if err != nil {
			fmt.Fprint(&b, err)
			break
		}
		v, err := batch.Numeric(columns[0])
		fmt.Fprint(&b, batch.Row(0), v, err, ";")
	}
	return b.String()
}

func TestKeepReadsOnce(t *testing.T) {
	src := tenRows(t)
	want := shown(src.Table, "x", "y")
	k := NewCache(src, 160)
	for range 3 {
		if got := shown(k, "y", "x", "x"); got != want {
			t.Errorf("got %s\nwant %s", got, want)
		}
	}
	if src.passes != 1 || k.Bytes() != 160 {
		t.Errorf("%d passes, %d bytes", src.passes, k.Bytes())
	}
	shown(k, "x") // other columns: theirs stay
	shown(k, "x")
	if src.passes != 2 || k.Bytes() != 80 {
		t.Errorf("other columns: %d passes, %d bytes", src.passes, k.Bytes())
	}
	k.Limit(79)
	shown(k, "x")
	shown(k, "x")
	if src.passes != 4 || k.Bytes() != 0 {
		t.Errorf("a limit below: %d passes, %d bytes", src.passes, k.Bytes())
	}
}

func TestKeepNeedsAWholePass(t *testing.T) {
	src := tenRows(t)
	for _, limit := range []int64{159, 0, -1} {
		k := NewCache(src, limit)
		src.passes = 0
		if shown(k, "x", "y"); shown(k, "x", "y") != shown(src.Table, "x", "y") || src.passes != 2 || k.Bytes() != 0 {
			t.Errorf("limit %d: %d passes, %d bytes", limit, src.passes, k.Bytes())
		}
	}
	k := NewCache(src, 1000)
	for range k.Batches(context.Background(), []string{"x"}) {
		break
	}
	src.fail = errors.New("cut off")
	if got := shown(k, "x"); !strings.HasSuffix(got, "cut off") || k.Bytes() != 0 {
		t.Errorf("%s, %d bytes", got, k.Bytes())
	}
	src.fail = nil
	if got := shown(k, "x"); got != shown(src.Table, "x") {
		t.Error(got)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	for _, err := range k.Batches(ctx, []string{"x"}) {
		if !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	}
}

// Rows that are left out do not hold on to memory.
func TestKeepTrims(t *testing.T) {
	b := NewBatch(2, 0)
	if err := errors.Join(b.SetRows([]int64{3, 9}), b.SetNumeric("x", make([]float64, 2, 4096))); err != nil {
		t.Fatal(err)
	}
	v, err := b.trimmed().Numeric("x")
	if err != nil || cap(v) > 8 || !slices.Equal([]int64{b.trimmed().Row(0), b.trimmed().Row(1)}, []int64{3, 9}) {
		t.Error(cap(v), err)
	}
}
