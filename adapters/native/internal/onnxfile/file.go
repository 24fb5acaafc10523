package native

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"

	"github.com/pho-go/pho/adapters/native/internal/nn"
	"github.com/pho-go/pho/adapters/onnx"
	"github.com/pho-go/pho/internal/onnxpb"
)

// ExportOptions are the choices of WriteONNX; nil and the zero value are the
// defaults.
type ExportOptions struct {
	// Double writes float64 tensors; else float32, as networks usually are. ONNX
	// Runtime has no float64 kernels for what GELU and Softplus need.
	Double bool
}

// WriteONNX writes the network as an ONNX file (opset 17). Its inputs are the
// data columns by their names, [N, 1] each, its outputs the predictors on the
// link scale, [N, 1] each: eta, or mu and sigma. The structure stays visible: a
// linear term is a product of its column, a feature network ends in the tensor
// "f(x).basis", a spline in the tensor "s(x).basis" of its basis columns (exact
// piecewise polynomials in float64), both with their coefficients as a last linear
// layer, so that discovery finds them as learned terms. Formula terms but linear
// ones are also declared in the file's metadata (onnx.Declaration): read back with a
// decoder they are the terms of the formula, with their penalties.
//
// A deep part that was orthogonalized online is written row by row, as Forward computes
// it, the projection of the training rows folded into the coefficients: eta = X (beta -
// alpha) + zeta. So the terms that the file shows are not beta; decomposing it moves
// alpha back.
//
// Columns of text are inputs of numbers, the places of their levels: Labels, which the
// metadata hold too (onnx.MetadataLabels).
//
// Errors: what has no counterpart there, namely a model that reads no column (a graph
// without inputs has no rows), levels that are no float32 (unless Double), isotropic
// smooths of several columns, interactions and random effects.
func (m *Model) WriteONNX(w io.Writer, o *ExportOptions) error {
	if o == nil {
		o = &ExportOptions{}
	}
	if len(m.columns) == 0 {
		return errors.New("native: the model reads no column, only its intercepts are left: a network without inputs has no rows to predict")
	}
	e := &exporter{
		b: onnxpb.NewBuilder(17), kind: onnxpb.TensorProto_FLOAT, sums: make([][]string, len(m.names)), seen: map[string]string{},
		declared: make([][]onnx.DeclaredTerm, len(m.names)), deepParts: make([][]string, len(m.names)), levels: m.levels, doubles: map[string]string{}, splines: map[string]string{},
	}
	if o.Double {
		e.kind = onnxpb.TensorProto_DOUBLE
	}
	for _, name := range m.columns {
		e.b.AddInput(name, e.kind, onnxpb.Rows, 1)
	}
	var f faults
	if err := e.features(m.plans, m.net.towers); err != nil {
		f.add("%w", err)
		return f.err()
	}
	for k := range m.names {
		_, blocks := m.written(k)
		for _, block := range blocks {
			if err := e.term(k, block); err != nil {
				f.add("%w", err)
			}
		}
	}
	for i, p := range m.plans {
		if !p.deep {
			continue // its terms are in the blocks
		}
		if err := e.deep(p, m.net.towers[i]); err != nil {
			f.add("%w", err)
		}
	}
	if err := f.err(); err != nil {
		return err
	}
	for k, name := range m.names {
		intercept, _ := m.written(k)
		terms := append([]string{e.constant("intercept."+name, []int{1}, intercept)}, e.sums[k]...)
		if slices.Contains(m.columns, name) {
			return fmt.Errorf("native: a column is called %q like a predictor: rename it to export the network", name)
		}
		if len(terms) == 1 { // a predictor without terms is constant, but has rows
			terms = append(terms, e.node("Mul", name+".rows", []string{m.columns[0], e.constant(name+".zero", []int{1}, 0)}))
		}
		e.b.AddNode("Sum", terms, name)
		e.b.Output(name, e.kind, onnxpb.Rows, 1)
	}
	if err := e.declare(m); err != nil {
		return fmt.Errorf("native: %w", err)
	}
	if l := m.Labels(); l != nil {
		text, err := l.Encode()
		if err != nil {
			return fmt.Errorf("native: %w", err)
		}
		e.b.AddMetadata(onnx.MetadataLabels, text)
	}
	file, err := e.b.Marshal()
	if err != nil {
		return fmt.Errorf("native: %w", err)
	}
	_, err = w.Write(file)
	return err
}

