package operator

import (
	"fmt"

	"github.com/pho-go/pho/adapters/onnx/internal/graph"
	"github.com/pho-go/pho/internal/base/kernel"
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
			Operator: graph.Operator{Name: name, Texts: name != "Dropout", Versions: versions, Min: lo, Max: hi, Outputs: 1, Check: check, AnyLayout: true, View: always, Sizes: sizes, Moves: movesFirst},
			Rule:     sameOrderRule, Compile: copyInput[T],
		}
	}
	reshape := is(graph.Reshaping|graph.Affine|graph.Indexing|graph.Sizing|graph.Arithmetic, view("Reshape", []int{5, 13, 14, 19, 21, 23, 24, 25}, 2, 2, checkReshape, reshapeSizes))
	reshape.SizeInputs = []int{1}
	return []Entry[T]{
		is(graph.Pointwise|graph.Reshaping|graph.Affine|graph.Indexing|graph.Sizing|graph.Arithmetic, view("Identity", []int{1, 13, 14, 16, 19, 21, 23, 24, 25}, 1, 1, checkSame, identitySizes)),
		view("Dropout", []int{7, 10, 12, 13, 22}, 1, 3, checkDropout, nil),
		reshape,
		is(graph.Reshaping|graph.Affine|graph.Indexing|graph.Arithmetic, view("Flatten", []int{1, 9, 11, 13, 21, 23, 24, 25}, 1, 1, checkFlatten, nil)),
		is(graph.Reshaping|graph.Affine|graph.Indexing|graph.Sizing|graph.Arithmetic, view("Squeeze", []int{1, 11, 13, 21, 23, 24, 25}, 1, 2, checkSqueeze, squeezeSizes)),
		is(graph.Reshaping|graph.Affine|graph.Indexing|graph.Sizing|graph.Arithmetic, view("Unsqueeze", []int{1, 11, 13, 21, 23, 24, 25}, 1, 2, checkUnsqueeze, unsqueezeSizes)),
		{Operator: graph.Operator{Name: "Shape", Texts: true, Versions: []int{1, 13, 15, 19, 21, 23, 24, 25}, Min: 1, Max: 1, Outputs: 1, AnyLayout: true, Check: checkShape, ReadsShape: true, Sizes: shapeSizes},
			Rule: opaque, Compile: compileShape[T]},
		{Operator: graph.Operator{Name: "Size", Texts: true, Versions: []int{1, 13, 19, 21, 23, 24, 25}, Min: 1, Max: 1, Outputs: 1, AnyLayout: true, Check: checkSize, ReadsShape: true, Sizes: sizeSizes},
			Rule: opaque, Compile: compileSize[T]},
	}
}

func checkSame(c *graph.Check) error { return c.Set(0, c.Inputs[0].Type, c.Inputs[0].Shape) }

