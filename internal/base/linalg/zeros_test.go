package linalg

import "testing"

// TestZeros: as many as asked for, all 0, by one processor or several.
func TestZeros(t *testing.T) {
	for _, n := range []int{0, 1, 511, 512, 513, 1 << 20, 1<<20 + 7} {
		v := Zeros(n)
		if len(v) != n {
			t.Fatalf("%d numbers, want %d", len(v), n)
		}
		for i, x := range v {
			if x != 0 {
				t.Fatalf("number %d of %d is %g", i, n, x)
			}
		}
	}
}
