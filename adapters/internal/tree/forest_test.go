package tree

import (
	"math/rand/v2"
	"testing"
)

// The nodes that an ensemble becomes make the same ensemble again, split or not.
func TestForest(t *testing.T) {
	const features, n = 3, 200
	for seed := range uint64(60) {
		r := rand.New(rand.NewPCG(seed, 11))
		f := random(r, 6, 4, features, 1+int(seed%3), seed%2 == 0)
		if err := f.Check(); err != nil {
			t.Fatal(err)
		}
		whole := New(f)
		group := make([]int, whole.Len())
		for i := range group {
			group[i] = r.IntN(3)
		}
		parts, _ := whole.Split(func(i int) []int { return group[i : i+1] })
		x := rows(r, n, features)
		for _, e := range []*Ensemble{whole, parts} {
			again := e.Forest()
			if err := again.Check(); err != nil {
				t.Fatalf("seed %d: %v", seed, err)
			}
			constant := make([]float64, e.Targets)
			e.AddConstant(constant)
			got, want := make([]float64, n*e.Targets), make([]float64, n*e.Targets)
			back := New(again)
			back.Sum(got, back.read(x, n, features), n)
			e.Sum(want, e.read(x, n, features), n)
			for i := range want {
				if diff := got[i] + constant[i%e.Targets] - want[i]; diff > 1e-12 || diff < -1e-12 {
					t.Fatalf("seed %d, row %d: %v, want %v", seed, i/e.Targets, got[i]+constant[i%e.Targets], want[i])
				}
			}
		}
	}
}