// checkDropout: at inference, and if nothing is dropped, it is the identity.
func checkDropout(c *graph.Check) error {
	if !c.Has(2) {
		return checkSame(c)
	}
	training := c.Inputs[2].Const
	if training == nil || len(training.I) != 1 {
		return fmt.Errorf("whether it is in training mode (%q) is not known at load; export the model in evaluation mode", c.Inputs[2].Name)
	}
	if training.I[0] != 0 {
		drops := true
		if c.Has(1) && c.Inputs[1].Const != nil && len(c.Inputs[1].Const.F) == 1 {
			drops = c.Inputs[1].Const.F[0] != 0
		}
		if drops {
			return fmt.Errorf("is in training mode: it drops at random, and no answer would repeat; export the model in evaluation mode")
		}
	}
	return checkSame(c)
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

// checkReshape resolves the target shape. Rows stay rows: the batch axis has as many
// elements of each row before it (and so after it) as it had.
func checkReshape(c *graph.Check) error {
	in := c.Inputs[0]
	target, ok := c.SizesOf(c.Inputs[1])
	if !ok || len(target.Shape) > 1 {
		return fmt.Errorf("the target shape (%q) must be known at load", c.Inputs[1].Name)
	}
	if len(target.D) > graph.MaxRank {
		return fmt.Errorf("a target shape of %d axes; at most %d are supported", len(target.D), graph.MaxRank)
	}
	t, err := readTarget(in.Shape, target.D, c.AttrInt("allowzero", 0) != 0)
	if err != nil {
		return err
	}
	rows := t.mayHoldRows(c.TracedWithOneRow())
	if graph.HasRows(in.Shape) && len(rows) == 0 {
		return fmt.Errorf("the target shape %v has no batch axis: the number of rows was fixed when the model was exported; export it with a dynamic batch axis", t.describe())
	}
	if err := t.fill(in.Shape); err != nil {
		return err
	}
	if err := t.placeRows(in.Shape, rows); err != nil {
		return err
	}
	return c.Set(0, in.Type, t.size)
}

// target is the shape that a Reshape asks for, in elements of one row.
type target struct {
	asked []graph.Size
	size  []int
	rest  int // the axis of size -1, or -1
	rows  int // the axis that is a multiple of the number of rows, or -1
}

// readTarget reads constants, 0 (copy), -1 (the rest) and multiples of N.
func readTarget(in []int, asked []graph.Size, allowZero bool) (*target, error) {
	t := &target{asked, make([]int, len(asked)), -1, -1}
	for i, d := range asked {
		rows := d.Rows
		switch {
		case !d.Rows && d.K == 0 && !allowZero:
			if i >= len(in) {
				return nil, fmt.Errorf("axis %d copies a size that input shape %s does not have", i, graph.ShapeText(in))
			}
			t.size[i], rows = graph.PerRow(in[i]), graph.IsRows(in[i])
		case !d.Rows && d.K == -1:
			if t.rest >= 0 {
				return nil, fmt.Errorf("two sizes of the target shape are -1")
			}
			t.rest, t.size[i] = i, 1
		case d.K < 0 || d.K > 1<<40:
			return nil, fmt.Errorf("impossible size %d in the target shape", d.K)
		default:
			t.size[i] = int(d.K)
		}
		if !rows {
			continue
		}
		if t.rows >= 0 {
			return nil, fmt.Errorf("mixes rows: its output would have two batch axes (every row paired with every row)")
		}
		t.rows = i
	}
	return t, nil
}

// fill gives the axis of size -1 what is left of a row.
func (t *target) fill(in []int) error {
	total, _ := graph.Elements(in)
	known, ok := graph.Elements(t.size)
	switch {
	case !ok:
		return fmt.Errorf("target shape %v overflows", t.describe())
	case t.rest >= 0 && known != 0 && total%known == 0:
		t.size[t.rest] = total / known
	case t.rest >= 0 || known != total:
		return fmt.Errorf("shape %s does not reshape to %v", graph.ShapeText(in), t.describe())
	}
	return nil
}

// placeRows makes one axis the batch axis: of the candidates that keep rows apart one that
// holds the rows alone, else one that holds them joined with the axes that the Reshape
// takes away, else with the axes that it adds. Networks that were traced with one row say
// no more about where the rows are.
func (t *target) placeRows(in []int, candidates []int) error {
	if !graph.HasRows(in) {
		if t.rows >= 0 {
			return fmt.Errorf("mixes rows: reshaping %s to %v moves elements from row to row", graph.ShapeText(in), t.describe())
		}
		return nil
	}
	best, axis, found := 4, 0, -1
	for _, at := range candidates {
		d, ok := splitRows(in, t.size, at)
		if !ok {
			continue
		}
		outer, inner := graph.AroundRows(d)
		rank := 3
		switch fewer := len(t.size) < len(in); {
		case d == graph.Batch:
			rank = 0
		case fewer && inner == 1 || !fewer && outer == 1:
			rank = 1
		case inner == 1 || outer == 1:
			rank = 2
		}
		if rank < best {
			best, axis, found = rank, d, at
		}
	}
	if found >= 0 {
		t.size[found] = axis
		return nil
	}
	return fmt.Errorf("mixes rows: reshaping %s to %v moves elements from row to row", graph.ShapeText(in), t.describe())
}

// mayHoldRows lists the axes that may be the batch axis: the one that is a multiple of the
// number of rows, or, all others being constants, the rest. In a network traced with one
// row any may, a leading 1 first.
func (t *target) mayHoldRows(tracedWithOneRow bool) []int {
	if t.rows >= 0 {
		return []int{t.rows}
	}
	var axes []int
	if tracedWithOneRow && len(t.size) > 0 && t.size[0] == 1 && t.rest != 0 {
		axes = append(axes, 0)
	}
	if t.rest >= 0 {
		axes = append(axes, t.rest)
	}
	if tracedWithOneRow {
		for i := range t.size {
			axes = append(axes, i)
		}
	}
	return axes
}

// splitRows is axis at of a shape, given in elements of one row, as batch axis of a
// tensor whose elements stand in the order of shape in; false if rows would mix.
func splitRows(in, out []int, at int) (d int, ok bool) {
	before, _ := graph.Around(in)
	outside, size := graph.Product(out[:at]), out[at]
	if n := graph.Product(out); n == 0 { // no elements, which have no order
		return graph.RowsAxis(1, size)
	}
	if before%outside != 0 || size%(before/outside) != 0 {
		return 0, false
	}
	return graph.RowsAxis(before/outside, size/(before/outside))
}

func (t *target) describe() []string {
	var s []string
	for _, d := range t.asked {
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

func checkFlatten(c *graph.Check) error {
	in := c.Inputs[0].Shape
	at := c.AttrInt("axis", 1)
	if at < 0 {
		at += int64(len(in))
	}
	if at < 0 || at > int64(len(in)) {
		return fmt.Errorf("axis %d is outside a tensor of %d axes", at, len(in))
	}
	rows, _ := graph.Elements(in[:at])
	cols, _ := graph.Elements(in[at:])
	out := []int{rows, cols}
	if batch := graph.RowsIn(in); batch >= 0 {
		side := 0
		if batch >= int(at) {
			side = 1
		}
		var ok bool
		if out[side], ok = splitRows(in, out, side); !ok {
			return fmt.Errorf("flattening %s at axis %d gives an axis that is too large", graph.ShapeText(in), at)
		}
	}
	return c.Set(0, c.Inputs[0].Type, out)
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
		case given && set[i] && graph.IsRows(d):
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
