package linalg

import (
	"testing"

	"gonum.org/v1/gonum/mat"
)

// TestMirror compares with the entries one by one, in sizes below and above that of one processor's work.
func TestMirror(t *testing.T) {
	for _, n := range []int{0, 1, 3, 63, 64, 65, 70, 601} {
		s := &mat.SymDense{}
		if n > 0 {
			s = mat.NewSymDense(n, nil)
		}
		for i := range n {
			for j := i; j < n; j++ {
				s.SetSym(i, j, float64(i*n+j+1))
			}
		}
		all := Mirror(s)
		for i := range n {
			for j := range n {
				if want := float64(min(i, j)*n + max(i, j) + 1); all.At(i, j) != want {
					t.Fatalf("n = %d: entry %d, %d is %g, want %g", n, i, j, all.At(i, j), want)
				}
			}
		}
	}
}
