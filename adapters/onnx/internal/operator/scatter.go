package operator

import (
	"fmt"
	"slices"

	"github.com/pho-go/pho/adapters/onnx/internal/graph"
	"github.com/pho-go/pho/internal/base/kernel"
)

// scatterOps copy a tensor and put updates at positions that another one holds, one
// after another.
func scatterOps[T kernel.Float]() []Entry[T] {
	scatter := func(name string, versions []int, check func(*graph.Check) error) Entry[T] {
		return Entry[T]{Operator: graph.Operator{Name: name, Versions: versions, Min: 3, Max: 3, Outputs: 1, Check: check},
			Rule: scatterRule, Compile: compileScatter[T]}
	}
	elements := is(graph.Indexing, scatter("ScatterElements", []int{11, 13, 16, 18}, checkScatterElements))
	elements.Sizes = scatterSizes
	return []Entry[T]{
		scatter("Scatter", []int{9, 11}, checkScatterElements),
		elements,
		scatter("ScatterND", []int{11, 13, 16, 18}, checkScatterND),
	}
}

// scatterSizes puts sizes in the place of others, as exporters rebuild a shape.
func scatterSizes(c *graph.Check, in []graph.Sizes) (*graph.Sizes, error) {
	if a, ok := c.Attrs["reduction"]; ok && a.String != "none" || len(in[0].Shape) != 1 || len(in[1].D) != len(in[2].D) {
		return nil, nil
	}
	out := graph.Sizes{Shape: in[0].Shape, D: slices.Clone(in[0].D)}
	for i, at := range in[1].D {
		k, err := position(at.K, len(out.D))
		if at.Rows || err != nil {
			return nil, err
		}
		out.D[k] = in[2].D[i]
	}
	return &out, nil
}

// scattered is where updates go and what becomes of them.
type scattered struct {
	reduction string
	axis      int // of ScatterElements
	named     int // axes that a tuple names, of ScatterND; 0 for ScatterElements
	// known are the positions of a row, where all rows have the same; nil: they are not known.
	known *graph.Tensor
}

// checkUpdates: updates have the type of the data, and a reduction that it has.
func checkUpdates(c *graph.Check) (reduction string, err error) {
	in, updates := c.Inputs[0], c.Inputs[2]
	if in.Type != updates.Type {
		return "", fmt.Errorf("inputs 0 (%q) and 2 (%q) have types %s and %s", in.Name, updates.Name, in.Type, updates.Type)
	}
	if err := positions(c, 1); err != nil {
		return "", err
	}
	reduction = "none"
	if a, ok := c.Attrs["reduction"]; ok && c.Op != "Scatter" {
		reduction = a.String
	}
	switch reduction {
	case "none", "add", "mul", "max", "min":
		return reduction, nil
	}
	return "", fmt.Errorf("reduction %q is not known: none, add, mul, max and min are", reduction)
}

// checkScatterElements: indices and updates have one shape, no larger than the data's,
// and meet its rows row by row.
func checkScatterElements(c *graph.Check) error {
	reduction, err := checkUpdates(c)
	if err != nil {
		return err
	}
	in, index, updates := c.Inputs[0].Shape, c.Inputs[1].Shape, c.Inputs[2].Shape
	if len(in) == 0 || len(index) != len(in) || !slices.Equal(index, updates) {
		return fmt.Errorf("indices of shape %s and updates of shape %s for %s", graph.ShapeText(index), graph.ShapeText(updates), graph.ShapeText(in))
	}
	at, err := graph.Axis(c.AttrInt("axis", 0), len(in))
	if err != nil {
		return err
	}
	for i, d := range in {
		switch batch := graph.IsRows(d) || graph.IsRows(index[i]); {
		case batch && i == at:
			return fmt.Errorf("mixes rows: its indices name rows, the batch axis %d of %s", at, graph.ShapeText(in))
		case batch && d != index[i]:
			return fmt.Errorf("the batch axis meets a fixed size (indices of shape %s for %s); export the model with a dynamic batch axis", graph.ShapeText(index), graph.ShapeText(in))
		case i != at && index[i] > d:
			return fmt.Errorf("indices of shape %s for %s", graph.ShapeText(index), graph.ShapeText(in))
		}
	}
	if k := c.EachRow(1); k != nil {
		for _, p := range k.I {
			if _, err := position(p, in[at]); err != nil {
				return fmt.Errorf("axis %d of the tensor: %w", at, err)
			}
		}
	}
	c.Resolved = &scattered{reduction: reduction, axis: at, known: c.EachRow(1)}
	return c.Set(0, c.Inputs[0].Type, in)
}

// checkScatterND: a tuple names the first axes of the data, which are none of the rows.
func checkScatterND(c *graph.Check) error {
	reduction, err := checkUpdates(c)
	if err != nil {
		return err
	}
	u, err := readTuples(c, 0)
	if err != nil {
		return err
	}
	in, index, updates := c.Inputs[0].Shape, c.Inputs[1].Shape, c.Inputs[2].Shape
	if want := slices.Concat(index[:len(index)-1], in[u.named:]); !slices.Equal(updates, want) {
		return fmt.Errorf("updates of shape %s where indices %s and the tensor %s need %s", graph.ShapeText(updates), graph.ShapeText(index), graph.ShapeText(in), graph.ShapeText(want))
	}
	if graph.HasRows(index) {
		return fmt.Errorf("mixes rows: the updates of all rows go into one tensor %s", graph.ShapeText(in))
	}
	c.Resolved = &scattered{reduction: reduction, named: u.named, known: c.EachRow(1)}
	return c.Set(0, c.Inputs[0].Type, in)
}

