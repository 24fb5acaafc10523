package onnxfile

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/pho-go/pho/adapters/onnx"
	"github.com/pho-go/pho/basis"
	"github.com/pho-go/pho/decompose"
)

// metadata writes what the graph cannot tell.
func (w *writer) metadata(m *Model) error {
	if err := w.declare(m); err != nil {
		return err
	}
	if m.Labels != nil {
		if err := w.entry(onnx.MetadataLabels, m.Labels); err != nil {
			return err
		}
	}
	if m.Response != nil {
		return w.entry(onnx.MetadataResponse, m.Response)
	}
	return nil
}

func (w *writer) entry(name string, value interface{ Encode() (string, error) }) error {
	text, err := value.Encode()
	if err == nil {
		w.b.AddMetadata(name, text)
	}
	return err
}

// declare writes into the file's metadata which tensors are the bases of which
// formula terms, with penalties and constraints, so that reading it back gives
// these very terms (onnx.Declaration).
func (w *writer) declare(m *Model) error {
	d := &onnx.Declaration{Columns: map[string]onnx.Domain{}}
	for k, p := range m.Predictors {
		if len(w.declared[k])+len(w.deepParts[k]) == 0 {
			continue
		}
		for _, t := range w.declared[k] {
			for _, c := range t.Block.Term.Columns() {
				if _, ok := d.Columns[c]; !ok {
					d.Columns[c] = m.Ranges[c]
				}
			}
			for column, levels := range levelsOf(t.Block) {
				d.Columns[column] = onnx.Domain{Values: levels}
			}
			for _, c := range t.Block.Term.Columns() {
				if n := len(m.Levels[c]); n > 0 {
					d.Columns[c] = onnx.Domain{Values: counting(n)}
				}
			}
		}
		output := p.Name
		if m.Softmax { // as discovery numbers the elements of an output
			output = fmt.Sprintf("%s%d", probability, k+1)
		}
		d.Predictors = append(d.Predictors, onnx.DeclaredPredictor{Output: output, Terms: w.declared[k], Deep: w.deepParts[k]})
	}
	if len(d.Predictors) == 0 {
		return nil
	}
	return w.entry(onnx.MetadataStructure, d)
}

// levelsOf are the columns that a block takes as factors, with the levels that are numbers.
func levelsOf(b decompose.Block) map[string][]float64 {
	out := map[string][]float64{}
	var walk func(e basis.Expression)
	add := func(factors ...basis.Indicators) {
		for _, f := range factors {
			for _, s := range f.Levels {
				if v, err := strconv.ParseFloat(s, 64); err == nil && !slices.Contains(out[f.Column], v) {
					out[f.Column] = append(out[f.Column], v)
				}
			}
		}
	}
	walk = func(e basis.Expression) {
		switch e := e.(type) {
		case basis.Indicators:
			add(e)
		case basis.Indicator:
			add(e.Indicators)
		case basis.Combinations:
			add(e.Factors...)
		case basis.Mapped:
			walk(e.Of)
		case basis.Joined:
			for _, part := range e {
				walk(part)
			}
		case basis.Product:
			for _, part := range e {
				walk(part)
			}
		}
	}
	for _, t := range append([]decompose.Term{b.Term}, b.Base...) {
		if e, err := basis.Express(t); err == nil {
			walk(e)
		}
	}
	return out
}

// counting is 0, 1, ..., n-1.
func counting(n int) []float64 {
	v := make([]float64, n)
	for i := range v {
		v[i] = float64(i)
	}
	return v
}
