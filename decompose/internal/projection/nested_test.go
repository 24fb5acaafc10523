package projection_test

import (
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/pho-go/pho/decompose/internal/projection"
)

// TestNestedSmooths: of smooths with a variable in common the one of more variables loses the columns that the other has, or
// the later one of two; others keep theirs.
func TestNestedSmooths(t *testing.T) { byRoute(t, testNestedSmooths) }

func testNestedSmooths(t *testing.T, factor bool) {
	x, z := rows(5)
	combine := func(to *mat.Dense, j int, from *mat.Dense, w, v, constant float64) {
		for i := range n {
			to.Set(i, j, w*from.At(i, 0)+v*from.At(i, 1)+constant)
		}
	}
	combine(x[1], 1, x[0], 2, -3, 5)
	for _, c := range []struct {
		name  string
		a, b  []string
		width int
		note  string
	}{
		{"the second has more", []string{"x"}, []string{"x", "z"}, 4, "1 of 3 columns of b are combinations of others, of the constant, and of the columns of a"},
		{"the first has more", []string{"x", "z"}, []string{"x"}, 4, "1 of 2 columns of a are combinations of others, of the constant, and of the columns of b"},
		{"as many", []string{"x"}, []string{"x"}, 4, "1 of 3 columns of b"},
		{"other variables", []string{"x"}, []string{"z"}, 5, ""},
		{"no smooth", []string{"x"}, nil, 5, ""},
	} {
		m, err := projection.Constrain(sums(t, x, z, factor), 0, []projection.Block{{Variables: c.a}, {Variables: c.b}}, 1e-6)
		if err != nil {
			t.Fatal(err)
		}
		if said := strings.Join(m.Notes(), "\n"); m.Width() != c.width || (said == "") != (c.note == "") || !strings.Contains(said, c.note) {
			t.Errorf("%s: %d columns, notes %q; want %d, %q", c.name, m.Width(), said, c.width, c.note)
		}
	}
	for j := range 3 {
		combine(x[1], j, x[0], float64(j), 1, 0)
	}
	_, err := projection.Constrain(sums(t, x, z, factor), 0, []projection.Block{{Variables: []string{"x"}}, {Variables: []string{"x", "z"}}}, 1e-6)
	if want := `term "b": all its columns are combinations of those of a: leave it out`; err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
}
