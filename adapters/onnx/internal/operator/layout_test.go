package operator_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/pho-go/pho/adapters/onnx/internal/engine"
	"github.com/pho-go/pho/adapters/onnx/internal/graph"
	"github.com/pho-go/pho/adapters/onnx/internal/graphtest"
	"github.com/pho-go/pho/internal/base/onnxpb"
)

// dense is a tensor as NumPy has it: the number of rows is a size like others.
type dense struct {
	shape []int
	v     []float64
}

func full(shape []int, at func(c []int) float64) dense {
	d := dense{slices.Clone(shape), make([]float64, graph.Product(shape))}
	c := make([]int, len(shape))
	for e := range d.v {
		rest := e
		for i := len(shape) - 1; i >= 0; i-- {
			c[i] = rest % shape[i]
			rest /= shape[i]
		}
		d.v[e] = at(c)
	}
	return d
}

func (d dense) at(c ...int) float64 {
	e := 0
	for i, k := range c {
		e = e*d.shape[i] + k
	}
	return d.v[e]
}

// along is f of the elements along an axis, for each of them.
func (d dense) along(axis int, f func(line []float64, k int) float64) dense {
	return full(d.shape, func(c []int) float64 {
		p, line := slices.Clone(c), make([]float64, d.shape[axis])
		for k := range line {
			p[axis] = k
			line[k] = d.at(p...)
		}
		return f(line, c[axis])
	})
}

// chain is a network that grows by one node after another, with its slow reference on
// rowsInChain rows.
type chain struct {
	b     *onnxpb.Builder
	rng   *rand.Rand
	n     int
	name  string
	value dense
	rows  int // the axis that is a multiple of the number of rows
}

const rowsInChain = 5 // divides no other size

func (c *chain) next() string { c.n++; return fmt.Sprintf("t%d", c.n) }

// took makes the network's end what the last node gave.
func (c *chain) took(v dense) {
	c.name, c.value = fmt.Sprintf("t%d", c.n), v
	c.rows = slices.IndexFunc(v.shape, func(d int) bool { return d%rowsInChain == 0 })
}

// reshape writes the target with -1 for the rows, or with a multiple of their number.
func (c *chain) reshape(shape []int) {
	target := make([]int64, len(shape))
	rows := -1
	for i, d := range shape {
		if target[i] = int64(d); d%rowsInChain == 0 {
			rows = i
			target[i] = -1
		}
	}
	s := c.next()
	c.b.AddInts(s, target...)
	if c.rng.IntN(2) == 0 {
		first, k, last := c.next(), c.next(), c.next()
		c.b.AddNode("Shape", graphtest.In("x"), s+"x", onnxpb.Int("end", 1))
		c.b.AddInts(first, target[:rows]...)
		c.b.AddInts(k, int64(shape[rows]/rowsInChain))
		c.b.AddInts(last, target[rows+1:]...)
		c.b.AddNode("Mul", graphtest.In(s+"x", k), s+"k")
		c.b.AddNode("Concat", graphtest.In(first, s+"k", last), s+"t", onnxpb.Int("axis", 0))
		s += "t"
	}
	c.b.AddNode("Reshape", graphtest.In(c.name, s), c.next())
	c.took(dense{shape, c.value.v})
}

// join makes one axis of two, split two of one.
func (c *chain) join() {
	s := c.value.shape
	if len(s) < 2 {
		return
	}
	i := c.rng.IntN(len(s) - 1)
	c.reshape(slices.Concat(s[:i], []int{s[i] * s[i+1]}, s[i+2:]))
}

func (c *chain) split() {
	s := c.value.shape
	i := c.rng.IntN(len(s))
	for _, f := range c.rng.Perm(5) {
		if f += 2; f != rowsInChain && s[i]%f == 0 && len(s) < 6 {
			two := []int{f, s[i] / f}
			if c.rng.IntN(2) == 0 {
				two[0], two[1] = two[1], two[0]
			}
			c.reshape(slices.Concat(s[:i], two, s[i+1:]))
			return
		}
	}
}

