package wiring

import (
	"errors"
	"slices"

	"github.com/pho-go/pho/adapters/onnx"
	"github.com/pho-go/pho/classes"
	"github.com/pho-go/pho/decompose"
)

// features are those of the deep parts that are compared with the terms: Options.Learned names an array.
func (s *subject) features() ([]*decompose.Tap, error) {
	if s.graphs == nil {
		return nil, nil
	}
	all := s.graph().Features()
	if len(all) > 0 && len(s.graphs) > 1 {
		return nil, optionError("learned", errors.New("the features that networks make of an array are each network's own: decompose one of them to see what the table tells of its features"))
	}
	return all, nil
}

// deepOf says what the deep parts of the predictors read of which arrays are a part, nil of those that read none. A predictor of
// classes mixes the network's own.
func deepOf(m *onnx.Model, c *classes.Model) (all []*decompose.Deep) {
	if m == nil {
		return nil
	}
	own := m.Structure().Predictors
	if c == nil {
		for _, p := range own {
			all = append(all, deepPart(m.Structure(), p))
		}
		return all
	}
	for k := range c.Predictors() {
		var mixed []onnx.PredictorInfo
		for l, v := range c.Mixture(k) {
			if v != 0 {
				mixed = append(mixed, own[l])
			}
		}
		all = append(all, deepPart(m.Structure(), mixed...))
	}
	return all
}

func deepPart(s *onnx.Structure, of ...onnx.PredictorInfo) *decompose.Deep {
	kind := map[string]string{} // of arrays, by column
	for _, in := range s.Inputs {
		if in.Whole != "" {
			kind[in.Columns[0]] = in.Kind
		}
	}
	d := &decompose.Deep{Columns: []string{}}
	for _, p := range of {
		if p.Deep == nil {
			continue
		}
		for _, c := range p.Deep.Columns {
			switch {
			case kind[c] == "" && !slices.Contains(d.Columns, c):
				d.Columns = append(d.Columns, c)
			case kind[c] != "" && !slices.ContainsFunc(d.Arrays, func(a decompose.Array) bool { return a.Column == c }):
				d.Arrays = append(d.Arrays, decompose.Array{Column: c, Kind: kind[c]})
			}
		}
	}
	if d.Arrays == nil {
		return nil
	}
	return d
}
