package operator

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/pho-go/pho/adapters/onnx/internal/graph"
	"github.com/pho-go/pho/internal/base/kernel"
)

// normOps normalise over axes other than the batch axis.
func normOps[T kernel.Float]() []Entry[T] {
	return []Entry[T]{
		{Operator: graph.Operator{Name: "Softmax", Versions: []int{1, 11, 13}, Min: 1, Max: 1, Outputs: 1, AnyLayout: true, Check: checkSoftmax},
			Rule: softmaxRule, Compile: compileSoftmax[T](false), InPlace: true, Head: "softmax"},
		{Operator: graph.Operator{Name: "LogSoftmax", Versions: []int{1, 11, 13}, Min: 1, Max: 1, Outputs: 1, AnyLayout: true, Check: checkSoftmax},
			Rule: softmaxRule, Compile: compileSoftmax[T](true), InPlace: true, Head: "logsoftmax"},
		{Operator: graph.Operator{Name: "BatchNormalization", Versions: []int{7, 9, 14, 15}, Min: 5, Max: 5, Outputs: 1, AnyLayout: true, Check: checkBatchNorm},
			Rule: batchNormRule, Compile: compileBatchNorm[T], Weighs: true},
		{Operator: graph.Operator{Name: "LayerNormalization", Versions: []int{17}, Min: 2, Max: 3, Outputs: 3, AnyLayout: true, Check: checkLayerNorm},
			Rule: layerNormRule, Compile: compileLayerNorm[T]},
		{Operator: graph.Operator{Name: "InstanceNormalization", Versions: []int{6, 22}, Min: 3, Max: 3, Outputs: 1, AnyLayout: true, Check: checkInstanceNorm},
			Rule: opaque, Compile: compileInstanceNorm[T]},
	}
}

// channel requires input i to be a constant or value of shape [n].
func channel(c *graph.Check, i, n int) error {
	if v := c.Inputs[i]; len(v.Shape) != 1 || v.Shape[0] != n || !v.Type.Floating() {
		return fmt.Errorf("input %d (%q) must have shape [%d], has %s", i, v.Name, n, graph.ShapeText(v.Shape))
	}
	return nil
}

// checkLayerNorm: outputs 1 and 2 are the mean and 1/sqrt(variance + eps), in the type of
// stash_type.
func checkLayerNorm(c *graph.Check) error {
	at, err := normalizedAxes(c)
	if err != nil {
		return err
	}
	stash, err := graph.TypeOf(int32(c.AttrInt("stash_type", 1)))
	if err != nil || !stash.Floating() {
		return fmt.Errorf("stash_type %d is not supported; export it with 1, float", c.AttrInt("stash_type", 1))
	}
	in := c.Inputs[0].Shape
	for i := 1; i < 3; i++ {
		if err := c.Set(i, stash, append(slices.Clone(in[:at]), slices.Repeat([]int{1}, len(in)-at)...)); err != nil {
			return err
		}
	}
	return c.Set(0, c.Inputs[0].Type, in)
}

// normalizedAxes leaves in Resolved the first of the axes that are normalised together,
// and checks that the other inputs hold a number for each of their elements.
func normalizedAxes(c *graph.Check) (at int, err error) {
	if err := c.Floating(0); err != nil {
		return 0, err
	}
	in := c.Inputs[0].Shape
	if at, err = graph.Axis(c.AttrInt("axis", -1), len(in)); err != nil {
		return 0, err
	}
	if graph.HasRows(in[at:]) {
		return 0, fmt.Errorf("mixes rows: it normalises over the batch axis of %s", graph.ShapeText(in))
	}
	c.Resolved = at
	size, _ := graph.Elements(in[at:])
	for i := 1; i < len(c.Inputs); i++ {
		if v := c.Inputs[i]; v != nil {
			if n, _ := graph.Elements(v.Shape); n != size || v.BatchAxis() >= 0 || !v.Type.Floating() {
				return 0, fmt.Errorf("input %d (%q) has shape %s; only the %d normalised elements are supported", i, v.Name, graph.ShapeText(v.Shape), size)
			}
		}
	}
	return at, nil
}

