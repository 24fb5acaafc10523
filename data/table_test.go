package data

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"gonum.org/v1/gonum/mat"
)

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func smallTable(t *testing.T) *Table {
	t.Helper()
	table := NewTable(5)
	check(t, table.AddNumeric("x", []float64{1, 2, 3, 4, 5}))
	check(t, table.AddTexts("city", []string{"Bern", "Rome", "Bern", "Oslo", "Rome"}))
	check(t, table.AddFactor("dow", []float64{3, 1, 1, 3, 1e15}))
	check(t, table.AddTensor("u", mat.NewDense(5, 2, []float64{1, 2, 3, 4, 5, 6, 7, 8, 9, 10})))
	return table
}

func TestTableReadsBack(t *testing.T) {
	table := smallTable(t)
	wantSchema := Schema{{Name: "x", Numeric: true}, {Name: "city", Categorical: true},
		{Name: "dow", Numeric: true, Categorical: true}, {Name: "u", Width: 2}}
	if d := cmp.Diff(wantSchema, table.Schema()); d != "" {
		t.Error(d)
	}
	const want = `[0 1 2 3 4]
dow [3 1 1 3 1e+15]
x [1 2 3 4 5]
city ["Bern" "Rome" "Bern" "Oslo" "Rome"] [0 1 0 2 1]
dow ["3" "1" "1" "3" "1e+15"] [0 1 1 0 2]
`
	first := all(table)
	if got := first.String(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	for _, rows := range []int{1, 2, 3, 5, 100} {
		table.BatchRows = rows
		got := all(table)
		if d := cmp.Diff(first.uncut(), got.uncut()); d != "" {
			t.Errorf("batches of %d rows: %s", rows, d)
		}
		if got.Sizes[0] != min(rows, 5) {
			t.Errorf("batches of %d rows: the first has %d", rows, got.Sizes[0])
		}
	}
}

func TestTableYieldsOnlyWhatIsAsked(t *testing.T) {
	for b, err := range smallTable(t).Batches(context.Background(), []string{"x"}) {
		check(t, err)
		if _, err := b.Numeric("x"); err != nil {
			t.Error(err)
		}
		if _, err := b.Tensor("u"); err == nil {
			t.Error("a tensor nobody asked for")
		}
	}
}

func TestTableRefuses(t *testing.T) {
	table := smallTable(t)
	for name, c := range map[string]struct {
		err  error
		want string
	}{
		"length":       {table.AddNumeric("y", make([]float64, 4)), `data: column "y" has 4 values, the table 5 rows`},
		"text length":  {table.AddTexts("y", make([]string, 6)), `data: column "y" has 6 cells, the table 5 rows`},
		"tensor rows":  {table.AddTensor("y", mat.NewDense(2, 2, nil)), `data: column "y" has 2 rows, the table 5 rows`},
		"nil tensor":   {table.AddTensor("y", nil), `data: column "y" has 0 rows, the table 5 rows`},
		"no columns":   {NewTable(0).AddTensor("y", &mat.Dense{}), `data: tensor "y" has no columns`},
		"taken":        {table.AddTexts("x", make([]string, 5)), `data: the table already has a column "x"`},
		"no name":      {table.AddNumeric("", make([]float64, 5)), `data: a column of a table needs a name`},
		"NaN":          {table.AddNumeric("y", []float64{0, 0, math.NaN(), 0, 0}), `data: column "y" is NaN at row 2: leave out or replace such rows first`},
		"Inf in facts": {table.AddFactor("y", []float64{0, math.Inf(-1), 0, 0, 0}), `data: column "y" is -Inf at row 1: leave out or replace such rows first`},
		"Inf tensor":   {table.AddTensor("y", mat.NewDense(5, 1, []float64{0, 0, 0, math.Inf(1), 0})), `data: tensor "y" is +Inf at row 3, position 0: leave out or replace such rows first`},
	} {
		if got := message(c.err); got != c.want {
			t.Errorf("%s: got %q, want %q", name, got, c.want)
		}
	}
	if n := len(table.Schema()); n != 4 {
		t.Errorf("refused columns were added: %d", n)
	}
	got := flatten(table.Batches(context.Background(), []string{"x", "Cyty"})).Err
	if want := `data: no column "Cyty" in the table; the nearest name is "city"`; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestTableStopsWhenCancelled(t *testing.T) {
	table := smallTable(t)
	table.BatchRows = 2
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	batches := 0
	for _, err := range table.Batches(ctx, nil) {
		if err != nil {
			if !errors.Is(err, context.Canceled) || batches != 1 {
				t.Errorf("%v after %d batches", err, batches)
			}
			return
		}
		batches++
		cancel()
	}
	t.Error("the pass went on")
}

func TestLevelText(t *testing.T) {
	for v, want := range map[float64]string{
		0: "0", math.Copysign(0, -1): "0", 1: "1", -3: "-3", 1e6: "1000000", 123456789012345: "123456789012345",
		1e15: "1e+15", 0.5: "0.5", 1e-7: "1e-07", 2.50: "2.5", math.MaxFloat64: "1.7976931348623157e+308",
	} {
		if got := LevelText(v); got != want {
			t.Errorf("LevelText(%v) = %q, want %q", v, got, want)
		}
	}
}

// Texts set batch by batch keep the codes of the batches before, which stay as they are.
func TestSetTexts(t *testing.T) {
	var levels []string
	var batches []*Batch
	for _, cells := range [][]string{{"b", "a", "b"}, {"c", "a"}, {"d", "b"}} {
		b := NewBatch(len(cells), 0)
		var err error
		if levels, err = b.SetTexts("x", cells, levels); err != nil {
			t.Fatal(err)
		}
		batches = append(batches, b)
	}
	for i, want := range []Codes{
		{[]int32{0, 1, 0}, []string{"b", "a"}, nil}, {[]int32{2, 1}, []string{"b", "a", "c"}, nil}, {[]int32{3, 0}, []string{"b", "a", "c", "d"}, nil},
	} {
		got, err := batches[i].Codes("x")
		if err != nil || !slices.Equal(got.Index, want.Index) || !slices.Equal(got.Levels, want.Levels) {
			t.Errorf("batch %d: %v, %v, want %v", i, got, err, want)
		}
	}
	if _, err := NewBatch(2, 0).SetTexts("x", []string{"a"}, nil); err == nil {
		t.Error("one cell for two rows")
	}
	apart := slices.Grow([]string{"a"}, 4) // two batches behind one do not write into each other
	first, _ := NewBatch(1, 0).SetTexts("x", []string{"b"}, apart)
	if _, err := NewBatch(1, 0).SetTexts("x", []string{"c"}, apart); err != nil || first[1] != "b" {
		t.Errorf("levels %q: %v", first, err)
	}
}

// An ordered column has its order in every batch; a cell outside of it is refused by its row.
func TestAddOrdered(t *testing.T) {
	order := []string{"low", "middle", "high"}
	tab := NewTable(3)
	tab.BatchRows = 2
	check(t, tab.AddOrdered("size", []string{"high", "low", "high"}, order))
	batches := 0
	for b, err := range tab.Batches(t.Context(), []string{"size"}) {
		check(t, err)
		codes, err := b.Codes("size")
		check(t, err)
		if diff := cmp.Diff([][]string{order}, codes.Declared); diff != "" {
			t.Error(diff)
		}
		batches++
	}
	if batches != 2 {
		t.Errorf("%d batches", batches)
	}
	if err := NewTable(2).AddOrdered("size", []string{"low", "huge"}, order); err == nil || !strings.Contains(err.Error(), `column "size", row 2: "huge" is none of`) {
		t.Error(err)
	}
}
