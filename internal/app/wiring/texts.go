package wiring

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/pho-go/pho/adapters/onnx"
	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/data/files"
	"github.com/pho-go/pho/decompose"
)

// NetworkTexts are the columns that a network reads as text, whatever their cells: columns that its
// file codes, and columns for its inputs of text, each bound to the input or else of its name. Not
// all of them need be in the data.
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
	texts, err := o.Texts(r)
	read.Texts = append(read.Texts, texts...)
	return err
}

// Texts are the columns that were text when r was made, for the network or for a term. Not all of
// them need be in the data.
func (o *Opened) Texts(r *decompose.Result) ([]string, error) {
	var all []string
	for _, m := range o.Networks {
		texts, err := NetworkTexts(m.Graph(), o.Inputs)
		if err != nil {
			return nil, err
		}
		all = append(all, texts...)
	}
	if o.Form != nil {
		all = append(all, o.Form.Texts()...)
	}
	for _, column := range termTexts(r) {
		if !slices.Contains(o.Factors, column) {
			all = append(all, column)
		}
	}
	return all, nil
}

// termTexts are the columns with a level, in a term of r, that is no number as levels write
// them: they held text.
func termTexts(r *decompose.Result) []string {
	var texts []string
	of := termLevels(r)
	for _, column := range slices.Sorted(maps.Keys(of)) {
		if slices.ContainsFunc(of[column], isText) {
			texts = append(texts, column)
		}
	}
	return texts
}

// termLevels are the levels that terms of r have, by column.
func termLevels(r *decompose.Result) map[string][]string {
	of := map[string][]string{}
	for _, p := range r.Predictors {
		for _, t := range p.Terms {
			var spec any
			if json.Unmarshal(t.Spec, &spec) == nil {
				noteLevels(spec, of)
			}
		}
	}
	for column, levels := range of {
		slices.Sort(levels)
		of[column] = slices.Compact(levels)
	}
	return of
}

// noteLevels finds, in a term as the artifact has it, the levels that it has of columns.
func noteLevels(spec any, of map[string][]string) {
	switch v := spec.(type) {
	case []any:
		for _, part := range v {
			noteLevels(part, of)
		}
	case map[string]any:
		column, ok := v["column"].(string)
		if !ok {
			column, ok = v["factor"].(string)
		}
		if levels, are := v["levels"].([]any); ok && are {
			for _, level := range levels {
				if name, is := level.(string); is {
					of[column] = append(of[column], name)
				}
			}
		}
		for _, part := range v {
			noteLevels(part, of)
		}
	}
}

// isText tells whether a level is none that a number would have.
func isText(level string) bool {
	x, err := strconv.ParseFloat(level, 64)
	return err != nil || data.LevelText(x) != level
}

// manyLevels is from how many levels on a column is asked whether it was meant to be a factor.
const manyLevels = 12

// levelWarnings tells of levels that are none in all likelihood: those that differ by blanks
// only, numbers among which a mark of a missing cell has come, and dates.
func levelWarnings(r *decompose.Result) []string {
	var out []string
	of := termLevels(r)
	for _, column := range slices.Sorted(maps.Keys(of)) {
		levels, name := of[column], Shorten(column, maxName)
		if pair := differByBlanks(levels); pair != nil {
			out = append(out, fmt.Sprintf("column %q has levels that differ by blanks only, as %q and %q: if they are one, take the blanks out of the data", name, Shorten(pair[0], maxName), Shorten(pair[1], maxName)))
		}
		if len(levels) < manyLevels {
			continue
		}
		others := slices.DeleteFunc(slices.Clone(levels), isNumber)
		dates := slices.DeleteFunc(slices.Clone(levels), func(level string) bool { return !isDate(level) })
		switch {
		case len(others) > 0 && 5*len(others) <= len(levels):
			out = append(out, fmt.Sprintf("column %q is a factor of %d levels, of which %d are numbers, since %s is none: if that marks missing values, read it as one, so that the column is one of numbers",
				name, len(levels), len(levels)-len(others), quotedFew(others)))
		case 5*len(dates) >= 4*len(levels):
			out = append(out, fmt.Sprintf("column %q is a factor of %d levels, which are dates, as %q: for an effect of time store it as a number, such as days since some day", name, len(levels), dates[0]))
		}
	}
	return out
}

// differByBlanks are two levels that do; nil: there are none.
func differByBlanks(levels []string) []string {
	seen := map[string]string{}
	for _, level := range levels {
		bare := strings.Join(strings.Fields(level), " ")
		if other, known := seen[bare]; known {
			return []string{other, level}
		}
		seen[bare] = level
	}
	return nil
}

func isNumber(level string) bool {
	_, err := strconv.ParseFloat(strings.Replace(strings.TrimSpace(level), ",", ".", 1), 64)
	return err == nil
}

func isDate(level string) bool {
	for _, layout := range []string{"2006-01-02", "2006-01-02 15:04:05", "2006-01-02T15:04:05", time.RFC3339, "2006-01-02 15:04", "2006/01/02", "02.01.2006", "01/02/2006", "02/01/2006", "15:04", "15:04:05"} {
		if _, err := time.Parse(layout, level); err == nil {
			return true
		}
	}
	return false
}

// quotedFew are at most three names and how many more.
func quotedFew(names []string) string {
	var quoted []string
	for _, name := range names[:min(3, len(names))] {
		quoted = append(quoted, strconv.Quote(Shorten(name, maxName)))
	}
	if len(names) > 3 {
		quoted = append(quoted, fmt.Sprintf("%d more", len(names)-3))
	}
	return strings.Join(quoted, ", ")
}