func (c *chain) transpose() {
	old := c.value
	perm := c.rng.Perm(len(old.shape))
	var shape []int
	var attr []int64
	for _, p := range perm {
		shape, attr = append(shape, old.shape[p]), append(attr, int64(p))
	}
	c.b.AddNode("Transpose", graphtest.In(c.name), c.next(), onnxpb.Ints("perm", attr...))
	c.took(full(shape, func(at []int) float64 {
		from := make([]int, len(at))
		for i, p := range perm {
			from[p] = at[i]
		}
		return old.at(from...)
	}))
}

// product multiplies by weights.
func (c *chain) product() {
	old := c.value
	last := len(old.shape) - 1
	if last < 1 || c.rows == last {
		return
	}
	k, m := old.shape[last], 2+c.rng.IntN(3)
	w := full([]int{k, m}, func([]int) float64 { return float64(c.rng.IntN(5)) - 2 })
	c.b.AddDouble(c.next(), w.shape, w.v...)
	c.b.AddNode("MatMul", graphtest.In(c.name, fmt.Sprintf("t%d", c.n)), c.next())
	shape := append(slices.Clone(old.shape[:last]), m)
	c.took(full(shape, func(at []int) float64 {
		s := 0.0
		for i := range k {
			s += old.at(append(slices.Clone(at[:last]), i)...) * w.at(i, at[last])
		}
		return s
	}))
}

// scores multiplies by the same tensor, its last two axes transposed.
func (c *chain) scores() {
	old := c.value
	r := len(old.shape)
	if r < 3 || c.rows >= r-2 {
		return
	}
	perm := make([]int64, r)
	for i := range perm {
		perm[i] = int64(i)
	}
	perm[r-1], perm[r-2] = int64(r-2), int64(r-1)
	c.b.AddNode("Transpose", graphtest.In(c.name), c.next(), onnxpb.Ints("perm", perm...))
	c.b.AddNode("MatMul", graphtest.In(c.name, fmt.Sprintf("t%d", c.n)), c.next())
	m := old.shape[r-2]
	c.took(full(append(slices.Clone(old.shape[:r-1]), m), func(at []int) float64 {
		s := 0.0
		for k := range old.shape[r-1] {
			s += old.at(append(slices.Clone(at[:r-1]), k)...) * old.at(append(slices.Clone(at[:r-2]), at[r-1], k)...)
		}
		return s
	}))
}

func (c *chain) softmax() {
	axis := c.rng.IntN(len(c.value.shape))
	if axis == c.rows {
		return
	}
	c.b.AddNode("Softmax", graphtest.In(c.name), c.next(), onnxpb.Int("axis", int64(axis)))
	c.took(c.value.along(axis, func(line []float64, k int) float64 {
		top, sum := slices.Max(line), 0.0
		for _, x := range line {
			sum += math.Exp(x - top)
		}
		return math.Exp(line[k]-top) / sum
	}))
}

func (c *chain) mean() {
	axis := c.rng.IntN(len(c.value.shape))
	if axis == c.rows {
		return
	}
	c.b.AddNode("ReduceMean", graphtest.In(c.name), c.next(), onnxpb.Ints("axes", int64(axis)))
	c.b.AddNode("Sub", graphtest.In(c.name, fmt.Sprintf("t%d", c.n)), c.next())
	c.took(c.value.along(axis, func(line []float64, k int) float64 {
		s := 0.0
		for _, x := range line {
			s += x
		}
		return line[k] - s/float64(len(line))
	}))
}

// twice puts the tensor behind itself along an axis, the second time negative, and half
// keeps one of two equal parts.
func (c *chain) twice() {
	old, axis := c.value, c.rng.IntN(len(c.value.shape))
	c.b.AddNode("Neg", graphtest.In(c.name), c.next())
	c.b.AddNode("Concat", graphtest.In(c.name, fmt.Sprintf("t%d", c.n)), c.next(), onnxpb.Int("axis", int64(axis)))
	shape := slices.Clone(old.shape)
	shape[axis] *= 2
	c.took(full(shape, func(at []int) float64 {
		at = slices.Clone(at)
		if k := at[axis]; k >= old.shape[axis] {
			at[axis] = k - old.shape[axis]
			return -old.at(at...)
		}
		return old.at(at...)
	}))
}

