package operator

import (
	"fmt"
	"math"

	"github.com/pho-go/pho/adapters/onnx/internal/graph"
	"github.com/pho-go/pho/internal/base/kernel"
)

// codeOps turn categories into numbers, names or dummies.
func codeOps[T kernel.Float]() []Entry[T] {
	return []Entry[T]{
		{Operator: graph.Operator{Domain: mlDomain, Name: "LabelEncoder", Texts: true, Versions: []int{1, 2, 4}, Min: 1, Max: 1, Outputs: 1, Check: checkLabelEncoder},
			Rule: elementwiseRule, Compile: compileEncoding[T], Jumps: true, Missing: hasNaN},
		{Operator: graph.Operator{Domain: mlDomain, Name: "CategoryMapper", Texts: true, Versions: []int{1}, Min: 1, Max: 1, Outputs: 1, Check: checkCategoryMapper},
			Rule: elementwiseRule, Compile: compileEncoding[T]},
		{Operator: graph.Operator{Domain: mlDomain, Name: "OneHotEncoder", Is: graph.Indicating, Texts: true, Versions: []int{1}, Min: 1, Max: 1, Outputs: 1, Check: checkOneHotEncoder},
			Rule: oneHotEncoderRule, Compile: compileOneHotEncoder[T], Jumps: true},
	}
}

// encoding gives each key the value of its position, other elements the default.
type encoding struct {
	fractions map[float64]int // positions of floating keys
	whole     map[int64]int   // of others; texts by their numbers
	nan       int             // position of the key NaN, -1: none
	values    *graph.Tensor
	fallback  *graph.Tensor
}

// hasNaN: one of the keys is NaN.
func hasNaN(n *graph.Node, _ *graph.Value) bool {
	e, ok := n.Resolved.(*encoding)
	return ok && e.nan >= 0
}

func (e *encoding) ofFloat(v float64) int {
	if math.IsNaN(v) {
		return e.nan
	}
	if i, ok := e.fractions[v]; ok {
		return i
	}
	return -1
}

func (e *encoding) ofInt(v int64) int {
	if i, ok := e.whole[v]; ok {
		return i
	}
	return -1
}

// newEncoding numbers the keys; of equal keys the first counts. NaN is a key if nan says
// so.
func newEncoding(keys, values, fallback *graph.Tensor, nan bool) (*encoding, error) {
	n := len(keys.F) + len(keys.I)
	if len(values.F)+len(values.I) != n {
		return nil, fmt.Errorf("has %d keys and %d values", n, len(values.F)+len(values.I))
	}
	if fallback.Type != values.Type || len(fallback.F)+len(fallback.I) != 1 {
		return nil, fmt.Errorf("the default must be one %s, as the values are", values.Type)
	}
	e := &encoding{fractions: map[float64]int{}, whole: map[int64]int{}, nan: -1, values: values, fallback: fallback}
	for i, k := range keys.F {
		switch _, known := e.fractions[k]; {
		case math.IsNaN(k) && nan && e.nan < 0:
			e.nan = i
		case !known && !math.IsNaN(k):
			e.fractions[k] = i
		}
	}
	for i, k := range keys.I {
		if _, known := e.whole[k]; !known {
			e.whole[k] = i
		}
	}
	return e, nil
}

// list reads the one list of keys or values that is given, by the names of its
// attributes: of texts, integers, floats, and a tensor.
func list(c *graph.Check, what string) (*graph.Tensor, error) {
	var found *graph.Tensor
	given := 0
	add := func(t *graph.Tensor, err error) error {
		given++
		found = t
		return err
	}
	var err error
	if a := c.Attrs[what+"_strings"].Strings; len(a) > 0 {
		err = add(textTensor(c.Node, []int{len(a)}, a...))
	}
	if a := c.Attrs[what+"_int64s"].Ints; len(a) > 0 {
		_ = add(&graph.Tensor{Type: graph.Int64, Shape: []int{len(a)}, I: a}, nil)
	}
	if a := c.Attrs[what+"_floats"].Floats; len(a) > 0 {
		_ = add(&graph.Tensor{Type: graph.Float32, Shape: []int{len(a)}, F: a}, nil)
	}
	if a := c.Attrs[what+"_tensor"].Tensor; a != nil {
		_ = add(a, nil)
	}
	if err != nil {
		return nil, err
	}
	if given != 1 {
		return nil, fmt.Errorf("has %d lists of %s, needs one", given, what)
	}
	return found, nil
}

