package wiring

import (
	"slices"
	"testing"
)

// Classes are called as their columns, without what all begin with up to its first separator; responses may
// write them otherwise.
func TestNamesOfPredictions(t *testing.T) {
	for _, c := range []struct{ columns, names, spelled []string }{
		{[]string{"p_a", "p_b"}, []string{"a", "b"}, []string{"p_a", "p_b", "a", "b"}},
		{[]string{"prediction very good", "prediction very bad"}, []string{"very good", "very bad"}, []string{"prediction very good", "prediction very bad", "good", "bad"}},
		{[]string{"prob_class_0", "prob_class_1"}, []string{"class_0", "class_1"}, []string{"prob_class_0", "prob_class_1", "0", "1"}},
		{[]string{"_p a", "_p b"}, []string{"a", "b"}, []string{"_p a", "_p b", "a", "b"}},
		{[]string{"mu", "sigma"}, []string{"mu", "sigma"}, nil},
		{[]string{"pa", "pb"}, []string{"pa", "pb"}, nil},
		{[]string{"p_", "p_b"}, []string{"p_", "p_b"}, nil}, // one would have no name
		{[]string{"p"}, []string{"p"}, nil},
	} {
		if got := (&Predictions{Columns: c.columns}).names(); !slices.Equal(got, c.names) {
			t.Errorf("%q are called %q, want %q", c.columns, got, c.names)
		}
		if got := spellings(c.columns); c.spelled != nil && !slices.Equal(got, c.spelled) {
			t.Errorf("%q are spelled %q, want %q", c.columns, got, c.spelled)
		}
	}
}