// each calls put with the places of every update, in order, in a tensor of shape in: that
// of its first element, and of the update's; run elements follow both.
func (s *scattered) each(in, index []int, positions []int64, put func(to, from, run int)) error {
	if s.named > 0 {
		run := graph.Product(in[s.named:])
		for i := range graph.Product(index[:len(index)-1]) {
			k, err := offset(positions[i*s.named:(i+1)*s.named], in[:s.named])
			if err != nil {
				return err
			}
			put(k*run, i*run, run)
		}
		return nil
	}
	var stride, at [graph.MaxRank]int
	for i, p := len(in)-1, 1; i >= 0; i-- {
		stride[i] = p
		p *= in[i]
	}
	for from, p := range positions {
		k, err := position(p, in[s.axis])
		if err != nil {
			return err
		}
		to := k * stride[s.axis]
		for i := range in {
			if i != s.axis {
				to += at[i] * stride[i]
			}
		}
		put(to, from, 1)
		for i := len(in) - 1; i >= 0; i-- {
			if at[i]++; at[i] < index[i] {
				break
			}
			at[i] = 0
		}
	}
	return nil
}

func compileScatter[T kernel.Float](n *graph.Node) Step[T] {
	s := n.Resolved.(*scattered)
	f, g := joinReals[T](s.reduction), joinIntegers(s.reduction, n.Outputs[0].Type)
	return func(x *Exec[T]) error {
		in, index, updates, out := x.In[0], x.In[1], x.In[2], x.Out[0]
		copy(out.F, in.F)
		copy(out.I, in.I)
		return s.each(in.Shape, index.Shape, index.I, func(to, from, run int) {
			if out.F != nil {
				join(out.F[to:to+run], updates.F[from:from+run], f)
			} else {
				join(out.I[to:to+run], updates.I[from:from+run], g)
			}
		})
	}
}

// join combines the elements of dst with updates; without f these replace them.
func join[A number](dst, updates []A, f func(old, update A) A) {
	if f == nil {
		copy(dst, updates)
		return
	}
	for i, v := range updates {
		dst[i] = f(dst[i], v)
	}
}

func joinReals[T kernel.Float](reduction string) func(old, update T) T {
	switch reduction {
	case "add":
		return func(x, y T) T { return x + y }
	case "mul":
		return func(x, y T) T { return x * y }
	case "max":
		return func(x, y T) T { return max(x, y) }
	case "min":
		return func(x, y T) T { return min(x, y) }
	}
	return nil
}

// joinIntegers wraps around in the type; sums and products of bool are or and and.
func joinIntegers(reduction string, t graph.DType) func(old, update int64) int64 {
	switch reduction {
	case "add":
		return func(x, y int64) int64 { return t.Wrap(x + y) }
	case "mul":
		return func(x, y int64) int64 { return t.Wrap(x * y) }
	case "max":
		return func(x, y int64) int64 {
			if t.Order(y) > t.Order(x) {
				return y
			}
			return x
		}
	case "min":
		return func(x, y int64) int64 {
			if t.Order(y) < t.Order(x) {
				return y
			}
			return x
		}
	}
	return nil
}

// maxFollowed bounds the updates that a rule knows one by one.
const maxFollowed = 1 << 16

// scatterRule: with known positions an element is the data's, the last update's, or the
// sum of both; otherwise the data's and whatever update may come there.
func scatterRule(n *graph.Node) Rule {
	s, ok := n.Resolved.(*scattered)
	if !ok {
		return opaque(n)
	}
	in, index := n.Inputs[0].RowShape(), n.Inputs[1].RowShape()
	if s.known == nil || n.Inputs[2].Width() > maxFollowed {
		return s.unknown(in, index)
	}
	updates := map[int][]int{} // of an element, in order
	count := 0
	_ = s.each(in, index, s.known.I, func(to, from, run int) { // checked
		for i := range run {
			updates[to+i] = append(updates[to+i], from+i)
			count = max(count, len(updates[to+i]))
		}
	})
	floating := n.Outputs[0].Type.Floating()
	return Rule{Linear: s.reduction == "none" || s.reduction == "add" && floating, Cost: 1 + count, Each: func(_, e int, yield Link) {
		own := updates[e]
		if s.reduction == "none" && len(own) > 0 {
			yield(2, own[len(own)-1], 1)
			return
		}
		yield(0, e, 1)
		for _, u := range own {
			yield(2, u, 1)
		}
	}}
}

// unknown is the rule of positions that depend on the data.
func (s *scattered) unknown(in, index []int) Rule {
	if s.named > 0 {
		return Rule{}
	}
	strides := rowMajor(index)
	c := make([]int, len(in))
	return Rule{Cost: 1 + 2*index[s.axis], Each: func(_, e int, yield Link) {
		yield(0, e, 1)
		unravel(e, in, c)
		from := 0
		for i, k := range c {
			if i == s.axis {
				continue
			}
			if k >= index[i] {
				return // no update comes to this line
			}
			from += k * strides[i]
		}
		for k := range index[s.axis] {
			yield(1, from+k*strides[s.axis], 1)
			yield(2, from+k*strides[s.axis], 1)
		}
	}}
}
