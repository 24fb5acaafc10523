package basis

import (
	"slices"
	"testing"

	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/decompose"
)

// TestGuessedPeriod: a cyclic smooth of whole numbers whose period nobody gives is told of, since
// December would be January; one of other numbers, or with a period, is not.
func TestGuessedPeriod(t *testing.T) {
	n := 240
	table := data.NewTable(n)
	month, angle := make([]float64, n), make([]float64, n)
	for i := range n {
		month[i], angle[i] = float64(1+i%12), float64(i)*0.31
	}
	if err := table.AddNumeric("month", month); err != nil {
		t.Fatal(err)
	}
	if err := table.AddNumeric("angle", angle); err != nil {
		t.Fatal(err)
	}
	note := `column "month" holds whole numbers from 1 to 12, and without a period these two are taken for one point, so that they have the same effect; if 1 is a step behind 12, as January is behind December, write period = c(1, 13)`
	for text, want := range map[string]string{
		`~ s(month, bs = "cc")`:                            "term s(month): " + note,
		`~ s(month, bs = "cp")`:                            "term s(month): " + note,
		`~ te(month, angle, bs = c("cc", "cr"), k = 5)`:    "term te(month,angle): " + note,
		`~ s(month, bs = "cc", period = c(1, 13))`:         "",
		`~ s(month, bs = "cc", knots = c(1, 13))`:          "",
		`~ s(angle, bs = "cc") + s(month, bs = "cr", k=6)`: "",
		`~ s(angle, bs = "cp")`:                            "",
	} {
		f, err := Parse(text, &Options{Schema: table.Schema()})
		if err != nil {
			t.Fatal(err)
		}
		prepared, err := decompose.PrepareFrom(t.Context(), decompose.RowScans(table), "terms", f.Specs, nil)
		if err != nil {
			t.Fatal(err)
		}
		var notes []string
		for _, p := range prepared {
			notes = append(notes, p.Notes...)
		}
		if want == "" && len(notes) > 0 || want != "" && !slices.Equal(notes, []string{want}) {
			t.Errorf("%s: %q, want %q", text, notes, want)
		}
	}
}