// defaultOf is the value of elements that are no key.
func defaultOf(c *graph.Check, t graph.DType) (*graph.Tensor, error) {
	if a := c.Attrs["default_tensor"].Tensor; a != nil {
		return a, nil
	}
	switch {
	case t == graph.String:
		text := "_Unused"
		if a, ok := c.Attrs["default_string"]; ok {
			text = a.String
		}
		return textTensor(c.Node, []int{1}, text)
	case t.Floating():
		return &graph.Tensor{Type: t, Shape: []int{1}, F: []float64{c.AttrFloat("default_float", math.Copysign(0, -1))}}, nil
	}
	return &graph.Tensor{Type: t, Shape: []int{1}, I: []int64{c.AttrInt("default_int64", -1)}}, nil
}

func checkLabelEncoder(c *graph.Check) error {
	if c.Version == 1 {
		return checkClasses(c)
	}
	keys, err := list(c, "keys")
	if err != nil {
		return err
	}
	values, err := list(c, "values")
	if err != nil {
		return err
	}
	return setEncoding(c, keys, values, c.Version >= 4)
}

// checkClasses: version 1 numbers texts from 0, or names numbers.
func checkClasses(c *graph.Check) error {
	classes, err := textTensor(c.Node, []int{len(c.Attrs["classes_strings"].Strings)}, c.Attrs["classes_strings"].Strings...)
	if err != nil {
		return err
	}
	return encodeEither(c, classes, &graph.Tensor{Type: graph.Int64, Shape: classes.Shape, I: counting(len(classes.I))})
}

func counting(n int) []int64 {
	out := make([]int64, n)
	for i := range out {
		out[i] = int64(i)
	}
	return out
}

func checkCategoryMapper(c *graph.Check) error {
	texts, err := textTensor(c.Node, []int{len(c.Attrs["cats_strings"].Strings)}, c.Attrs["cats_strings"].Strings...)
	if err != nil {
		return err
	}
	numbers := c.Attrs["cats_int64s"].Ints
	return encodeEither(c, texts, &graph.Tensor{Type: graph.Int64, Shape: []int{len(numbers)}, I: numbers})
}

// encodeEither encodes texts as numbers or numbers as texts, whichever the input holds.
func encodeEither(c *graph.Check, texts, numbers *graph.Tensor) error {
	if c.Inputs[0].Type == graph.String {
		return setEncoding(c, texts, numbers, false)
	}
	return setEncoding(c, numbers, texts, false)
}

func setEncoding(c *graph.Check, keys, values *graph.Tensor, nan bool) error {
	if in := c.Inputs[0]; in.Type != keys.Type {
		return fmt.Errorf("its keys are %s and its input (%q) is %s", keys.Type, in.Name, in.Type)
	}
	fallback, err := defaultOf(c, values.Type)
	if err != nil {
		return err
	}
	e, err := newEncoding(keys, values, fallback, nan)
	if err != nil {
		return err
	}
	if err := c.Fits(len(keys.F)+len(keys.I), "its keys", keys.Shape); err != nil {
		return err
	}
	c.Resolved = e
	return c.Set(0, values.Type, c.Inputs[0].Shape)
}

