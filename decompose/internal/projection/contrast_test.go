package projection

import (
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// TestContrast: a contrast without a matrix takes all to and from raw coordinates as its matrix does.
func TestContrast(t *testing.T) {
	const d, n = 7, 10 // and a block of three columns
	normal := make([]float64, d)
	normal[0] = 1
	blocks := []Block{{Normal: normal}, {}}
	second := []float64{0, 1, 0}
	for _, c := range []struct {
		b    Block
		mean []float64
		want int
	}{
		{blocks[0], make([]float64, d), 1},
		{Block{Normal: make([]float64, d)}, make([]float64, d), 0},
		{Block{Normal: []float64{1, 1}}, []float64{0, 1}, 0},
		{Block{Normal: second}, []float64{0, .5, .5}, 2},
		{Block{Normal: second}, []float64{.2, .5, .3}, 0},
	} {
		if got := c.b.contrast(c.mean); got != c.want {
			t.Fatalf("contrast of %v with means %v: %d, want %d", c.b.Normal, c.mean, got, c.want)
		}
	}
	chosen := &Constrained{blocks: blocks, raw: []int{0, d, n}, start: []int{0, d - 1, n - 1}, z: make([]*mat.Dense, 2), first: []int{1, 0}}
	dense := *chosen
	dense.z, dense.first = []*mat.Dense{complement(normal), nil}, []int{0, 0}
	if !mat.Equal(chosen.Z(0), dense.Z(0)) || chosen.isRaw() {
		t.Error(mat.Formatted(chosen.Z(0)))
	}
	rng := rand.New(rand.NewPCG(1, 2))
	x, s := make([]float64, n), mat.NewSymDense(n, nil)
	for i := range n {
		x[i] = rng.NormFloat64()
		for j := i; j < n; j++ {
			s.SetSym(i, j, rng.NormFloat64())
		}
	}
	small := chosen.reduce(s)
	rows := mat.NewDense(n-1, 1, slices.Clone(x[1:]))
	for name, same := range map[string]bool{
		"reduce":       mat.Equal(small, dense.reduce(s)),
		"expandCov":    mat.Equal(chosen.expandCov(small), dense.expandCov(small)),
		"expandRows":   mat.Equal(chosen.expandRows(rows), dense.expandRows(rows)),
		"reduceVector": slices.Equal(chosen.reduceVector(x), dense.reduceVector(x)),
		"contract":     slices.Equal(chosen.contract(x), dense.contract(x)),
		"expand":       slices.Equal(chosen.expand(x[1:]), dense.expand(x[1:])),
	} {
		if !same {
			t.Errorf("%s differs", name)
		}
	}
	turned := *chosen
	turned.z, turned.first = []*mat.Dense{complement([]float64{1, 2, 3, 4, 5, 6, 7}), nil}, []int{0, 0}
	for _, c := range []struct {
		of     *Constrained
		lo, hi int
		at     int
		ok     bool
	}{
		{chosen, 0, d - 1, 1, true}, {&dense, 0, d - 1, 1, true}, {chosen, 2, 4, 3, true}, {&dense, 2, 4, 3, true},
		{chosen, d - 1, n - 1, d, true}, {chosen, d, n - 1, d + 1, true}, {chosen, 3, d, 0, false}, // of two blocks
		{&turned, 0, d - 1, 0, false}, {&turned, d - 1, n - 1, d, true},
	} {
		if at, ok := c.of.asRaw(c.lo, c.hi); at != c.at || ok != c.ok {
			t.Errorf("columns %d to %d are raw from %d (%v), want %d (%v)", c.lo, c.hi, at, ok, c.at, c.ok)
		}
	}
}
