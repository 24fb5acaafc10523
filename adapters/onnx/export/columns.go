package export

import (
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/pho-go/pho/adapters/internal/onnxbasis"
	"github.com/pho-go/pho/adapters/onnx"
	"github.com/pho-go/pho/basis"
	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/internal/base/onnxpb"
)

// columns are the data columns that terms read: elements of the network's inputs, or
// inputs of their own.
type columns struct {
	*file
	graph  *onnx.Graph
	bound  map[string]onnx.Element // of the network
	labels map[string][]string     // columns of text that the network reads as numbers
	text   map[string]bool         // columns that are inputs of their own and hold text
	batch  *onnxpb.TensorShapeProto_Dimension
	basis  *onnxbasis.Writer
	done   map[string]string // tensors by what they hold
	added  map[string]string // inputs of the columns of their own
	inputs []string          // their names, in order
}

// newColumns finds the columns of the network's inputs.
func newColumns(f *file, m *onnx.Model) (*columns, error) {
	c := &columns{file: f, graph: m.Graph(), bound: map[string]onnx.Element{}, text: map[string]bool{}, added: map[string]string{}, done: map[string]string{}}
	for _, in := range m.Binding() {
		for e, name := range in.Columns {
			if _, ok := c.bound[name]; !ok {
				c.bound[name] = onnx.Element{Tensor: in.Input, Index: e}
			}
		}
	}
	labels, err := m.Graph().Labels()
	if err != nil {
		return nil, err
	}
	if labels != nil {
		c.labels = labels.Columns
	}
	c.findBatch()
	return c, nil
}

// findBatch finds how the file calls its batch axis.
func (c *columns) findBatch() {
	c.batch = rowsAxis()
	for _, in := range c.graph.Inputs() {
		for _, v := range c.model.Graph.Input {
			dims := v.GetType().GetTensorType().GetShape().GetDim()
			at := slices.Index(in.Shape, onnx.Batch)
			if v.GetName() == in.Name && at >= 0 && at < len(dims) && dims[at].GetDimParam() != "" {
				c.batch = dims[at]
				return
			}
		}
	}
}

// rowsAxis is a batch axis that the file does not call otherwise.
func rowsAxis() *onnxpb.TensorShapeProto_Dimension {
	return &onnxpb.TensorShapeProto_Dimension{Value: &onnxpb.TensorShapeProto_Dimension_DimParam{DimParam: "N"}}
}

// addInputs adds inputs for the columns that terms read and the network does not: of text if
// a term has a level that is no number, else float64.
func (c *columns) addInputs(all []predictor) {
	var own []string
	add := func(column string, levels []string) {
		if _, ok := c.bound[column]; ok {
			return
		}
		if !slices.Contains(own, column) {
			own = append(own, column)
		}
		if slices.ContainsFunc(levels, func(s string) bool { return !isNumber(s) }) {
			c.text[column] = true
		}
	}
	for _, p := range all {
		for _, t := range p.terms {
			if e, err := basis.Express(t.of); err == nil { // else it is refused later
				reads(e, add)
			}
		}
	}
	for _, column := range own {
		kind := onnxpb.TensorProto_DOUBLE
		if c.text[column] {
			kind = onnxpb.TensorProto_STRING
		}
		input := c.outputName(column)
		c.inputs, c.added[column] = append(c.inputs, input), input
		c.model.Graph.Input = append(c.model.Graph.Input, &onnxpb.ValueInfoProto{Name: input, Type: tensorType(kind, c.batch, one())})
	}
}

// reads calls f for the columns of e, with their levels if they are factors.
func reads(e basis.Expression, f func(column string, levels []string)) {
	numbers := func(columns ...string) {
		for _, column := range columns {
			f(column, nil)
		}
	}
	switch e := e.(type) {
	case basis.Number:
		numbers(e.Column)
	case *basis.Piecewise:
		numbers(e.Column)
	case *basis.Radial:
		numbers(e.Columns...)
	case *basis.Monomials:
		numbers(e.Columns...)
	case basis.Indicators:
		f(e.Column, e.Levels)
	case basis.Indicator:
		f(e.Column, e.Levels)
	case basis.Combinations:
		for _, factor := range e.Factors {
			f(factor.Column, factor.Levels)
		}
	case basis.Mapped:
		reads(e.Of, f)
	case basis.Joined:
		for _, part := range e {
			reads(part, f)
		}
	case basis.Product:
		for _, factor := range e {
			reads(factor, f)
		}
	}
}

// isNumber tells whether a level is a number as data.LevelText writes it.
func isNumber(level string) bool {
	v, err := strconv.ParseFloat(level, 64)
	return err == nil && data.LevelText(v) == level
}

// Number is the tensor, float64 and N x 1, of a numeric column.
func (c *columns) Number(column string) (string, error) {
	if c.text[column] {
		return "", fmt.Errorf("column %q is a number in one term and has levels that are none in another", column)
	}
	x, kind, err := c.column(column)
	if err != nil || kind == "double" {
		return x, err
	}
	if kind == "string" {
		return "", fmt.Errorf("column %q is text to the network and a number to a term", column)
	}
	return c.once("double "+x, func() string {
		return c.Node("Cast", column+".double", []string{x}, onnxpb.Int("to", int64(onnxpb.TensorProto_DOUBLE)))
	}), nil
}

