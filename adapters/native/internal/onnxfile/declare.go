package native

import (
	"strconv"

	"github.com/pho-go/pho/adapters/onnx"
	"github.com/pho-go/pho/basis"
	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/decompose"
)

// declare writes into the file's metadata which tensors are the bases of which
// formula terms, with penalties and constraints, so that reading it back gives
// these very terms (onnx.Declaration).
func (e *exporter) declare(m *Model) error {
	d := &onnx.Declaration{Columns: map[string]onnx.Domain{}}
	for k, name := range m.names {
		if len(e.declared[k])+len(e.deepParts[k]) == 0 {
			continue
		}
		for _, t := range e.declared[k] {
			for _, c := range t.Block.Term.Columns() {
				if _, ok := d.Columns[c]; !ok {
					d.Columns[c] = m.ranges[c]
				}
			}
			for column, levels := range levelsOf(t.Block) {
				d.Columns[column] = onnx.Domain{Values: levels}
			}
			for _, c := range t.Block.Term.Columns() {
				if n := len(m.levels[c]); n > 0 {
					d.Columns[c] = onnx.Domain{Values: counting(n)}
				}
			}
		}
		d.Predictors = append(d.Predictors, onnx.DeclaredPredictor{Output: name, Terms: e.declared[k], Deep: e.deepParts[k]})
	}
	if len(d.Predictors) == 0 {
		return nil
	}
	text, err := d.Encode()
	if err != nil {
		return err
	}
	e.b.AddMetadata(onnx.MetadataStructure, text)
	return nil
}

// levelsOf are the columns that a block takes as factors, with their levels.
func levelsOf(b decompose.Block) map[string][]float64 {
	out := map[string][]float64{}
	add := func(column string, levels ...string) {
		for _, s := range levels {
			if v, err := strconv.ParseFloat(s, 64); err == nil {
				out[column] = append(out[column], v)
			}
		}
	}
	if f, ok := b.Term.(*basis.FactorTerm); ok {
		add(f.Columns()[0], f.Levels()...)
	}
	for _, t := range append([]decompose.Term{b.Term}, b.Base...) {
		if t, ok := t.(interface{ By() (column, level string) }); ok {
			if column, level := t.By(); level != "" {
				add(column, level)
			}
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

// rangesOf are the least and the largest value of the columns that formula terms
// read.
func rangesOf(blocks [][]decompose.Block, b *data.Batch) map[string]onnx.Domain {
	out := map[string]onnx.Domain{}
	for _, own := range blocks {
		for _, block := range own {
			for _, c := range block.Term.Columns() {
				x, err := b.Numeric(c)
				if err != nil || len(x) == 0 { // text
					continue
				}
				at := onnx.Domain{From: x[0], To: x[0]}
				for _, v := range x {
					at.From, at.To = min(at.From, v), max(at.To, v)
				}
				out[c] = at
			}
		}
	}
	return out
}