// exporter writes nodes and remembers the addends of each predictor.
type exporter struct {
	b    *onnxpb.Builder
	kind onnxpb.TensorProto_DataType
	sums [][]string
	seen map[string]string // basis tensors by term name: predictors share them
	// declared are the formula terms that the graph cannot tell, by predictor.
	declared  [][]onnx.DeclaredTerm
	deepParts [][]string          // tensors of U, by predictor
	levels    map[string][]string // of the text columns
	doubles   map[string]string   // float64 copies of columns
	splines   map[string]string   // bases written so far, by their specs
}

// constant adds an initializer and returns its name.
func (e *exporter) constant(name string, shape []int, values ...float64) string {
	if e.kind == onnxpb.TensorProto_DOUBLE {
		e.b.AddDouble(name, shape, values...)
	} else {
		e.b.AddInit(name, shape, values...)
	}
	return name
}

func (e *exporter) node(op, output string, inputs []string, attrs ...onnxpb.Attr) string {
	e.b.AddNode(op, inputs, output, attrs...)
	return output
}

// addend puts basis (N x q) times coef into predictor k.
func (e *exporter) addend(k int, name, basis string, coef []float64) {
	w := e.constant(name+".coef", []int{len(coef), 1}, coef...)
	e.sums[k] = append(e.sums[k], e.node("MatMul", name+".effect", []string{basis, w}))
}

// standardised is (columns - mean)/sd, N x len(columns).
func (e *exporter) standardised(name string, columns []string, mean, sd []float64) string {
	x := columns[0]
	if len(columns) > 1 {
		x = e.node("Concat", name+".columns", columns, onnxpb.Int("axis", 1))
	}
	d := []int{len(columns)}
	x = e.node("Sub", name+".centred", []string{x, e.constant(name+".mean", d, mean...)})
	return e.node("Div", name+".scaled", []string{x, e.constant(name+".sd", d, sd...)})
}

// deep writes U of a deep part and its addends.
func (e *exporter) deep(p *towerPlan, t *tower[float64]) error {
	x, err := e.inputs(p.name, p, t)
	if err != nil {
		return fmt.Errorf("deep part: %w", err)
	}
	u := e.layers(p.name, x, t.chain.Layers, 0)
	for _, k := range p.predictors {
		e.deepParts[k] = append(e.deepParts[k], u)
	}
	for at, k := range p.predictors {
		e.addend(k, fmt.Sprintf("%s.zeta%d", p.name, k), u, t.headOf(0, at))
	}
	return nil
}

// inputs writes what the only network of a tower reads: standardised numbers and
// embedded factors. The embedding of a level that training has not seen is 0/0: not a
// number, so that it cannot pass for a known one.
func (e *exporter) inputs(name string, p *towerPlan, t *tower[float64]) (string, error) {
	var parts []string
	if p.numeric > 0 {
		parts = append(parts, e.standardised(name, p.columns[0][:p.numeric], p.mean, p.sd))
	}
	for j, f := range p.factors {
		at := name + ".factor." + f.column
		onehot, err := e.onehot(at, f.column, f.levels, e.kind)
		if err != nil {
			return "", err
		}
		table := e.constant(at+".table", []int{len(f.levels), f.width}, t.embed[j].Table.Value...)
		rows := e.node("MatMul", at+".rows", []string{onehot, table})
		count := e.node("MatMul", at+".known", []string{onehot, e.constant(at+".ones", []int{len(f.levels), 1}, slices.Repeat([]float64{1}, len(f.levels))...)})
		parts = append(parts, e.node("Div", at+".embedded", []string{rows, count}))
	}
	if len(parts) == 1 {
		return parts[0], nil
	}
	return e.node("Concat", name+".input", parts, onnxpb.Int("axis", 1)), nil
}

