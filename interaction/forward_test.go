package interaction

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestChoose compares the gain of each pair with that from products that have the pairs before it
// from the beginning, and the choices of other numbers of workers.
func TestChoose(t *testing.T) {
	r := rand.New(rand.NewPCG(6, 1))
	const rows = 900
	scales, v := mixedColumns(r, rows)
	s := &kept{values: *v, r: [][]float64{normals(r, rows)}}
	noise := slices.Clone(s.r[0])
	for i := range noise {
		x, level := v.numbers[1][i], float64(v.codes[3][i])
		s.r[0][i] += v.numbers[0][i]*x + level*x + v.numbers[0][i]*level
	}
	single := []int{0, 1, 2, 3}
	pairs := [][2]int{{0, 1}, {0, 2}, {0, 3}, {1, 2}, {1, 3}, {2, 3}}
	f := newFunctions(scales, single, minSingleDegree, nil, pairs)
	steps := newSelection(f, s.products(f, 0, noise, 1), 2).choose(1, 2)
	for _, workers := range []int{1, 5} {
		if other := newSelection(f, s.products(f, 0, noise, 1), workers).choose(1, workers); !slices.Equal(steps, other) {
			t.Errorf("two workers choose %v, %d choose %v", steps, workers, other)
		}
	}
	if len(steps) < 3 {
		t.Fatalf("%d pairs were chosen", len(steps))
	}
	var known [][2]int
	left := slices.Clone(pairs)
	for _, step := range steps {
		f := newFunctions(scales, single, minSingleDegree, known, left)
		of := newSelection(f, s.products(f, 0, noise, 1), 2)
		want := of.score(slices.Index(left, step.pair))
		if math.Abs(step.gain-want.gain) > 1e-8*math.Abs(want.gain) || math.Abs(step.p-want.p) > 1e-6*want.p {
			t.Errorf("%v beside %v: gain %g at p %g, want %g at %g", step.pair, known, step.gain, step.p, want.gain, want.p)
		}
		for j, pair := range left {
			if c := of.score(j); c.gain > 0 && better(c, score{gain: step.gain * (1 + 1e-8), p: step.p * (1 - 1e-6)}) {
				t.Errorf("%v was chosen beside %v, and %v is better", step.pair, known, pair)
			}
		}
		known = append(known, step.pair)
		left = slices.DeleteFunc(left, func(p [2]int) bool { return p == step.pair })
	}
}
