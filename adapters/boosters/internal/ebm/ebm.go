// Package ebm reads explainable boosting machines as InterpretML's to_json writes them (interpret 0.6 and 0.7, version 1.0 of
// the format). A model is
//
//	eta_k = intercept_k + sum over terms of scores[bin of each of its columns][k]
//
// Bin 0 of a column holds missing values, and the last bin values of another kind. The bins between hold values: of a
// continuous column x those with cuts[i-2] <= x < cuts[i-1], of others a category or several. Format:
// interpret/glassbox/_ebm/_json.py.
package ebm

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/pho-go/pho/adapters/boosters/internal/document"
)

// Model is what a file holds, checked: indexes are within bounds, numbers are finite.
type Model struct {
	Link      string
	Classes   []string // of a classifier
	Intercept []float64
	Features  []Feature
	Terms     []Term
}

// Feature is a column. It is binned anew for terms of one column, of two, ...: a list of bins has the bins of the terms
// with so many columns, the last one those of terms with more.
type Feature struct {
	Name       string
	Continuous bool
	Cuts       [][]float64      // increasing; of a continuous column
	Categories []map[string]int // the bin of each, from 1; of others
}

// Term is a function of the bins of some columns.
type Term struct {
	Features []int
	Sizes    []int     // bins of each
	Scores   []float64 // by bins of the first column, of the second, ..., and by score
}

// bounds of what a file may ask for.
const (
	maxOrder  = 8
	maxScores = 1 << 28
)

// Is reports whether a file that begins with head is one: an object whose first members are a version and an ebm.
func Is(head []byte) bool {
	keys := document.Keys(head, 2)
	return len(keys) > 0 && (keys[0] == "ebm" || slices.Equal(keys, []string{"version", "ebm"}))
}

type file struct {
	Version string `json:"version"`
	EBM     *struct {
		Outputs []struct {
			Task    string            `json:"task"`
			Classes []json.RawMessage `json:"classes"`
			Link    string            `json:"link"`
		} `json:"outputs"`
		Intercept []number  `json:"intercept"`
		Features  []feature `json:"features"`
		Terms     []struct {
			Features []string        `json:"term_features"`
			Scores   json.RawMessage `json:"scores"`
		} `json:"terms"`
	} `json:"ebm"`
}

type feature struct {
	Name       string              `json:"name"`
	Type       string              `json:"type"`
	Cuts       [][]number          `json:"cuts"`
	Categories [][]json.RawMessage `json:"categories"`
}

// number is one that may be written as a text, "nan", "+inf" or "-inf".
type number float64

func (n *number) UnmarshalJSON(b []byte) error {
	if len(b) > 1 && b[0] == '"' {
		b = b[1 : len(b)-1]
	}
	v, err := strconv.ParseFloat(string(b), 64)
	*n = number(v)
	return err
}

// Read reads a file.
func Read(b []byte) (*Model, error) {
	var f file
	if err := json.Unmarshal(b, &f); err != nil {
		return nil, fmt.Errorf("the file is damaged or ends too early (%w); copy it, or save the model, again", err)
	}
	switch {
	case f.EBM == nil:
		return nil, errors.New("it has no member ebm")
	case f.Version != "1.0":
		return nil, fmt.Errorf("its format has version %.20q; 1.0 is supported", f.Version)
	case len(f.EBM.Outputs) != 1:
		return nil, fmt.Errorf("it has %d outputs; one is supported", len(f.EBM.Outputs))
	}
	m := &Model{Link: f.EBM.Outputs[0].Link, Classes: texts(f.EBM.Outputs[0].Classes)}
	var err error
	if m.Intercept, err = finite(f.EBM.Intercept); err != nil || len(m.Intercept) == 0 {
		return nil, errors.New("the intercept is not of finite numbers")
	}
	index := map[string]int{}
	for i, own := range f.EBM.Features {
		if _, twice := index[own.Name]; twice || own.Name == "" {
			return nil, fmt.Errorf("the feature name %q is empty or there twice", own.Name)
		}
		index[own.Name] = i
		column, err := own.read()
		if err != nil {
			return nil, fmt.Errorf("feature %q: %w", own.Name, err)
		}
		m.Features = append(m.Features, column)
	}
	for i, own := range f.EBM.Terms {
		t := Term{}
		for _, name := range own.Features {
			k, known := index[name]
			if !known || slices.Contains(t.Features, k) {
				return nil, fmt.Errorf("term %d: the feature %q is none, or there twice", i, name)
			}
			t.Features = append(t.Features, k)
		}
		if err := m.scores(&t, own.Scores); err != nil {
			return nil, fmt.Errorf("term %d, of %q: %w", i, own.Features, err)
		}
		f.EBM.Terms[i].Scores = nil // their memory is not needed any more
		m.Terms = append(m.Terms, t)
	}
	return m, nil
}