func compileEncoding[T kernel.Float](n *graph.Node) Step[T] {
	e, typ := n.Resolved.(*encoding), n.Inputs[0].Type
	values := append(floatsOf[T](e.values.F), floatsOf[T](e.fallback.F)...)
	whole := append(append([]int64{}, e.values.I...), e.fallback.I...)
	last := max(len(values), len(whole)) - 1
	return func(x *Exec[T]) error {
		in, out := x.In[0], x.Out[0]
		for i := range max(len(out.F), len(out.I)) {
			at := -1
			if in.F != nil {
				at = e.ofFloat(typ.Round(float64(in.F[i])))
			} else {
				at = e.ofInt(in.I[i])
			}
			if at < 0 {
				at = last
			}
			if out.F != nil {
				out.F[i] = values[at]
			} else {
				out.I[i] = whole[at]
			}
		}
		return nil
	}
}

// floatsOf are numbers in the engine's precision.
func floatsOf[T kernel.Float](f []float64) []T {
	out := make([]T, len(f))
	for i, v := range f {
		out[i] = T(v)
	}
	return out
}

// hotCodes are the categories of a OneHotEncoder.
type hotCodes struct {
	at      map[int64]int // of equal categories the last
	count   int
	unknown bool // other categories have no dummy; else they are errors
}

func checkOneHotEncoder(c *graph.Check) error {
	texts, numbers := c.Attrs["cats_strings"].Strings, c.Attrs["cats_int64s"].Ints
	if (len(texts) == 0) == (len(numbers) == 0) {
		return fmt.Errorf("has %d categories that are texts and %d that are integers; one kind is needed", len(texts), len(numbers))
	}
	in := c.Inputs[0]
	if (in.Type == graph.String) != (len(texts) > 0) || in.Type == graph.Bool {
		return fmt.Errorf("its input (%q) is %s, its categories are of another kind", in.Name, in.Type)
	}
	if texts != nil {
		t, err := textTensor(c.Node, []int{len(texts)}, texts...)
		if err != nil {
			return err
		}
		numbers = t.I
	}
	codes := hotCodes{at: map[int64]int{}, count: len(numbers), unknown: c.AttrInt("zeros", 1) != 0}
	for i, k := range numbers {
		codes.at[k] = i
	}
	c.Resolved = codes
	return c.Set(0, graph.Float32, append(append([]int{}, in.Shape...), codes.count))
}

func compileOneHotEncoder[T kernel.Float](n *graph.Node) Step[T] {
	codes, typ := n.Resolved.(hotCodes), n.Inputs[0].Type
	return func(x *Exec[T]) error {
		in, out := x.In[0], x.Out[0].F
		clear(out)
		for i := range len(out) / codes.count {
			var at int
			var known bool
			if in.F != nil {
				v := typ.Round(float64(in.F[i]))
				if at, known = codes.at[graph.Int64.Truncated(v)]; math.IsNaN(v) {
					known = false
				}
			} else {
				at, known = codes.at[in.I[i]]
			}
			switch {
			case known:
				out[i*codes.count+at] = 1
			case !codes.unknown:
				return fmt.Errorf("%s is none of its %d categories, and it takes no others (zeros = 0); leave such rows out", valueText(x, i, typ), codes.count)
			}
		}
		return nil
	}
}

// valueText is element i of the first input for a message.
func valueText[T kernel.Float](x *Exec[T], i int, typ graph.DType) string {
	switch in := x.In[0]; {
	case in.F != nil:
		return fmt.Sprint(in.F[i])
	case typ == graph.String:
		return fmt.Sprintf("%q", x.Texts.Text(in.I[i]))
	default:
		return fmt.Sprint(in.I[i])
	}
}

// oneHotEncoderRule: the dummies of an element depend on it.
func oneHotEncoderRule(n *graph.Node) Rule {
	count := n.Outputs[0].Shape[len(n.Outputs[0].Shape)-1]
	return Rule{Cost: 1, Each: func(_, e int, yield Link) { yield(0, e/count, 1) }}
}
