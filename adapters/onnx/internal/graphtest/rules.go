package graphtest

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/pho-go/pho/adapters/onnx/internal/engine"
	"github.com/pho-go/pho/adapters/onnx/internal/graph"
	"github.com/pho-go/pho/adapters/onnx/internal/operator"
	"github.com/pho-go/pho/adapters/onnx/internal/structure"
)

// CheckRules compares every node's rule with what the engine computes: a linear
// rule must give the node's output from its inputs, and an element must not move
// when a column outside its set does. It returns how many nodes were linear.
func CheckRules(t testing.TB, g *graph.Graph, seed uint64) int {
	t.Helper()
	var column [][]int
	columns := 0
	for _, v := range g.Inputs {
		var ids []int
		for range v.Width() {
			ids = append(ids, columns)
			columns++
		}
		column = append(column, ids)
	}
	d, err := structure.NewDependencies(g, columns, column, structure.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	var want []*graph.Value
	position := map[*graph.Value]int{}
	for _, n := range g.Nodes {
		for _, v := range n.Outputs {
			if v != nil && v.BatchAxis() >= 0 && v.Type != graph.String {
				position[v] = len(want)
				want = append(want, v)
			}
		}
	}
	r, err := engine.New(g, want, engine.Options{})
	if err != nil {
		t.Fatal(err)
	}
	random := rand.New(rand.NewPCG(seed, 1))
	draw := func(v *graph.Value) float64 {
		if v.Type.Floating() {
			return v.Type.Round(random.NormFloat64())
		}
		if v.Type == graph.String {
			return float64(1 + random.IntN(2)) // the first texts of the graph's constants
		}
		return float64(random.IntN(2))
	}
	x := make([][]float64, len(g.Inputs))
	for i, v := range g.Inputs {
		for range v.Width() {
			x[i] = append(x[i], draw(v))
		}
	}
	run := func(x [][]float64) [][]float64 {
		dst := make([][]float64, len(want))
		for i, v := range want {
			dst[i] = make([]float64, v.Width())
		}
		if err := r.Run(dst, x, 1); err != nil {
			t.Fatal(err)
		}
		return dst
	}
	base := run(x)
	value := func(v *graph.Value, e int) float64 {
		if v.Const != nil {
			return v.Const.At(e)
		}
		for i, in := range g.Inputs {
			if in == v {
				return x[i][e]
			}
		}
		return base[position[v]][e]
	}
	linear := 0
	for i, n := range g.Nodes {
		rule := d.Rules[i]
		if !rule.Linear || rule.Each == nil {
			continue
		}
		linear++
		for o, v := range n.Outputs {
			if v == nil || v.BatchAxis() < 0 || v.Type == graph.String {
				continue
			}
			for e := range v.Width() {
				sum, size := 0.0, 1.0
				rule.Each(o, e, func(k, ie int, w float64) {
					part := w
					if k != operator.Itself {
						part *= value(n.Inputs[k], ie)
					}
					sum += part
					size = math.Max(size, math.Abs(part))
				})
				if got := value(v, e); !(math.Abs(got-sum) <= 1e-12*size) && !(math.IsNaN(got) && math.IsNaN(sum)) {
					t.Fatalf("%s, output %d, element %d: the rule gives %v, the engine %v", n.String(), o, e, sum, got)
				}
			}
		}
	}
	c := 0
	for i, v := range g.Inputs {
		for e := range v.Width() {
			moved := make([][]float64, len(x))
			for k := range x {
				moved[k] = append([]float64(nil), x[k]...)
			}
			moved[i][e] = draw(v) + 1
			if !v.Type.Floating() {
				moved[i][e] = 1 - x[i][e]
			}
			if v.Type == graph.String {
				moved[i][e] = 3 - x[i][e]
			}
			after := run(moved)
			for j, w := range want {
				for l := range after[j] {
					inside := d.DependsOn(w, l, c)
					if a, b := after[j][l], base[j][l]; !inside && a != b && !(math.IsNaN(a) && math.IsNaN(b)) {
						t.Fatalf("%s: element %d of %q moves with column %d, which it is said not to depend on", w.Producer.String(), l, w.Name, c)
					}
				}
			}
			c++
		}
	}
	return linear
}
