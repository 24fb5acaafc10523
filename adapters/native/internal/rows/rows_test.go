package rows

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/pho-go/pho/data"
)

// table has numbers, a column of text and a numeric factor.
func table(t *testing.T) *data.Table {
	t.Helper()
	tab := data.NewTable(5)
	if err := tab.AddNumeric("x", []float64{5, 4, 3, 2, 1}); err != nil {
		t.Fatal(err)
	}
	if err := tab.AddTexts("g", []string{"b", "a", "b", "c", "a"}); err != nil {
		t.Fatal(err)
	}
	return tab
}

// TestFrame: the rows that were read, picked out of order and with a further column, are
// those of the table, and know their numbers.
func TestFrame(t *testing.T) {
	ctx := context.Background()
	all, err := Read(ctx, table(t), []string{"x", "g"})
	if err != nil {
		t.Fatal(err)
	}
	some, err := all.Subset([]int{3, 0})
	if err != nil {
		t.Fatal(err)
	}
	more, err := some.With([]string{"z"}, [][]float64{{7, 8}})
	if err != nil {
		t.Fatal(err)
	}
	for b, err := range more.Batches(ctx, nil) {
		if err != nil {
			t.Fatal(err)
		}
		x, _ := b.Numeric("x")
		z, _ := b.Numeric("z")
		text, err := Text(b, "g")
		if err != nil || !slices.Equal(x, []float64{2, 5}) || !slices.Equal(z, []float64{7, 8}) || text(0)+text(1) != "cb" || b.Row(0) != 3 || b.Row(1) != 0 {
			t.Errorf("x %v, z %v, rows %d and %d, %v", x, z, b.Row(0), b.Row(1), err)
		}
	}
	if _, err := some.Batch.Numeric("z"); err == nil {
		t.Error("the frame that got no column has it")
	}
	if _, err := Read(ctx, table(t), []string{"q"}); err == nil || !strings.Contains(err.Error(), `no column "q" in the data, which has ["x" "g"]`) {
		t.Errorf("a column that is not there: %v", err)
	}
}

// TestCodes: levels are sorted, codes are their places, and a text that is none of them is
// an error that names the row.
func TestCodes(t *testing.T) {
	all, err := Read(context.Background(), table(t), []string{"x", "g"})
	if err != nil {
		t.Fatal(err)
	}
	levels, err := Levels(all.Batch, "g")
	if err != nil || !slices.Equal(levels, []string{"a", "b", "c"}) {
		t.Fatalf("levels %q, %v", levels, err)
	}
	codes, err := Codes(all.Batch, "g", levels)
	if err != nil || !slices.Equal(codes, []int32{1, 0, 1, 2, 0}) {
		t.Errorf("codes %v, %v", codes, err)
	}
	if _, err := Codes(all.Batch, "g", levels[:2]); err == nil || !strings.Contains(err.Error(), `column "g", data row 4: level "c" was not among the training rows`) {
		t.Errorf("an unknown level: %v", err)
	}
	if err := all.AddCodes(map[string][]string{"g": levels}); err != nil {
		t.Fatal(err)
	}
	if v, err := all.Batch.Numeric("g"); err != nil || !slices.Equal(v, []float64{1, 0, 1, 2, 0}) || !all.Columns[1].Numeric {
		t.Errorf("numbers of g %v, %v", v, err)
	}
}
