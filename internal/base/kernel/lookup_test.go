package kernel

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// Rows of tables of any width, at any stride, are where they belong, with nothing else touched, and an
// index outside ends it.
func TestLookUp(t *testing.T) {
	eachISA(t, func(t *testing.T, s isa) {
		testLookUp[float64](t, s)
		testLookUp[float32](t, s)
	})
}

func testLookUp[T Float](t *testing.T, s isa) {
	r := rand.New(rand.NewPCG(5, 6))
	for range 500 {
		w, size, n, step := r.IntN(40), r.IntN(6), r.IntN(9), 1+r.IntN(3)
		stride := w + r.IntN(3)
		table, index := make([]T, size*w), make([]int64, n*step)
		for i := range table {
			table[i] = T(r.Float64())
		}
		if w == 0 {
			size = 0
		}
		for i := range index {
			index[i] = int64(r.IntN(2*size+1) - size)
			if index[i] == int64(size) && size > 0 && r.IntN(4) > 0 {
				index[i] = 0
			}
		}
		dst := make([]T, n*stride)
		want, wantBad := slices.Clone(dst), -1
		for i := 0; i < n && wantBad < 0; i++ {
			k := index[i*step]
			if k < 0 {
				k += int64(size)
			}
			if k >= int64(size) || k < 0 {
				wantBad = i * step
				break
			}
			for j := range w {
				want[i*stride+j] = table[int(k)*w+j]
			}
		}
		if bad := lookUp(s, dst, stride, table, w, index, step); bad != wantBad || !slices.Equal(dst, want) {
			t.Fatalf("%v: %d of %d rows of %d, stride %d, index %v by %d: %v and %d, want %v and %d", s, n, size, w, stride, index, step, dst, bad, want, wantBad)
		}
	}
}
