package tree

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/pho-go/pho/internal/base/kernel"
)

// Forests with many trees, some deep, some with thresholds that are no float32, walked down side by
// side where they fit, add what the definition adds, for rows in blocks and alone, numbers close to
// thresholds and missing ones among them.
func TestWalksBeside(t *testing.T) {
	besides := 0
	for seed := range uint64(40) {
		r := rand.New(rand.NewPCG(seed, 3))
		features := []int{3, 32, 40}[seed%3]
		f := random(r, 70, 1+int(seed%kernel.MostTreeDepth), features, 1, true)
		if seed%4 == 0 { // a tree that does not fit
			f.Roots = append(f.Roots[:20:20], append([]int32{deep(f)}, f.Roots[20:]...)...)
		}
		for i := range f.Nodes {
			if f.Nodes[i].Value = float64(float32(r.NormFloat64())); seed%5 == 0 && r.IntN(100) == 0 {
				f.Nodes[i].Value = r.NormFloat64()
			}
		}
		for i := range f.Weights {
			if seed%3 > 0 { // of float32, which sums of float32 need
				f.Weights[i].Value = float64(float32(f.Weights[i].Value))
			}
		}
		if f.Single = seed%2 == 0; !f.Single { // a split by < has another threshold
			for i := range f.Nodes {
				switch n := &f.Nodes[i]; n.Mode {
				case LT:
					n.Mode = LEQ
				case GTE:
					n.Mode = GT
				}
			}
		}
		if err := f.Check(); err != nil {
			t.Fatal(err)
		}
		e := New(f)
		for i := range e.stretches {
			if e.stretches[i].beside != nil {
				besides++
			}
		}
		n := []int{1, 3, 4, 67, 130}[seed%5]
		x := rows(r, n, features)
		for i := range x {
			if v := f.Nodes[r.IntN(len(f.Nodes))].Value; r.IntN(2) == 0 {
				x[i] = math.Nextafter(v, []float64{v, math.Inf(1), math.Inf(-1)}[r.IntN(3)])
			}
			if f.Single {
				x[i] = float64(float32(x[i]))
			}
		}
		in, got, want := e.read(x, n, features), make([]float64, n), make([]float64, n)
		e.Sum(got, in, n)
		for i := range n {
			for _, root := range f.Roots {
				leaf := f.end(root, x[i*features:(i+1)*features])
				for _, w := range f.Weights[leaf.From:leaf.To] {
					want[i] += w.Value
				}
			}
			alone := make([]float64, 1)
			e.Sum(alone, in[i*e.Columns():(i+1)*e.Columns()], 1)
			if math.Float64bits(alone[0]) != math.Float64bits(want[i]) {
				t.Fatalf("seed %d: row %d alone sums to %v, want %v", seed, i, alone[0], want[i])
			}
		}
		if !equal64(got, want) {
			t.Fatalf("seed %d: sums %v, want %v", seed, got, want)
		}
		clear(got)
		e.SumRounded(got, in, n)
		for i := range n {
			single := 0.0
			for _, root := range f.Roots {
				leaf := f.end(root, x[i*features:(i+1)*features])
				for _, w := range f.Weights[leaf.From:leaf.To] {
					single = float64(float32(single + w.Value))
				}
			}
			if got[i] != single {
				t.Fatalf("seed %d: row %d sums to %v in float32, want %v", seed, i, got[i], single)
			}
		}
	}
	if besides < 40 && kernel.NewTrees(1, 1, 1) != nil {
		t.Errorf("%d stretches were walked down side by side", besides)
	}
}

// deep appends a tree that is deeper than those that are walked down side by side.
func deep(f *Forest) int32 {
	leaf := func() int32 {
		f.Nodes = append(f.Nodes, Node{Mode: Leaf, From: int32(len(f.Weights)), To: int32(len(f.Weights)) + 1})
		f.Weights = append(f.Weights, Weight{0, float64(len(f.Weights))})
		return int32(len(f.Nodes)) - 1
	}
	top := leaf()
	for i := range kernel.MostTreeDepth + 2 {
		f.Nodes = append(f.Nodes, Node{Mode: LEQ, Feature: int32(i % 3), True: leaf(), False: top})
		top = int32(len(f.Nodes)) - 1
	}
	return top
}

// Numbers rounded up are above the same thresholds, the largest and smallest too.
func TestUpwards(t *testing.T) {
	tiny := math.SmallestNonzeroFloat64
	for _, x := range []float64{0, 1, -1, 0.1, -0.1, tiny, -tiny, 1e300, -1e300, math.Inf(1), math.Inf(-1), math.MaxFloat32, -math.MaxFloat32} {
		single := make([]float32, 1)
		upwards(single, []float64{x}, 1, 1)
		for _, near := range []float32{float32(x), 0, math.MaxFloat32, -math.MaxFloat32, float32(math.Inf(1)), float32(math.Inf(-1))} {
			for _, threshold := range []float32{near, math.Nextafter32(near, 9), math.Nextafter32(near, -9)} {
				if got, want := single[0] > threshold, x > float64(threshold); got != want {
					t.Errorf("%v above %v: %t, want %t", x, threshold, got, want)
				}
			}
		}
	}
}
