package onnx

import (
	"fmt"
	"slices"

	"github.com/pho-go/pho/internal/kernel"
)

// always marks operators that only rename their input.
func always(*Node) bool { return true }

// copyInput is the step of such operators.
func copyInput[T kernel.Float](*Node) (step[T], error) {
	return func(x *exec[T]) error {
		copy(x.out[0].f, x.in[0].f)
		copy(x.out[0].i, x.in[0].i)
		return nil
	}, nil
}

// shapeOps change a tensor's shape, not its elements' order.
func shapeOps[T kernel.Float](t table[T]) {
	view := func(name string, lo, hi int, shapes []int, infer func(c *nodeCheck) error) {
		t[name] = operator[T]{min: lo, max: hi, outputs: 1, shapes: shapes, infer: infer, compile: copyInput[T], view: always}
	}
	same := func(c *nodeCheck) error { return c.set(0, c.Inputs[0].Type, c.Inputs[0].Shape) }
	view("Identity", 1, 1, nil, same)
	view("Dropout", 1, 3, nil, inferDropout)
	view("Reshape", 2, 2, []int{1}, inferReshape)
	view("Flatten", 1, 1, nil, inferFlatten)
	view("Squeeze", 1, 2, nil, inferSqueeze)
	view("Unsqueeze", 1, 2, nil, inferUnsqueeze)
	t["Shape"] = constantShape[T]()
	t["Size"] = constantShape[T]()
}

func inferDropout(c *nodeCheck) error {
	if c.has(2) {
		v := c.Inputs[2]
		if v.Const == nil || len(v.Const.I) != 1 || v.Const.I[0] != 0 {
			return fmt.Errorf("is in training mode; export the model in evaluation mode")
		}
	}
	return c.set(0, c.Inputs[0].Type, c.Inputs[0].Shape)
}

// constantShape is Shape and Size of a constant; others are followed
// symbolically and never run.
func constantShape[T kernel.Float]() operator[T] {
	return operator[T]{min: 1, max: 1, outputs: 1,
		infer: func(c *nodeCheck) error {
			if c.Op == "Size" {
				return c.set(0, Int64, []int{})
			}
			n := len(c.Inputs[0].Shape)
			from, to := clampRange(c.attrInt("start", 0), c.attrInt("end", int64(n)), n)
			return c.set(0, Int64, []int{max(to-from, 0)})
		},
		compile: func(n *Node) (step[T], error) {
			return func(x *exec[T]) error {
				if n.Op == "Size" {
					x.out[0].i[0] = int64(product(x.in[0].shape))
					return nil
				}
				s := x.in[0].shape
				from, _ := clampRange(n.attrInt("start", 0), int64(len(s)), len(s))
				for i := range x.out[0].i {
					x.out[0].i[i] = int64(s[from+i])
				}
				return nil
			}, nil
		}}
}

// inferReshape resolves the target shape. Rows stay rows exactly if the batch
// axis has as many elements before it (and so after it) as it had.
func inferReshape(c *nodeCheck) error {
	in := c.Inputs[0]
	target, ok := c.dimsOf(c.Inputs[1])
	if !ok || len(target.shape) > 1 {
		return fmt.Errorf("the target shape (%q) must be known at load", c.Inputs[1].Name)
	}
	if len(target.d) > maxRank {
		return fmt.Errorf("a target shape of %d axes; at most %d are supported", len(target.d), maxRank)
	}
	out, err := c.resolve(in.Shape, target.d, c.attrInt("allowzero", 0) != 0)
	if err != nil {
		return err
	}
	if err := keepsRows(in.Shape, out); err != nil {
		return err
	}
	return c.set(0, in.Type, out)
}

