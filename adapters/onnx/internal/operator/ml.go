package operator

import (
	"fmt"

	"github.com/pho-go/pho/adapters/onnx/internal/graph"
	"github.com/pho-go/pho/internal/base/kernel"
)

// mlOps are the few operators of ai.onnx.ml that regressions and scaled networks
// from scikit-learn need.
func mlOps[T kernel.Float]() []Entry[T] {
	return []Entry[T]{
		{Operator: graph.Operator{Domain: "ai.onnx.ml", Name: "FeatureVectorizer", Versions: []int{1}, Min: 1, Max: -1, Outputs: 1, Check: checkVectorizer},
			Rule: vectorizerRule, Compile: compileVectorizer[T]},
		{Operator: graph.Operator{Domain: "ai.onnx.ml", Name: "Scaler", Versions: []int{1}, Min: 1, Max: 1, Outputs: 1, Check: checkScaler},
			Rule: scalerRule, Compile: compileScaler[T], Weighs: true},
	}
}

// checkVectorizer: columns side by side, as float.
func checkVectorizer(c *graph.Check) error {
	sizes := c.Attrs["inputdimensions"].Ints
	if sizes != nil && len(sizes) != len(c.Inputs) {
		return fmt.Errorf("%d inputdimensions for %d inputs", len(sizes), len(c.Inputs))
	}
	total := 0
	for i, v := range c.Inputs {
		if v == nil {
			return fmt.Errorf("input %d is left out", i)
		}
		if len(v.Shape) != 2 || !graph.IsRows(v.Shape[0]) {
			return fmt.Errorf("input %d (%q) must have shape [N, features], has %s", i, v.Name, graph.ShapeText(v.Shape))
		}
		if sizes != nil && sizes[i] != int64(v.Shape[1]) {
			return fmt.Errorf("input %d (%q) has %d features, inputdimensions says %d", i, v.Name, v.Shape[1], sizes[i])
		}
		if total += v.Shape[1]; total < 0 {
			return fmt.Errorf("the output overflows")
		}
	}
	c.Resolved = &graph.Conversion{}
	return c.Set(0, graph.Float32, []int{graph.Batch, total})
}

func compileVectorizer[T kernel.Float](n *graph.Node) Step[T] {
	typ := graph.DType(0) // of numbers as they entered: see graph.Conversion
	if n.Rounds() {
		typ = graph.Float32
	}
	return func(x *Exec[T]) error {
		out := x.Out[0]
		width, from := out.Shape[1], 0
		for _, in := range x.In {
			w := in.Shape[1]
			for r := range x.Rows {
				to := out.F[r*width+from : r*width+from+w]
				if in.F != nil {
					for i := range to {
						to[i] = T(typ.Round(float64(in.F[r*w+i])))
					}
					continue
				}
				for i := range to {
					to[i] = T(graph.Float32.Round(float64(in.I[r*w+i])))
				}
			}
			from += w
		}
		return nil
	}
}

// checkScaler: (x - offset) scale per column.
func checkScaler(c *graph.Check) error {
	in := c.Inputs[0].Shape
	if len(in) == 0 || graph.IsRows(in[len(in)-1]) {
		return fmt.Errorf("needs columns, has shape %s", graph.ShapeText(in))
	}
	n := in[len(in)-1]
	for _, name := range []string{"offset", "scale"} {
		if l := len(c.Attrs[name].Floats); l != 1 && l != n {
			return fmt.Errorf("%s has %d values for %d columns", name, l, n)
		}
	}
	c.Resolved = &graph.Conversion{}
	return c.Set(0, graph.Float32, in)
}

func compileScaler[T kernel.Float](n *graph.Node) Step[T] {
	offset, scale := n.Attrs["offset"].Floats, n.Attrs["scale"].Floats
	typ := graph.DType(0) // of numbers as they entered: see graph.Conversion
	if n.Rounds() {
		typ = graph.Float32
	}
	return func(x *Exec[T]) error {
		in, out := x.In[0], x.Out[0]
		width := in.Shape[len(in.Shape)-1]
		for i := range out.F {
			var v float64
			if in.F != nil {
				v = typ.Round(float64(in.F[i]))
			} else {
				v = graph.Float32.Round(float64(in.I[i]))
			}
			k := i % width
			out.F[i] = T((v - offset[min(k, len(offset)-1)]) * scale[min(k, len(scale)-1)])
		}
		return nil
	}
}

// scalerRule: (x - offset) scale, by the last axis or one for all.
func scalerRule(n *graph.Node) Rule {
	d := n.Outputs[0].RowShape()
	offset, scale := n.Attrs["offset"].Floats, n.Attrs["scale"].Floats
	if n.Rounds() || len(d) == 0 || n.Inputs[0].Width() != graph.Product(d) || !n.Outputs[0].Type.Floating() {
		return opaque(n)
	}
	width := d[len(d)-1]
	if len(offset) == 0 || len(offset) != 1 && len(offset) != width || len(scale) == 0 || len(scale) != 1 && len(scale) != width {
		return opaque(n)
	}
	return Rule{Linear: true, Cost: 2, Each: func(_, e int, yield Link) {
		j := e % width
		a := scale[min(j, len(scale)-1)]
		yield(0, e, a)
		yield(Itself, 0, -a*offset[min(j, len(offset)-1)])
	}}
}

// vectorizerRule: FeatureVectorizer puts its inputs side by side.
func vectorizerRule(n *graph.Node) Rule {
	if n.Rounds() {
		return opaque(n)
	}
	return concatAxisRule(n, -1)
}
