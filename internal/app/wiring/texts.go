package wiring

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"

	"github.com/pho-go/pho/adapters/onnx"
	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/data/files"
	"github.com/pho-go/pho/decompose"
)

// NetworkTexts are the columns that a network reads as text, whatever their cells: those whose
// texts its file codes, and those that fill inputs of text, which are bound or, of inputs that
// are not, of the input's name. Not all of them need be in the data.
func NetworkTexts(g *onnx.Graph, bound map[string][]string) ([]string, error) {
	labels, err := g.Labels()
	if err != nil {
		return nil, err
	}
	var texts []string
	if labels != nil {
		texts = slices.Sorted(maps.Keys(labels.Columns))
	}
	for _, own := range onnx.Unbound(g) {
		i := slices.IndexFunc(g.Inputs(), func(t onnx.Tensor) bool { return t.Name == own.Input })
		if g.Inputs()[i].Type != "string" {
			continue
		}
		if columns := bound[own.Input]; columns != nil {
			texts = append(texts, columns...)
		} else {
			texts = append(append(texts, own.Input), own.Columns...)
		}
	}
	return texts, nil
}

// Reading makes options read new rows as those of r were: a column that was text then is text,
// though its cells may be digits now.
func (o *Opened) Reading(r *decompose.Result, read *files.Options) error {
	read.Factors = o.Factors
	for _, m := range o.Networks {
		texts, err := NetworkTexts(m.Graph(), o.Inputs)
		if err != nil {
			return err
		}
		read.Texts = append(read.Texts, texts...)
	}
	for _, column := range TermTexts(r) {
		if !slices.Contains(o.Factors, column) {
			read.Texts = append(read.Texts, column)
		}
	}
	return nil
}

// TermTexts are the columns with a level, in a term of r, that is no number as levels write
// them: they held text.
func TermTexts(r *decompose.Result) []string {
	texts := map[string]bool{}
	for _, p := range r.Predictors {
		for _, t := range p.Terms {
			var spec any
			if json.Unmarshal(t.Spec, &spec) == nil {
				noteTexts(spec, texts)
			}
		}
	}
	return slices.Sorted(maps.Keys(texts))
}

// noteTexts finds, in a term as the artifact has it, the columns that it has levels of.
func noteTexts(spec any, texts map[string]bool) {
	switch v := spec.(type) {
	case []any:
		for _, part := range v {
			noteTexts(part, texts)
		}
	case map[string]any:
		column, ok := v["column"].(string)
		if !ok {
			column, ok = v["factor"].(string)
		}
		levels, _ := v["levels"].([]any)
		if ok && slices.ContainsFunc(levels, isText) {
			texts[column] = true
		}
		for _, part := range v {
			noteTexts(part, texts)
		}
	}
}

// isText tells whether a level is none that a number would have.
func isText(level any) bool {
	name, _ := level.(string)
	x, err := strconv.ParseFloat(name, 64)
	return err != nil || data.LevelText(x) != name
}