// Code is the place of each row's level among the levels, int64 and N; 0: none of them.
func (c *columns) Code(of basis.Indicators) (string, error) {
	_, own := c.bound[of.Column]
	if c.text[of.Column] || own && c.kindOf(of.Column) == "string" {
		x, _, err := c.column(of.Column)
		if err != nil {
			return "", err
		}
		return onnxbasis.TextLevels(c, of.Column, x, asTexts(of.Levels), c.imports("ai.onnx.ml", 1)), nil
	}
	values := make([]float64, len(of.Levels))
	missing := -1 // the place of the level of what is missing, which has no number
	for i, level := range of.Levels {
		if level == data.MissingLevel && !slices.Contains(c.labels[of.Column], level) {
			missing, values[i] = i, math.Inf(1)
			continue
		}
		v, err := c.levelNumber(of.Column, level)
		if err != nil {
			return "", err
		}
		if values[i] = v; slices.Contains(values[:i], v) {
			return "", fmt.Errorf("column %q: level %q is another one's number, %v, as the network's input rounds it: the two cannot be told apart in the file", of.Column, level, v)
		}
	}
	x, err := c.Number(of.Column)
	if err != nil {
		return "", err
	}
	if missing >= 0 {
		least := min(0, slices.Min(values))
		values[missing] = least - max(1, -least) // below all others
		x = c.Node("Where", of.Column+".filled", []string{c.Node("IsNaN", of.Column+".missing", []string{x}), c.Doubles(of.Column+".none", nil, values[missing]), x})
	}
	return c.basis.Find(of.Column+".level", x, values), nil
}

// asTexts are levels as the texts of an input, of which what is missing is the empty one.
func asTexts(levels []string) []string {
	at := slices.Index(levels, data.MissingLevel)
	if at < 0 || slices.Contains(levels, "") {
		return levels
	}
	return slices.Replace(slices.Clone(levels), at, at+1, "")
}

// levelNumber is what the file's input holds for a level.
func (c *columns) levelNumber(column, level string) (float64, error) {
	v, err := strconv.ParseFloat(level, 64)
	if texts := c.labels[column]; texts != nil {
		at := slices.Index(texts, level)
		v, err = float64(at), nil
		if at < 0 {
			err = fmt.Errorf("is none of the texts that the network was trained on")
		}
	}
	if err != nil {
		return 0, fmt.Errorf("column %q: level %q cannot be told from the number that the network reads: %w", column, level, err)
	}
	if el, ok := c.bound[column]; ok {
		if in, ok := c.graph.Checked().Value(el.Tensor); ok && in.Type.Floating() {
			v = in.Type.Round(v)
		}
	}
	return v, nil
}

// kindOf is the type of the network's input that holds the column; "": none does.
func (c *columns) kindOf(column string) string {
	for _, in := range c.graph.Inputs() {
		if el, ok := c.bound[column]; ok && in.Name == el.Tensor {
			return in.Type
		}
	}
	return ""
}

// column is a column as it is, N x 1, and its type: an element of the network's input, or
// an input of its own.
func (c *columns) column(name string) (x, kind string, err error) {
	if el, ok := c.bound[name]; ok {
		x, err := c.elements(name, el.Tensor, el.Index)
		return x, c.kindOf(name), err
	}
	kind = "double"
	if c.text[name] {
		kind = "string"
	}
	return c.added[name], kind, nil
}

// elements are the columns at the places of a tensor's rows, N x len(at).
func (c *columns) elements(name, tensor string, at ...int) (string, error) {
	t, ok := c.graph.Tensor(tensor)
	if !ok {
		return "", fmt.Errorf("the network computes no tensor %q", tensor)
	}
	file, err := c.tensor(tensor)
	if err != nil {
		return "", err
	}
	rows := c.rows(t, file)
	if width := t.Width(); len(at) == width && slices.IsSorted(at) && at[0] == 0 && at[width-1] == width-1 {
		return rows, nil
	}
	return c.once(fmt.Sprintf("elements %q %v", tensor, at), func() string {
		places := make([]int64, len(at))
		for i, j := range at {
			places[i] = int64(j)
		}
		return c.Node("Gather", name+".elements", []string{rows, c.Ints(name+".places", places...)}, onnxpb.Int("axis", 1))
	}), nil
}

// rows is a tensor, which the file calls x, as N x width: the rows first, the other axes in one.
func (c *columns) rows(t onnx.Tensor, x string) string {
	axis := slices.IndexFunc(t.Shape, func(d int) bool { return d < 0 })
	outer, inner := c.graph.RowLayout(t.Name)
	if axis == 0 && len(t.Shape) == 2 && outer*inner == 1 && c.declares(x, 2) { // else a checker would take the file at its word
		return x
	}
	return c.once("rows "+x, func() string {
		at, shape := axis, slices.Clone(t.Shape)
		if outer*inner > 1 { // the axis has outer x N x inner
			at, shape = axis+1, slices.Replace(shape, axis, axis+1, outer, onnx.Batch, inner)
			x = c.Node("Reshape", t.Name+".entries", []string{x, c.sizes(t.Name+".layout", shape)})
		}
		if at > 0 {
			order := []int64{int64(at)}
			for i := range shape {
				if i != at {
					order = append(order, int64(i))
				}
			}
			x = c.Node("Transpose", t.Name+".transposed", []string{x}, onnxpb.Ints("perm", order...))
		}
		return c.Node("Reshape", t.Name+".rows", []string{x, c.sizes(t.Name+".shape", []int{-1, t.Width()})})
	})
}

// sizes is a constant for Reshape, in which onnx.Batch is what is left.
func (c *columns) sizes(name string, shape []int) string {
	all := make([]int64, len(shape))
	for i, d := range shape {
		all[i] = int64(d)
	}
	return c.Ints(name, all...)
}

// once is the tensor of that key, which write writes if there is none.
func (c *columns) once(key string, write func() string) string {
	if x, ok := c.done[key]; ok {
		return x
	}
	x := write()
	c.done[key] = x
	return x
}