// resolve turns a target of constants, 0 (copy), -1 (the rest) and multiples of
// N into a shape.
func (c *nodeCheck) resolve(in []int, target []dim, allowZero bool) ([]int, error) {
	out := make([]int, len(target))
	rest := -1
	for i, d := range target {
		switch {
		case d.rows && d.k == 1:
			out[i] = Batch
		case d.rows:
			return nil, fmt.Errorf("mixes rows: an axis of %d times the number of rows", d.k)
		case d.k == 0 && !allowZero:
			if i >= len(in) {
				return nil, fmt.Errorf("axis %d copies a size that input shape %v does not have", i, in)
			}
			out[i] = in[i]
		case d.k == -1:
			if rest >= 0 {
				return nil, fmt.Errorf("two sizes of the target shape are -1")
			}
			rest = i
			out[i] = 1
		case d.k < 0 || d.k > 1<<40:
			return nil, fmt.Errorf("impossible size %d in the target shape", d.k)
		default:
			out[i] = int(d.k)
		}
	}
	total, _ := elements(in)
	known, ok := elements(out)
	if !ok {
		return nil, fmt.Errorf("target shape %v overflows", out)
	}
	needBatch := slices.Contains(in, Batch) && !slices.Contains(out, Batch)
	if needBatch && c.b.fixedOne && len(out) > 0 && out[0] == 1 && rest != 0 {
		// Traced with one row: the leading 1 is the batch axis.
		out[0], needBatch = Batch, false
	}
	if rest >= 0 {
		switch {
		case needBatch && known == total:
			out[rest], needBatch = Batch, false
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

func describeTarget(target []dim) []string {
	var s []string
	for _, d := range target {
		switch {
		case d.rows && d.k == 1:
			s = append(s, "N")
		case d.rows:
			s = append(s, fmt.Sprintf("%dN", d.k))
		default:
			s = append(s, fmt.Sprint(d.k))
		}
	}
	return s
}

// keepsRows: both shapes have the batch axis behind equally many elements.
func keepsRows(in, out []int) error {
	i, j := slices.Index(in, Batch), slices.Index(out, Batch)
	if i < 0 && j < 0 {
		return nil
	}
	if i < 0 || j < 0 || product(in[:i]) != product(out[:j]) {
		return fmt.Errorf("mixes rows: reshaping %s to %s moves elements from row to row", showShape(in), showShape(out))
	}
	return nil
}

// showShape writes N for the batch axis.
func showShape(shape []int) string {
	d := make([]dim, len(shape))
	for i, n := range shape {
		d[i] = dim{int64(n), false}
		if n == Batch {
			d[i] = dim{1, true}
		}
	}
	return fmt.Sprint(describeTarget(d))
}

func inferFlatten(c *nodeCheck) error {
	in := c.Inputs[0].Shape
	at := c.attrInt("axis", 1)
	if at < 0 {
		at += int64(len(in))
	}
	if at < 0 || at > int64(len(in)) {
		return fmt.Errorf("axis %d is outside a tensor of %d axes", at, len(in))
	}
	join := func(s []int) (int, error) {
		n, _ := elements(s)
		if !slices.Contains(s, Batch) {
			return n, nil
		}
		if n != 1 {
			return 0, fmt.Errorf("mixes rows: flattening %s at axis %d joins the batch axis with others", showShape(in), at)
		}
		return Batch, nil
	}
	rows, err := join(in[:at])
	if err != nil {
		return err
	}
	cols, err := join(in[at:])
	if err != nil {
		return err
	}
	return c.set(0, c.Inputs[0].Type, []int{rows, cols})
}

func inferSqueeze(c *nodeCheck) error {
	in := c.Inputs[0].Shape
	axes, given, err := c.axes(1, 13)
	if err != nil {
		return err
	}
	set, err := axisSet(axes, len(in))
	if err != nil {
		return err
	}
	out := []int{}
	for i, d := range in {
		switch {
		case given && set[i] && d == Batch:
			return fmt.Errorf("removes the batch axis %d", i)
		case given && set[i] && d != 1:
			return fmt.Errorf("axis %d has size %d, not 1", i, d)
		case given && !set[i], !given && d != 1:
			out = append(out, d)
		}
	}
	return c.set(0, c.Inputs[0].Type, out)
}

func inferUnsqueeze(c *nodeCheck) error {
	in := c.Inputs[0].Shape
	axes, given, err := c.axes(1, 13)
	if err != nil {
		return err
	}
	if !given {
		return fmt.Errorf("names no axes")
	}
	if len(axes) > maxRank {
		return fmt.Errorf("names %d axes; at most %d are supported", len(axes), maxRank)
	}
	set, err := axisSet(axes, len(in)+len(axes))
	if err != nil {
		return err
	}
	out := make([]int, len(set))
	for i, new := range set {
		if out[i] = 1; !new {
			out[i], in = in[0], in[1:]
		}
	}
	return c.set(0, c.Inputs[0].Type, out)
}
