package interaction

import "testing"

// TestMaxEDF: the columns of each kind of term beside those of its margins.
func TestMaxEDF(t *testing.T) {
	x, few := &scale{name: "x", distinct: 900}, &scale{name: "few", distinct: 3}
	bit, coded := &scale{name: "bit", distinct: 2}, &scale{name: "coded", factor: true, coded: true, distinct: 6}
	text, many := &scale{name: "text", factor: true, distinct: 4}, &scale{name: "many", factor: true, distinct: 163}
	for _, c := range []struct {
		a, b *scale
		want int
	}{
		{x, x, 16}, {x, few, 8}, {x, bit, 4}, {x, coded, 20}, {x, text, 12}, {many, x, 648}, {bit, bit, 1}, {bit, text, 3}, {coded, text, 15}, {text, many, 486},
	} {
		if got := maxEDF(c.a, c.b); got != c.want {
			t.Errorf("%s: %d, want %d", termOf(c.a, c.b), got, c.want)
		}
	}
}