// onehot is 1 where the column is the level, else 0: N x levels. Levels of text are
// their numbers.
func (e *exporter) onehot(name, column string, levels []string, kind onnxpb.TensorProto_DataType) (string, error) {
	values := make([]float64, len(levels))
	for i, s := range levels {
		v, err := levelNumber(e.levels[column], s)
		if err != nil {
			return "", fmt.Errorf("column %q: %w", column, err)
		}
		if e.kind == onnxpb.TensorProto_FLOAT && float64(float32(v)) != v {
			return "", fmt.Errorf("column %q has the level %s, which is no float32: code the levels as whole numbers, or write the network in float64", column, s)
		}
		values[i] = v
	}
	equal := e.node("Equal", name+".equal", []string{column, e.constant(name+".levels", []int{len(levels)}, values...)})
	return e.node("Cast", name+".onehot", []string{equal}, onnxpb.Int("to", int64(kind))), nil
}

// levelNumber is what the network reads for a level: its place among those of a column
// of text, itself where there are none.
func levelNumber(text []string, level string) (float64, error) {
	if text == nil {
		v, err := strconv.ParseFloat(level, 64)
		if err != nil {
			return 0, fmt.Errorf("level %q is not a number", level)
		}
		return v, nil
	}
	if at := slices.Index(text, level); at >= 0 {
		return float64(at), nil
	}
	return 0, fmt.Errorf("level %q is not among the column's %.80q", level, text)
}

// layers writes the layers of group g and returns the last one's output.
func (e *exporter) layers(name, x string, layers []nn.Layer[float64], g int) string {
	for l, layer := range layers {
		at := fmt.Sprintf("%s.%d", name, l)
		switch layer := layer.(type) {
		case *nn.Dense[float64]:
			x = e.dense(at, x, layer, g)
		case *nn.ExU[float64]:
			x = e.dense(at, x, layer.Effective(), g)
		case *nn.BatchNorm[float64]:
			x = e.batchNorm(at, x, layer)
		case *nn.Activation[float64]:
			x = e.activation(at, x, layer)
		}
	}
	return x
}

func (e *exporter) dense(at, x string, d *nn.Dense[float64], g int) string {
	w := e.constant(at+".weight", []int{d.In, d.OutEach}, d.W.Value[g*d.In*d.OutEach:][:d.In*d.OutEach]...)
	b := e.constant(at+".bias", []int{d.OutEach}, d.B.Value[g*d.OutEach:][:d.OutEach]...)
	x = e.node("Gemm", at+".linear", []string{x, w, b})
	if d.Relu {
		x = e.node("Relu", at+".relu", []string{x})
	}
	return x
}

func (e *exporter) batchNorm(at, x string, b *nn.BatchNorm[float64]) string {
	scale, shift := b.Affine()
	x = e.node("Mul", at+".scaled", []string{x, e.constant(at+".scale", []int{b.Width}, scale...)})
	return e.node("Add", at+".normed", []string{x, e.constant(at+".shift", []int{b.Width}, shift...)})
}

func (e *exporter) activation(at, x string, a *nn.Activation[float64]) string {
	out := at + "." + string(a.F)
	switch a.F {
	case nn.Relu:
		return e.node("Relu", out, []string{x})
	case nn.ReluN:
		return e.node("Clip", out, []string{x, e.constant(at+".low", nil, 0), e.constant(at+".high", nil, a.N)})
	case nn.Tanh:
		return e.node("Tanh", out, []string{x})
	case nn.Sigmoid:
		return e.node("Sigmoid", out, []string{x})
	case nn.Softplus:
		return e.node("Softplus", out, []string{x})
	}
	// GELU: x (1 + erf(x/sqrt 2))/2.
	root := e.node("Mul", at+".root", []string{x, e.constant(at+".sqrt", nil, 0.70710678118654752440)})
	erf := e.node("Erf", at+".erf", []string{root})
	one := e.node("Add", at+".one", []string{erf, e.constant(at+".unit", nil, 1)})
	half := e.node("Mul", at+".half", []string{one, e.constant(at+".factor", nil, 0.5)})
	return e.node("Mul", out, []string{x, half})
}
