package onnx

import (
	"fmt"
	"math"

	"github.com/pho-go/pho/adapters/onnx/internal/engine"
	"github.com/pho-go/pho/adapters/onnx/internal/graph"
	"github.com/pho-go/pho/data"
)

// notFinite says why predictor k is v, NaN or infinite, at row i of b: it runs the
// row once more, node by node, and names the first tensor that is not finite.
func (m *Model) notFinite(k int, v float64, b *data.Batch, i int) error {
	what := "is NaN: the network has no value there"
	if math.IsInf(v, 0) {
		what = fmt.Sprintf("is %g: the network overflows there", v)
	}
	where := ""
	for j, name := range m.columns {
		if x, err := b.Numeric(name); err == nil && !m.text[j] && m.tensor[j] == 0 && math.IsNaN(x[i]) {
			where = fmt.Sprintf("; column %q is missing there", name)
		}
	}
	if n, x := m.firstNotFinite(b, i); n != nil {
		where += fmt.Sprintf("; the first to be so is %s, with %g", n.String(), x)
	}
	return fmt.Errorf("onnx: predictor %q, data row %d, %s%s; compare the row's values with those it was trained on",
		m.structure.Predictors[k].Name, b.Row(i)+1, what, where)
}

// firstNotFinite is the first node, in the order of evaluation, whose output holds
// such a value at row i of b, and the value; nil if none can be told.
func (m *Model) firstNotFinite(b *data.Batch, i int) (*graph.Node, float64) {
	inputs := make([][]float64, len(m.graph.g.Inputs))
	texts := make([][]string, len(inputs))
	for j, feed := range m.feed {
		for _, c := range feed {
			if m.text[c] {
				codes, err := b.Codes(m.columns[c])
				if err != nil {
					return nil, 0
				}
				texts[j] = append(texts[j], codes.Levels[codes.Index[i]])
				continue
			}
			x, err := m.numbers(b, c)
			if err != nil {
				return nil, 0
			}
			width := max(1, m.tensor[c])
			inputs[j] = append(inputs[j], x[i*width:(i+1)*width]...)
		}
	}
	for _, n := range engine.Needed(m.graph.g, m.want) {
		for _, out := range n.Outputs {
			if out == nil || out.Const != nil || !out.Type.Floating() || out.BatchAxis() < 0 {
				continue
			}
			r, err := engine.New(m.graph.g, []*graph.Value{out}, m.run)
			if err != nil {
				return nil, 0
			}
			y := make([]float64, out.Width())
			if err := r.RunTexts([][]float64{y}, inputs, texts, 1); err != nil {
				return nil, 0
			}
			for _, v := range y {
				if math.IsNaN(v) || math.IsInf(v, 0) {
					return n, v
				}
			}
		}
	}
	return nil, 0
}

// atRow says at which of the rows at to at+n-1 of b the network fails, by running
// them again one by one.
func (m *Model) atRow(err error, buf *buffer, b *data.Batch, at, n int) error {
	for r := range n {
		if one := m.evaluate(buf, at+r, 1); one != nil {
			return fmt.Errorf("%w (data row %d)", one, b.Row(at+r)+1)
		}
	}
	return fmt.Errorf("%w (data rows %d to %d)", err, b.Row(at)+1, b.Row(at+n-1)+1)
}
