package report

import (
	"fmt"
	"slices"
	"testing"

	"github.com/pho-go/pho/decompose"
)

// Warnings that differ in names alone are one note, others stay apart.
func TestGrouped(t *testing.T) {
	t.Parallel()
	r := &decompose.Result{Features: []decompose.Feature{{Name: "age"}}}
	for _, class := range []string{"a", "b", "c"} {
		p := decompose.Predictor{Name: class}
		for _, x := range []string{"x1", "x2", "ave rooms"} {
			p.Terms = append(p.Terms, decompose.TermResult{Name: "s(" + x + ")", Features: []string{x}})
		}
		r.Predictors = append(r.Predictors, p)
	}
	many := func(format string, values ...string) (out []string) {
		for _, v := range values {
			out = append(out, fmt.Sprintf(format, v))
		}
		return out
	}
	for _, c := range []struct {
		warnings []string
		texts    int
		also     string
	}{
		{many(`term s(%[1]s): column "%[1]s" has more than 2000 values`, "x1", "x2", "ave rooms"), 1, "the same of s(x2), s(ave rooms)"},
		{many("%s: 1 of 9 columns are spanned by others: s(x1).9", "a", "b", "c"), 1, "the same of b, c"},
		{[]string{"a: only s(x1) is seen", "b: only s(x2) is seen"}, 1, "the same of b: s(x2)"},
		{[]string{"a: 1 of 9 columns", "b: 2 of 9 columns"}, 2, ""},
		{[]string{`input "x" is odd`, `input "y" is odd`, `output "y" is odd`}, 2, "the same of y"},
		{many("column %s is constant", "x1", "x2", "age", "x1"), 1, "the same of x2, age, x1"},
		{[]string{"", "", "a: "}, 2, "the same of "},
	} {
		notes := Grouped(c.warnings, r)
		if len(notes) != c.texts || notes[0].Text != c.warnings[0] || notes[0].Also(3) != c.also {
			t.Errorf("%q: %q, %q", c.warnings, notes, notes[0].Also(3))
		}
	}
	n := Note{Same: []string{"a", "b", "c", "d", "e"}}
	if got := n.Also(2); got != "the same of a, b, 3 more" {
		t.Error(got)
	}
	if !slices.Equal(n.Same, []string{"a", "b", "c", "d", "e"}) {
		t.Error("the names changed")
	}
}

// Any text is grouped without a loss: as many notes and names as there are warnings that
// differ.
func FuzzGrouped(f *testing.F) {
	f.Add(`a: x "b" s(x).9, x`, `b: x "c" s(x).9, x`)
	f.Add(`"`, `""`)
	r := &decompose.Result{Predictors: []decompose.Predictor{{Name: "a", Terms: []decompose.TermResult{{Name: "s(x)", Features: []string{"x", ""}}}}, {Name: "b"}}}
	f.Fuzz(func(t *testing.T, one, two string) {
		notes := Grouped([]string{one, two}, r)
		if notes[0].Text != one || len(notes) == 2 && notes[1].Text != two || len(notes) == 1 && len(notes[0].Same) != 1 {
			t.Errorf("%q, %q: %q", one, two, notes)
		}
	})
}