func (c *chain) half() {
	old, axis := c.value, c.rng.IntN(len(c.value.shape))
	if old.shape[axis]%2 != 0 {
		return
	}
	outs := []string{c.next(), c.next()}
	keep := c.rng.IntN(2)
	c.b.AddNodes("", "Split", graphtest.In(c.name), outs, onnxpb.Int("axis", int64(axis)))
	shape := slices.Clone(old.shape)
	shape[axis] /= 2
	v := full(shape, func(at []int) float64 {
		at = slices.Clone(at)
		at[axis] += keep * shape[axis]
		return old.at(at...)
	})
	c.b.AddNode("Identity", outs[keep:keep+1], c.next())
	c.took(v)
}

func (c *chain) tile() {
	old, axis := c.value, c.rng.IntN(len(c.value.shape))
	repeats, shape := slices.Repeat([]int64{1}, len(old.shape)), slices.Clone(old.shape)
	repeats[axis] = 2
	shape[axis] *= 2
	s := c.next()
	c.b.AddInts(s, repeats...)
	c.b.AddNode("Tile", graphtest.In(c.name, s), c.next())
	c.took(full(shape, func(at []int) float64 {
		at = slices.Clone(at)
		at[axis] %= old.shape[axis]
		return old.at(at...)
	}))
}

// Chains of nodes that join the batch axis with others, move it and take it apart give
// what NumPy would, or are refused; a row alone has the bits that it has among others.
func TestLayoutsOfRows(t *testing.T) {
	chains := 400
	accepted, joined, nodes := 0, 0, map[string]int{}
	for seed := range chains {
		rng := rand.New(rand.NewPCG(uint64(seed), 3))
		c := &chain{b: onnxpb.NewBuilder(17), rng: rng}
		c.b.AddInput("x", graphtest.TDouble, onnxpb.Rows, 4, 6)
		x := make([]float64, rowsInChain*24)
		for i := range x {
			x[i] = rng.NormFloat64()
		}
		c.took(dense{[]int{rowsInChain, 4, 6}, x})
		c.name = "x"
		steps := []func(){c.join, c.split, c.transpose, c.product, c.scores, c.softmax, c.mean, c.twice, c.half, c.tile, c.join, c.split, c.transpose}
		for range 8 {
			if len(c.value.v) < 4000*rowsInChain {
				steps[rng.IntN(len(steps))]()
			}
		}
		if c.name == "x" {
			continue
		}
		c.b.AddNode("Identity", graphtest.In(c.name), "y")
		c.b.Output("y", graphtest.TDouble)
		c.b.Model().Graph.Output[0].Type = nil
		g, err := graphtest.Load(graphtest.Bytes(t, c.b))
		if err != nil {
			continue
		}
		accepted++
		y := g.Outputs[0]
		several := false
		for _, n := range g.Nodes {
			nodes[n.Op]++
			v := n.Outputs[0]
			several = several || v != nil && v.Shape[v.BatchAxis()] != graph.Batch
		}
		if several {
			joined++
		}
		r, err := engine.New(g, g.Outputs, engine.Options{})
		if err != nil {
			t.Fatal(err)
		}
		got := graphtest.Run(t, r, g, [][]float64{x}, 0, rowsInChain)[0]
		outer, inner := graph.Around(y.Shape)
		for i := range rowsInChain {
			alone := graphtest.Run(t, r, g, [][]float64{x}, i, i+1)[0]
			for e, v := range alone {
				among := got[i*y.Width()+e]
				want := c.value.v[(e/inner*rowsInChain+i)*inner+e%inner]
				if v != among || !(math.Abs(v-want) <= 1e-9*math.Max(1, math.Abs(want))) {
					t.Fatalf("seed %d, %s, %d around %d: row %d element %d is %v alone, %v among others, %v by the reference", seed, graph.ShapeText(y.Shape), outer, inner, i, e, v, among, want)
				}
			}
		}
	}
	if accepted < chains/2 || joined < chains/4 {
		t.Errorf("only %d of %d chains accepted, %d with joined axes (%v)", accepted, chains, joined, nodes)
	}
	t.Logf("%d of %d chains accepted, %d with joined axes, nodes %v", accepted, chains, joined, nodes)
}
