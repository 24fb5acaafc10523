package operator

import (
	"fmt"
	"math"
	"slices"

	"github.com/pho-go/pho/adapters/onnx/internal/graph"
	"github.com/pho-go/pho/internal/base/kernel"
)

// columnOps choose, fill and scale columns.
func columnOps[T kernel.Float]() []Entry[T] {
	return []Entry[T]{
		{Operator: graph.Operator{Domain: mlDomain, Name: "ArrayFeatureExtractor", Texts: true, Versions: []int{1}, Min: 2, Max: 2, Outputs: 1, Check: checkExtractor, Moves: movesFirst},
			Rule: extractorRule, Compile: compileExtractor[T]},
		{Operator: graph.Operator{Domain: mlDomain, Name: "Binarizer", Versions: []int{1}, Min: 1, Max: 1, Outputs: 1, Check: checkSame},
			Rule: elementwiseRule, Compile: compileBinarizer[T], Jumps: true},
		{Operator: graph.Operator{Domain: mlDomain, Name: "Imputer", Versions: []int{1}, Min: 1, Max: 1, Outputs: 1, Check: checkImputer},
			Rule: elementwiseRule, Compile: compileImputer[T], Jumps: true, Missing: replacesNaN},
		{Operator: graph.Operator{Domain: mlDomain, Name: "Normalizer", Versions: []int{1}, Min: 1, Max: 1, Outputs: 1, Check: checkNormalizer},
			Rule: normalizerRule, Compile: compileNormalizer[T]},
		replaced[T]("ZipMap", []int{1}, 1, 1, replaceZipMap),
	}
}

// checkExtractor picks columns of the last axis by constant positions, or, of a constant
// list, as many for each row: the labels of classes, what is stored of the nearest points.
func checkExtractor(c *graph.Check) error {
	in, pos := c.Inputs[0], c.Inputs[1]
	if pos.Type != graph.Int64 && pos.Type != graph.Int32 {
		return fmt.Errorf("positions (%q) must be integers, are %s", pos.Name, pos.Type)
	}
	if len(in.Shape) == 0 {
		return fmt.Errorf("input 0 (%q) has no axis to pick from", in.Name)
	}
	last := len(in.Shape) - 1
	size := in.Shape[last]
	switch {
	case graph.IsRows(size):
		return fmt.Errorf("mixes rows: it picks from the batch axis of %s", graph.ShapeText(in.Shape))
	case pos.Const != nil:
		for _, k := range pos.Const.I {
			if k < 0 || k >= int64(size) {
				return fmt.Errorf("position %d is outside %d columns", k, size)
			}
		}
	case in.Const == nil || in.Width() != size:
		return fmt.Errorf("mixes rows: the positions (%q) of some rows would pick columns of others", pos.Name)
	case pos.BatchAxis() != 0:
		return fmt.Errorf("mixes rows: the positions of all rows (%q of shape %s) become one list in another order than theirs", pos.Name, graph.ShapeText(pos.Shape))
	}
	shape := []int{1}
	if last > 0 {
		shape = slices.Clone(in.Shape[:last])
	}
	picks := pos.Width()
	if pos.BatchAxis() == 0 { // the list holds as many of each row
		var ok bool
		if _, inner := graph.Around(pos.Shape); inner > graph.MaxAround {
			return fmt.Errorf("%d positions a row are too many", inner)
		} else if picks, ok = graph.RowsAxis(1, inner); !ok {
			return fmt.Errorf("the positions (%q) are none for a row", pos.Name)
		}
	}
	return c.Set(0, in.Type, append(shape, picks))
}

func compileExtractor[T kernel.Float](*graph.Node) Step[T] {
	return func(x *Exec[T]) error {
		in, pos, out := x.In[0], x.In[1].I, x.Out[0]
		size := in.Shape[len(in.Shape)-1]
		for _, k := range pos {
			if k < 0 || k >= int64(size) {
				return fmt.Errorf("position %d is outside %d columns", k, size)
			}
		}
		for o := 0; o*len(pos) < max(len(out.F), len(out.I)); o++ {
			for j, k := range pos {
				if out.F != nil {
					out.F[o*len(pos)+j] = in.F[o*size+int(k)]
				} else {
					out.I[o*len(pos)+j] = in.I[o*size+int(k)]
				}
			}
		}
		return nil
	}
}

func extractorRule(n *graph.Node) Rule {
	in, pos := n.Inputs[0], n.Inputs[1]
	if pos.Const == nil {
		return Rule{Cost: 1, Each: func(_, e int, yield Link) { yield(1, e, 1) }}
	}
	size, picks := in.Shape[len(in.Shape)-1], max(1, len(pos.Const.I))
	return Rule{Linear: true, Cost: 1, Each: func(_, e int, yield Link) {
		yield(0, e/picks*size+int(pos.Const.I[e%picks]), 1)
	}}
}

// compileBinarizer: 1 beyond the threshold, else 0. It has no value for NaN.
func compileBinarizer[T kernel.Float](n *graph.Node) Step[T] {
	threshold, typ := n.AttrFloat("threshold", 0), n.Inputs[0].Type
	return func(x *Exec[T]) error {
		in, out := x.In[0], x.Out[0]
		for i, v := range in.F {
			if v != v {
				return fmt.Errorf("NaN is neither above nor below its threshold")
			}
			out.F[i] = T(toInt(typ.Round(float64(v)) > threshold))
		}
		for i, v := range in.I {
			out.I[i] = toInt(float64(v) > threshold)
		}
		return nil
	}
}

