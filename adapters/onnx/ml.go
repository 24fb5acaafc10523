package onnx

import (
	"fmt"

	"github.com/pho-go/pho/internal/kernel"
)

// mlOps are the few operators of ai.onnx.ml that regressions and scaled
// networks from scikit-learn need.
func mlOps[T kernel.Float](t table[T]) {
	t["ai.onnx.ml.FeatureVectorizer"] = operator[T]{min: 1, max: -1, outputs: 1, infer: inferVectorizer, compile: compileVectorizer[T]}
	t["ai.onnx.ml.Scaler"] = operator[T]{min: 1, max: 1, outputs: 1, infer: inferScaler, compile: compileScaler[T]}
}

// inferVectorizer: columns side by side, as float.
func inferVectorizer(c *nodeCheck) error {
	sizes := c.Attrs["inputdimensions"].Ints
	if sizes != nil && len(sizes) != len(c.Inputs) {
		return fmt.Errorf("%d inputdimensions for %d inputs", len(sizes), len(c.Inputs))
	}
	total := 0
	for i, v := range c.Inputs {
		if v == nil {
			return fmt.Errorf("input %d is left out", i)
		}
		if len(v.Shape) != 2 || v.Shape[0] != Batch {
			return fmt.Errorf("input %d (%q) must have shape [N, features], has %s", i, v.Name, showShape(v.Shape))
		}
		if sizes != nil && sizes[i] != int64(v.Shape[1]) {
			return fmt.Errorf("input %d (%q) has %d features, inputdimensions says %d", i, v.Name, v.Shape[1], sizes[i])
		}
		if total += v.Shape[1]; total < 0 {
			return fmt.Errorf("the output overflows")
		}
	}
	return c.set(0, Float32, []int{Batch, total})
}

func compileVectorizer[T kernel.Float](n *Node) (step[T], error) {
	entry := DType(0) // of what is not computed: see settleEntries
	if n.rounds {
		entry = Float32
	}
	return func(x *exec[T]) error {
		out := x.out[0]
		width, from := out.shape[1], 0
		for _, in := range x.in {
			w := in.shape[1]
			for r := range x.rows {
				to := out.f[r*width+from : r*width+from+w]
				if in.f != nil {
					for i := range to {
						to[i] = T(entry.round(float64(in.f[r*w+i])))
					}
					continue
				}
				for i := range to {
					to[i] = T(Float32.round(float64(in.i[r*w+i])))
				}
			}
			from += w
		}
		return nil
	}, nil
}

// inferScaler: (x - offset) scale per column.
func inferScaler(c *nodeCheck) error {
	in := c.Inputs[0].Shape
	if len(in) == 0 || in[len(in)-1] == Batch {
		return fmt.Errorf("needs columns, has shape %s", showShape(in))
	}
	n := in[len(in)-1]
	for _, name := range []string{"offset", "scale"} {
		if l := len(c.Attrs[name].Floats); l != 1 && l != n {
			return fmt.Errorf("%s has %d values for %d columns", name, l, n)
		}
	}
	return c.set(0, Float32, in)
}

func compileScaler[T kernel.Float](n *Node) (step[T], error) {
	offset, scale := n.Attrs["offset"].Floats, n.Attrs["scale"].Floats
	entry := DType(0) // of what is not computed: see settleEntries
	if n.rounds {
		entry = Float32
	}
	return func(x *exec[T]) error {
		in, out := x.in[0], x.out[0]
		width := in.shape[len(in.shape)-1]
		for i := range out.f {
			var v float64
			if in.f != nil {
				v = entry.round(float64(in.f[i]))
			} else {
				v = Float32.round(float64(in.i[i]))
			}
			k := i % width
			out.f[i] = T((v - offset[min(k, len(offset)-1)]) * scale[min(k, len(scale)-1)])
		}
		return nil
	}, nil
}