func compileLayerNorm[T kernel.Float](n *graph.Node) Step[T] {
	eps := n.AttrFloat("epsilon", 1e-5)
	at := n.Resolved.(int)
	return func(x *Exec[T]) error {
		in, out, scale := x.In[0], x.Out[0], x.In[1].F
		size := graph.Product(in.Shape[at:])
		if size == 0 {
			return nil
		}
		var bias, means, inverses []T
		if len(x.In) > 2 {
			bias = x.In[2].F
		}
		if len(x.Out) > 1 {
			means = x.Out[1].F
		}
		if len(x.Out) > 2 {
			inverses = x.Out[2].F
		}
		for k := range len(in.F) / size {
			row, dst := in.F[k*size:(k+1)*size], out.F[k*size:(k+1)*size]
			mean, sd := meanSD(row, eps)
			for i, v := range row {
				y := (float64(v) - mean) / sd * float64(scale[i])
				if bias != nil {
					y += float64(bias[i])
				}
				dst[i] = T(y)
			}
			if means != nil {
				means[k] = T(mean)
			}
			if inverses != nil {
				inverses[k] = T(1 / sd)
			}
		}
		return nil
	}
}

// meanSD is the mean and sqrt(variance + eps), dividing by n.
func meanSD[T kernel.Float](v []T, eps float64) (mean, sd float64) {
	for _, x := range v {
		mean += float64(x)
	}
	mean /= float64(len(v))
	s := 0.0
	for _, x := range v {
		d := float64(x) - mean
		s += float64(d * d)
	}
	return mean, math.Sqrt(s/float64(len(v)) + eps)
}

func checkInstanceNorm(c *graph.Check) error {
	if err := c.Floating(0); err != nil {
		return err
	}
	in := c.Inputs[0].Shape
	if len(in) < 3 {
		return fmt.Errorf("needs a tensor [rows, channels, ...], has %s", graph.ShapeText(in))
	}
	for _, d := range in[1:] {
		if graph.IsRows(d) {
			return fmt.Errorf("mixes rows: the batch axis of %s is not the first", graph.ShapeText(in))
		}
	}
	if err := errors.Join(channel(c, 1, in[1]), channel(c, 2, in[1])); err != nil {
		return err
	}
	return c.Set(0, c.Inputs[0].Type, in)
}

func compileInstanceNorm[T kernel.Float](n *graph.Node) Step[T] {
	eps := n.AttrFloat("epsilon", 1e-5)
	return func(x *Exec[T]) error {
		in, out, scale, bias := x.In[0], x.Out[0], x.In[1].F, x.In[2].F
		size := graph.Product(in.Shape[2:])
		if size == 0 {
			return nil
		}
		for k := range len(in.F) / size {
			row, dst := in.F[k*size:(k+1)*size], out.F[k*size:(k+1)*size]
			mean, sd := meanSD(row, eps)
			c := k % len(scale)
			for i, v := range row {
				dst[i] = T((float64(v)-mean)/sd*float64(scale[c]) + float64(bias[c]))
			}
		}
		return nil
	}
}

// softmaxRule: an element depends on those it is normalised with; before opset 13
// all axes from axis on were taken together.
func softmaxRule(n *graph.Node) Rule {
	d := n.Outputs[0].RowShape()
	def := int64(-1)
	if n.Version < 13 {
		def = 1
	}
	axis, ok := normalAxis(int(n.AttrInt("axis", def)), len(d))
	if !ok {
		return opaque(n)
	}
	size, step := d[axis], graph.Product(d[axis+1:])
	if n.Version < 13 {
		size, step = graph.Product(d[axis:]), 1
	}
	return lineRule(size, size, step)
}

// layerNormRule: an element depends on all that it is normalised with; further outputs
// have one element for all of them. Scale and bias, if they are not constants, are left to
// the opaque rule.
func layerNormRule(n *graph.Node) Rule {
	d := n.Inputs[0].RowShape()
	axis, ok := normalAxis(int(n.AttrInt("axis", -1)), len(d))
	if !ok || slices.ContainsFunc(n.Inputs[1:], func(v *graph.Value) bool { return v != nil && v.Const == nil }) {
		return opaque(n)
	}
	size := graph.Product(d[axis:])
	return Rule{Cost: size, Each: func(o, e int, yield Link) {
		first := e * size
		if o == 0 {
			first = e / size * size
		}
		for k := range size {
			yield(0, first+k, 1)
		}
	}}
}
