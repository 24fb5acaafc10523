package kernel

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// Slow loops, one number at a time, judge the loops of training. Each is the formula
// in the comment of the function it judges.

// wantReluGrad keeps dy where y is not 0.
func wantReluGrad[T Float](dy, y []T) []T {
	dx := make([]T, len(y))
	for i, v := range y {
		if v != 0 {
			dx[i] = dy[i]
		}
	}
	return dx
}

// wantAdam is one step of Adam on one number.
func wantAdam[T Float](a *adam[T], w, g, m, v T) (T, T, T) {
	m = T(a.beta1*m) + T(a.c1*g)
	v = T(a.beta2*v) + T(T(a.c2*g)*g)
	if m > -a.tiny && m < a.tiny {
		m = 0
	}
	if v < a.tiny {
		v = 0
	}
	root := T(math.Sqrt(float64(v)))
	return T(a.keep*w) - T(T(a.rate*m)/(root+a.eps)), m, v
}

// positions are n guarded values at an odd place, filled as after a Relu.
func positions[T Float](rng *rand.Rand, n int, special bool) *guarded[T] {
	g := newGuarded[T](n, rng.IntN(8))
	awkward(rng, g.v, special)
	return g
}

func sameBits[T Float](t testing.TB, what string, got, want []T) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%s: %d values, want %d", what, len(got), len(want))
	}
	for i, w := range want {
		if !same(got[i], w) {
			t.Fatalf("%s: element %d is %v, want %v", what, i, got[i], w)
		}
	}
}

// checkReluGrad writes apart from the gradient and in its place.
func checkReluGrad[T Float](t testing.TB, s isa, rng *rand.Rand, n int, special bool) {
	t.Helper()
	dy, y := positions[T](rng, n, special), positions[T](rng, n, special)
	want := wantReluGrad(dy.v, y.v)
	for _, to := range []*guarded[T]{newGuarded[T](n, rng.IntN(8)), dy} {
		reluGrad(s, to.v, dy.v, y.v)
		sameBits(t, fmt.Sprintf("%T, %v: %d numbers, in place %v", T(0), s, n, to == dy), to.v, want)
		to.check(t)
	}
	dy.check(t)
	y.check(t)
}

// checkAdam compares a step with and without decay.
func checkAdam[T Float](t testing.TB, s isa, rng *rand.Rand, n int, special bool) {
	t.Helper()
	w, g, m, v := positions[T](rng, n, special), positions[T](rng, n, special), positions[T](rng, n, special), positions[T](rng, n, special)
	for i, x := range v.v { // sums of squares
		v.v[i] = max(x, -x)
	}
	for _, keep := range []T{1, 0.99} {
		a := &adam[T]{beta1: 0.9, c1: 0.1, beta2: 0.999, c2: 0.001, keep: keep, rate: 0.01, eps: 1e-8, tiny: 1e-30}
		want := [3][]T{make([]T, n), make([]T, n), make([]T, n)}
		for i := range n {
			want[0][i], want[1][i], want[2][i] = wantAdam(a, w.v[i], g.v[i], m.v[i], v.v[i])
		}
		adamStep(s, w.v, g.v, m.v, v.v, a)
		for k, got := range []*guarded[T]{w, m, v} {
			sameBits(t, fmt.Sprintf("%T, %v, %d numbers, %v kept: result %d", T(0), s, n, keep, k), got.v, want[k])
			got.check(t)
		}
	}
	g.check(t)
}

// TestTrainingLoops: all instruction sets, every tail, both precisions.
func TestTrainingLoops(t *testing.T) {
	eachISA(t, func(t *testing.T, s isa) {
		rng := rand.New(rand.NewPCG(11, 12))
		for n := range 200 {
			checkReluGrad[float64](t, s, rng, n, n%3 == 1)
			checkReluGrad[float32](t, s, rng, n, n%3 == 1)
			checkAdam[float64](t, s, rng, n, n%3 == 1)
			checkAdam[float32](t, s, rng, n, n%3 == 1)
		}
	})
}

// TestNothingToAdd: where there is nothing to add, the rest of what a function says of
// itself still holds.
func TestNothingToAdd(t *testing.T) {
	eachISA(t, func(t *testing.T, s isa) {
		c := []float64{1, 2, 3, 4}
		addGram(s, c, 2, nil, 5, 2, 0, nil)
		if !slices.Equal(c, []float64{1, 2, 2, 4}) {
			t.Errorf("X'X of no rows: the lower triangle of %v is no mirror image", c)
		}
		if got := addScaled(s, nil, 3, []int32{0, 2, 3, 1}, make([]float64, 16), nil, 0, 0, nil); got != 2 {
			t.Errorf("AddScaled of no columns: %d rows, want 2 before the one in no cell", got)
		}
		if got := scatterRows(s, nil, 0, 3, []int32{0, 2, 1, -1, 0, 0}, 2, nil, nil, 0, 0, 3); got != 1 {
			t.Errorf("ScatterRows of no columns: %d rows, want 1 before the wrong index", got)
		}
		if got := scatterBand(s, nil, 0, 3, 6, nil, 0, nil, []int32{0, 2, 3}, make([]float64, 12)); got != 2 {
			t.Errorf("ScatterBand to no rows: %d rows, want 2 before the column outside", got)
		}
	})
}
