package operator

import (
	"fmt"
	"slices"

	"github.com/pho-go/pho/adapters/onnx/internal/graph"
	"github.com/pho-go/pho/internal/kernel"
)

// always marks operators that only rename their input.
func always(*graph.Node) bool { return true }

// copyInput is the step of such operators.
func copyInput[T kernel.Float](*graph.Node) Step[T] {
	return func(x *Exec[T]) error {
		copy(x.Out[0].F, x.In[0].F)
		copy(x.Out[0].I, x.In[0].I)
		return nil
	}
}

// shapeOps operators change a tensor's shape, not its elements' order.
func shapeOps[T kernel.Float]() []Entry[T] {
	view := func(name string, versions []int, lo, hi int, check func(*graph.Check) error, sizes func(*graph.Check, []graph.Sizes) (*graph.Sizes, error)) Entry[T] {
		return Entry[T]{
			Operator: graph.Operator{Name: name, Texts: name != "Dropout", Versions: versions, Min: lo, Max: hi, Outputs: 1, Check: check, View: always, Sizes: sizes, Moves: movesFirst},
			Rule:     sameOrderRule, Compile: copyInput[T],
		}
	}
	reshape := view("Reshape", []int{5, 13, 14, 19, 21, 23, 24, 25}, 2, 2, checkReshape, reshapeSizes)
	reshape.SizeInputs = []int{1}
	dropout := view("Dropout", []int{7, 10, 12, 13, 22}, 1, 3, checkDropout, nil)
	dropout.Rule = dropoutRule
	return []Entry[T]{
		view("Identity", []int{1, 13, 14, 16, 19, 21, 23, 24, 25}, 1, 1, checkSame, identitySizes),
		dropout,
		reshape,
		view("Flatten", []int{1, 9, 11, 13, 21, 23, 24, 25}, 1, 1, checkFlatten, nil),
		view("Squeeze", []int{1, 11, 13, 21, 23, 24, 25}, 1, 2, checkSqueeze, squeezeSizes),
		view("Unsqueeze", []int{1, 11, 13, 21, 23, 24, 25}, 1, 2, checkUnsqueeze, unsqueezeSizes),
		{Operator: graph.Operator{Name: "Shape", Texts: true, Versions: []int{1, 13, 15, 19, 21, 23, 24, 25}, Min: 1, Max: 1, Outputs: 1, Check: checkShape, ReadsShape: true, Sizes: shapeSizes},
			Rule: opaque, Compile: compileShape[T]},
		{Operator: graph.Operator{Name: "Size", Texts: true, Versions: []int{1, 13, 19, 21, 23, 24, 25}, Min: 1, Max: 1, Outputs: 1, Check: checkSize, ReadsShape: true, Sizes: sizeSizes},
			Rule: opaque, Compile: compileSize[T]},
	}
}

func checkSame(c *graph.Check) error { return c.Set(0, c.Inputs[0].Type, c.Inputs[0].Shape) }

// dropoutRule: with a mask it is not one of the rules known.
func dropoutRule(n *graph.Node) Rule {
	if len(n.Outputs) != 1 {
		return opaque(n)
	}
	return sameOrderRule(n)
}

func checkDropout(c *graph.Check) error {
	if c.Has(2) {
		v := c.Inputs[2]
		if v.Const == nil || len(v.Const.I) != 1 || v.Const.I[0] != 0 {
			return fmt.Errorf("is in training mode; export the model in evaluation mode")
		}
	}
	return c.Set(0, c.Inputs[0].Type, c.Inputs[0].Shape)
}

// checkShape is that of a constant's shape; others are followed as sizes and never
// run.
func checkShape(c *graph.Check) error {
	n := len(c.Inputs[0].Shape)
	from, to := clampRange(c.AttrInt("start", 0), c.AttrInt("end", int64(n)), n)
	return c.Set(0, graph.Int64, []int{max(to-from, 0)})
}

func compileShape[T kernel.Float](n *graph.Node) Step[T] {
	return func(x *Exec[T]) error {
		s := x.In[0].Shape
		from, _ := clampRange(n.AttrInt("start", 0), int64(len(s)), len(s))
		for i := range x.Out[0].I {
			x.Out[0].I[i] = int64(s[from+i])
		}
		return nil
	}
}

func checkSize(c *graph.Check) error { return c.Set(0, graph.Int64, []int{}) }

func compileSize[T kernel.Float](*graph.Node) Step[T] {
	return func(x *Exec[T]) error {
		x.Out[0].I[0] = int64(graph.Product(x.In[0].Shape))
		return nil
	}
}

// checkReshape resolves the target shape. Rows stay rows exactly if the batch
// axis has as many elements before it (and so after it) as it had.
func checkReshape(c *graph.Check) error {
	in := c.Inputs[0]
	target, ok := c.SizesOf(c.Inputs[1])
	if !ok || len(target.Shape) > 1 {
		return fmt.Errorf("the target shape (%q) must be known at load", c.Inputs[1].Name)
	}
	if len(target.D) > graph.MaxRank {
		return fmt.Errorf("a target shape of %d axes; at most %d are supported", len(target.D), graph.MaxRank)
	}
	out, err := resolve(c, in.Shape, target.D, c.AttrInt("allowzero", 0) != 0)
	if err != nil {
		return err
	}
	if err := keepsRows(in.Shape, out); err != nil {
		return err
	}
	return c.Set(0, in.Type, out)
}