// imputation replaces a value, by column or for all of them.
type imputation struct {
	floats      []float64
	ints        []int64
	replaced    float64
	replacedInt int64
}

func checkImputer(c *graph.Check) error {
	in := c.Inputs[0]
	m := imputation{c.Attrs["imputed_value_floats"].Floats, c.Attrs["imputed_value_int64s"].Ints, c.AttrFloat("replaced_value_float", 0), c.AttrInt("replaced_value_int64", 0)}
	have := len(m.floats)
	if !in.Type.Floating() {
		have = len(m.ints)
	}
	if in.Type == graph.Bool || len(in.Shape) == 0 {
		return fmt.Errorf("needs columns of numbers, has %s %s", in.Type, graph.ShapeText(in.Shape))
	}
	if width := in.Shape[len(in.Shape)-1]; have != 1 && have != width {
		return fmt.Errorf("has %d values of type %s to put in for %d columns", have, in.Type, width)
	}
	c.Resolved = m
	return checkSame(c)
}

// replacesNaN: what enters as NaN leaves as a number.
func replacesNaN(n *graph.Node, _ *graph.Value) bool {
	m := n.Resolved.(imputation)
	return math.IsNaN(m.replaced) && !slices.ContainsFunc(m.floats, math.IsNaN)
}

func compileImputer[T kernel.Float](n *graph.Node) Step[T] {
	m, typ := n.Resolved.(imputation), n.Inputs[0].Type
	floats, nan := floatsOf[T](m.floats), math.IsNaN(m.replaced)
	return func(x *Exec[T]) error {
		in, out := x.In[0], x.Out[0]
		for i, v := range in.F {
			if r := typ.Round(float64(v)); nan && v != v || r == m.replaced {
				v = floats[i%len(floats)]
			}
			out.F[i] = v
		}
		for i, v := range in.I {
			if v == m.replacedInt {
				v = m.ints[i%len(m.ints)]
			}
			out.I[i] = v
		}
		return nil
	}
}

func checkNormalizer(c *graph.Check) error {
	in := c.Inputs[0]
	if in.Type == graph.Bool || len(in.Shape) == 0 || len(in.Shape) > 2 || graph.IsRows(in.Shape[len(in.Shape)-1]) {
		return fmt.Errorf("needs columns of numbers, has %s %s", in.Type, graph.ShapeText(in.Shape))
	}
	switch norm := normOf(c.Node); norm {
	case "MAX", "L1", "L2":
	default:
		return fmt.Errorf("unknown norm %q", norm)
	}
	return c.Set(0, graph.Float32, in.Shape)
}

func normOf(n *graph.Node) string {
	if a, ok := n.Attrs["norm"]; ok {
		return a.String
	}
	return "MAX"
}

// normalizerRule: every column divides by all of its row.
func normalizerRule(n *graph.Node) Rule {
	width := n.Inputs[0].Shape[len(n.Inputs[0].Shape)-1]
	return Rule{Cost: width, Each: func(_, e int, yield Link) {
		for i := range width {
			yield(0, e/width*width+i, 1)
		}
	}}
}

// compileNormalizer divides rows by their norm, if that is not 0. MAX is the largest
// number with its sign, as ONNX Runtime has it.
func compileNormalizer[T kernel.Float](n *graph.Node) Step[T] {
	norm, width := normOf(n), n.Inputs[0].Shape[len(n.Inputs[0].Shape)-1]
	return func(x *Exec[T]) error {
		in, out := x.In[0], x.Out[0].F
		for i, v := range in.I {
			out[i] = T(graph.Float32.Round(float64(v)))
		}
		if in.F != nil {
			copy(out, in.F)
		}
		for at := 0; at < len(out); at += width {
			row := out[at : at+width]
			if d := length(norm, row); d != 0 {
				for i := range row {
					row[i] /= d
				}
			}
		}
		return nil
	}
}

func length[T kernel.Float](norm string, row []T) T {
	switch norm {
	case "L1":
		var sum T
		for _, v := range row {
			sum += T(math.Abs(float64(v)))
		}
		return sum
	case "L2":
		var sum T
		for _, v := range row {
			sum += v * v
		}
		return T(math.Sqrt(float64(sum)))
	}
	most := T(math.Inf(-1))
	for _, v := range row {
		if v > most {
			most = v
		}
	}
	return most
}

// replaceZipMap: its maps are no tensors, but what they hold is its input.
func replaceZipMap(c *graph.Check) ([]*graph.Node, error) {
	labels, err := classLabels(c)
	if err != nil {
		return nil, err
	}
	width, err := features(c, 0)
	if err != nil {
		return nil, err
	}
	if labels.count() != width {
		return nil, fmt.Errorf("has %d class labels for %d columns", labels.count(), width)
	}
	c.Note("output %q is the tensor that its ZipMap makes maps of: a column for each of %s", c.Outputs[0].Name, labels)
	e := c.Replacement()
	e.Into(0, "", "Identity", nil, c.Inputs[0])
	return e.Nodes()
}

// String lists the labels for a message.
func (l labelList) String() string {
	names := slices.Clone(l.texts)
	for _, k := range l.ints {
		names = append(names, fmt.Sprint(k))
	}
	return graph.QuotedList(names)
}