// texts are names, or numbers and truth values as texts.
func texts(raw []json.RawMessage) (out []string) {
	for _, r := range raw {
		var s string
		if json.Unmarshal(r, &s) != nil {
			s = string(r)
		}
		out = append(out, s)
	}
	return out
}

func finite(of []number) ([]float64, error) {
	out := make([]float64, len(of))
	for i, v := range of {
		if out[i] = float64(v); math.IsNaN(out[i]) || math.IsInf(out[i], 0) {
			return nil, fmt.Errorf("number %d is %v", i, out[i])
		}
	}
	return out, nil
}

func (f *feature) read() (Feature, error) {
	out := Feature{Name: f.Name, Continuous: f.Type == "continuous"}
	switch f.Type {
	case "continuous":
		for _, own := range f.Cuts {
			cuts, err := finite(own)
			if err != nil {
				return out, err
			}
			for i := 1; i < len(cuts); i++ {
				if cuts[i] <= cuts[i-1] {
					return out, errors.New("its cuts do not increase")
				}
			}
			out.Cuts = append(out.Cuts, cuts)
		}
	case "nominal", "ordinal":
		for _, own := range f.Categories {
			bins := map[string]int{}
			for i, raw := range own {
				var several []json.RawMessage
				if json.Unmarshal(raw, &several) != nil {
					several = []json.RawMessage{raw}
				}
				for _, name := range texts(several) {
					if _, twice := bins[name]; twice {
						return out, fmt.Errorf("the category %q is there twice", name)
					}
					bins[name] = i + 1
				}
			}
			out.Categories = append(out.Categories, bins)
		}
	default:
		return out, fmt.Errorf("columns of type %.40q are not supported; continuous, nominal and ordinal are", f.Type)
	}
	if len(out.Cuts)+len(out.Categories) == 0 {
		return out, errors.New("it has no bins")
	}
	return out, nil
}

// Level is the list of bins for terms of so many columns.
func (f *Feature) Level(columns int) int {
	return min(columns, max(len(f.Cuts), len(f.Categories))) - 1
}

// bins is how many bins a list has.
func (f *Feature) bins(level int) int {
	if f.Continuous {
		return len(f.Cuts[level]) + 3
	}
	most := 0
	for _, bin := range f.Categories[level] {
		most = max(most, bin)
	}
	return most + 2
}

// scores reads the nested lists of a term.
func (m *Model) scores(t *Term, raw json.RawMessage) error {
	order := len(t.Features)
	if order == 0 || order > maxOrder {
		return fmt.Errorf("it has %d features; 1 to %d are supported", order, maxOrder)
	}
	n := len(m.Intercept)
	for _, k := range t.Features {
		f := &m.Features[k]
		size := f.bins(f.Level(order))
		if t.Sizes = append(t.Sizes, size); n > maxScores/size {
			return fmt.Errorf("it has more than %d scores", maxScores)
		}
		n *= size
	}
	shape := t.Sizes
	if len(m.Intercept) > 1 {
		shape = append(slices.Clone(shape), len(m.Intercept))
	}
	t.Scores = make([]float64, 0, min(n, len(raw)))
	if err := t.flatten(document.New(raw), shape); err != nil {
		return err
	}
	if len(t.Scores) != n {
		return fmt.Errorf("it has %d scores for %d bins", len(t.Scores), n)
	}
	return nil
}

// flatten appends the numbers of nested lists of that shape.
func (t *Term) flatten(r document.Reader, shape []int) error {
	n := 0
	err := r.Array(func() error {
		n++
		if len(shape) > 1 {
			return t.flatten(r, shape[1:])
		}
		v, err := r.Number()
		if err == nil && (math.IsNaN(v) || math.IsInf(v, 0)) {
			err = fmt.Errorf("a score is %v", v)
		}
		t.Scores = append(t.Scores, v)
		return err
	})
	if err == nil && n != shape[0] {
		err = fmt.Errorf("a list of scores has %d entries, its bins are %d", n, shape[0])
	}
	return err
}