// resolve turns a target of constants, 0 (copy), -1 (the rest) and multiples of
// N into a shape.
func resolve(c *graph.Check, in []int, target []graph.Size, allowZero bool) ([]int, error) {
	out := make([]int, len(target))
	rest := -1
	for i, d := range target {
		switch {
		case d.Rows && d.K == 1:
			out[i] = graph.Batch
		case d.Rows:
			return nil, fmt.Errorf("mixes rows: an axis of %d times the number of rows", d.K)
		case d.K == 0 && !allowZero:
			if i >= len(in) {
				return nil, fmt.Errorf("axis %d copies a size that input shape %v does not have", i, in)
			}
			out[i] = in[i]
		case d.K == -1:
			if rest >= 0 {
				return nil, fmt.Errorf("two sizes of the target shape are -1")
			}
			rest = i
			out[i] = 1
		case d.K < 0 || d.K > 1<<40:
			return nil, fmt.Errorf("impossible size %d in the target shape", d.K)
		default:
			out[i] = int(d.K)
		}
	}
	total, _ := graph.Elements(in)
	known, ok := graph.Elements(out)
	if !ok {
		return nil, fmt.Errorf("target shape %v overflows", out)
	}
	needBatch := slices.Contains(in, graph.Batch) && !slices.Contains(out, graph.Batch)
	if needBatch && c.TracedWithOneRow() && len(out) > 0 && out[0] == 1 && rest != 0 {
		// Traced with one row: the leading 1 is the batch axis.
		out[0], needBatch = graph.Batch, false
	}
	if rest >= 0 {
		switch {
		case needBatch && known == total:
			out[rest], needBatch = graph.Batch, false
		case needBatch && known != 0 && total%known == 0:
			return nil, fmt.Errorf("mixes rows: reshaping %v to %v joins the batch axis with others", in, describeTarget(target))
		case known == 0 || total%known != 0:
			return nil, fmt.Errorf("shape %v does not reshape to %v", in, describeTarget(target))
		default:
			out[rest] = total / known
			known = total
		}
	}
	if needBatch {
		return nil, fmt.Errorf("the target shape %v has no batch axis: the number of rows was fixed when the model was exported; export it with a dynamic batch axis", describeTarget(target))
	}
	if known != total {
		return nil, fmt.Errorf("shape %v does not reshape to %v", in, describeTarget(target))
	}
	return out, nil
}

func describeTarget(target []graph.Size) []string {
	var s []string
	for _, d := range target {
		switch {
		case d.Rows && d.K == 1:
			s = append(s, "N")
		case d.Rows:
			s = append(s, fmt.Sprintf("%dN", d.K))
		default:
			s = append(s, fmt.Sprint(d.K))
		}
	}
	return s
}

// keepsRows: both shapes have the batch axis behind equally many elements.
func keepsRows(in, out []int) error {
	i, j := slices.Index(in, graph.Batch), slices.Index(out, graph.Batch)
	if i < 0 && j < 0 {
		return nil
	}
	if i < 0 || j < 0 || graph.Product(in[:i]) != graph.Product(out[:j]) {
		return fmt.Errorf("mixes rows: reshaping %s to %s moves elements from row to row", graph.ShapeText(in), graph.ShapeText(out))
	}
	return nil
}

func checkFlatten(c *graph.Check) error {
	in := c.Inputs[0].Shape
	at := c.AttrInt("axis", 1)
	if at < 0 {
		at += int64(len(in))
	}
	if at < 0 || at > int64(len(in)) {
		return fmt.Errorf("axis %d is outside a tensor of %d axes", at, len(in))
	}
	join := func(s []int) (int, error) {
		n, _ := graph.Elements(s)
		if !slices.Contains(s, graph.Batch) {
			return n, nil
		}
		if n != 1 {
			return 0, fmt.Errorf("mixes rows: flattening %s at axis %d joins the batch axis with others", graph.ShapeText(in), at)
		}
		return graph.Batch, nil
	}
	rows, err := join(in[:at])
	if err != nil {
		return err
	}
	cols, err := join(in[at:])
	if err != nil {
		return err
	}
	return c.Set(0, c.Inputs[0].Type, []int{rows, cols})
}

func checkSqueeze(c *graph.Check) error {
	in := c.Inputs[0].Shape
	axes, given, err := c.Axes(1, 13)
	if err != nil {
		return err
	}
	set, err := graph.AxisSet(axes, len(in))
	if err != nil {
		return err
	}
	out := []int{}
	for i, d := range in {
		switch {
		case given && set[i] && d == graph.Batch:
			return fmt.Errorf("removes the batch axis %d", i)
		case given && set[i] && d != 1:
			return fmt.Errorf("axis %d has size %d, not 1", i, d)
		case given && !set[i], !given && d != 1:
			out = append(out, d)
		}
	}
	return c.Set(0, c.Inputs[0].Type, out)
}

func checkUnsqueeze(c *graph.Check) error {
	in := c.Inputs[0].Shape
	axes, given, err := c.Axes(1, 13)
	if err != nil {
		return err
	}
	if !given {
		return fmt.Errorf("names no axes")
	}
	if len(axes) > graph.MaxRank {
		return fmt.Errorf("names %d axes; at most %d are supported", len(axes), graph.MaxRank)
	}
	set, err := graph.AxisSet(axes, len(in)+len(axes))
	if err != nil {
		return err
	}
	out := make([]int, len(set))
	for i, new := range set {
		if out[i] = 1; !new {
			out[i], in = in[0], in[1:]
		}
	}
	return c.Set(0, c.Inputs[0].Type, out)
}
