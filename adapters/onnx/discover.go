package onnx

import (
	"cmp"
	"fmt"

	"github.com/pho-go/pho/adapters/onnx/internal/engine"
	"github.com/pho-go/pho/adapters/onnx/internal/graph"
	"github.com/pho-go/pho/adapters/onnx/internal/parts"
	"github.com/pho-go/pho/adapters/onnx/internal/structure"
	"github.com/pho-go/pho/basis"
)

// Discover finds the additive structure of a network whose inputs are bound to
// data columns: each predictor is unrolled through linear operators to input
// columns (linear terms) and to elements of non-linear tensors; these are
// grouped by the columns they depend on into learned terms and the deep part.
// The graph is not changed. Errors: a binding that does not fit, an override
// that names nothing, no usable output.
func Discover(g *Graph, bind Binding, o *Options) (*Structure, error) {
	return discover(g, bind, o, structure.Limits{})
}

func discover(g *Graph, bind Binding, o *Options, l structure.Limits) (*Structure, error) {
	if o == nil {
		o = &Options{}
	}
	switch {
	case o.MaxOrder < 0:
		return nil, fmt.Errorf("onnx: MaxOrder %d is negative; 0 means the default, 3", o.MaxOrder)
	case o.TreeOrder < 0:
		return nil, fmt.Errorf("onnx: TreeOrder %d is negative; 0 means the default, %d", o.TreeOrder, DefaultTreeOrder)
	}
	if !(o.Clip >= 0 && o.Clip < 0.5) {
		return nil, fmt.Errorf("onnx: Clip is %g: it is how far probabilities are kept from 0 and 1, less than 0.5; 0 means not at all", o.Clip)
	}
	columns, err := bind.fits(g)
	if err != nil {
		return nil, err
	}
	split := g.g
	if !o.NoStructure {
		if split, err = structure.SplitTrees(g.g, columns, cmp.Or(o.TreeOrder, o.MaxOrder, DefaultTreeOrder), l); err != nil {
			return nil, typed(err)
		}
	}
	if split == g.g {
		split = structure.Copy(g.g)
	}
	s := structure.Options{
		MaxOrder: o.MaxOrder, Deep: o.Deep, Learned: o.Learned, Predictor: o.Predictor, NoStructure: o.NoStructure, Clip: o.Clip, Missing: o.Missing,
		Levels: func() (map[string][]string, error) {
			labels, err := g.Labels()
			if err != nil || labels == nil {
				return nil, err
			}
			return labels.Columns, nil
		},
		Factor: basis.FactorOf, Evaluate: evaluation(split), Limits: l,
	}
	if o.Decode != nil {
		s.Declared = func() (*structure.Declared, error) {
			d, err := g.Declaration(o.Decode)
			if err != nil || d == nil {
				return nil, err
			}
			return d.asFound(), nil
		}
	}
	found, err := structure.Discover(split, columns, s)
	if err != nil {
		return nil, typed(err)
	}
	if p := g.g.Parts; p != nil {
		found.Notes = append(found.Notes, passedOver(p))
	}
	return describe(found), nil
}

// passedOver says which outputs of the file are not the network's own.
func passedOver(p *parts.Parts) string {
	var names []string
	for _, o := range p.Outputs {
		names = append(names, o.Name)
	}
	return fmt.Sprintf("the outputs %s are parts of a decomposition that was written into the file (%s) and are passed over", graph.QuotedList(names), MetadataStructure)
}

// evaluation computes tensors of g in double precision, whatever the engine of a model:
// what is found belongs to the graph.
func evaluation(g *graph.Graph) structure.Evaluate {
	return func(want []*graph.Value, inputs [][]float64, rows int) ([][]float64, error) {
		r, err := engine.New(g, want, engine.Options{})
		if err != nil {
			return nil, err
		}
		var dst [][]float64
		for _, v := range want {
			dst = append(dst, make([]float64, rows*v.Width()))
		}
		return dst, r.Run(dst, inputs, rows)
	}
}

// fits lists the columns of each input if b is a binding of g.
func (b Binding) fits(g *Graph) ([][]string, error) {
	if len(b) != len(g.g.Inputs) {
		return nil, fmt.Errorf("onnx: %d inputs are bound, the network has %d", len(b), len(g.g.Inputs))
	}
	columns, numbers := make([][]string, len(b)), map[string]int{}
	for i, in := range b {
		v := g.g.Inputs[i]
		if in.Input != v.Name || len(in.Columns) != v.Width() && !in.isTensor(v) {
			return nil, fmt.Errorf("onnx: binding %d is for input %q with %d columns; the network's input is %q with %d numbers a row", i, in.Input, len(in.Columns), v.Name, v.Width())
		}
		width := 1
		if in.isTensor(v) {
			width = v.Width()
		}
		for _, c := range in.Columns {
			if had := cmp.Or(numbers[c], width); had != width {
				return nil, fmt.Errorf("onnx: column %q is bound to inputs that take %d and %d numbers of it a row; bind a column of its own to each", c, had, width)
			}
			numbers[c] = width
		}
		columns[i] = in.Columns
	}
	return columns, nil
}

func (d *Declaration) asFound() *structure.Declared {
	out := &structure.Declared{Columns: map[string]structure.Domain{}}
	for name, c := range d.Columns {
		out.Columns[name] = structure.Domain(c)
	}
	for _, p := range d.Predictors {
		own := structure.DeclaredPredictor{Output: p.Output, Deep: p.Deep}
		for _, t := range p.Terms {
			own.Terms = append(own.Terms, structure.DeclaredTerm(t))
			if f, ok := t.Block.Term.(*basis.OneHotTerm); ok {
				out.Dummies = append(out.Dummies, f.Columns())
			}
		}
		out.Predictors = append(out.Predictors, own)
	}
	return out
}

// describe is the public description of what was found.
func describe(f *structure.Found) *Structure {
	s := &Structure{Unused: f.Unused, PassedOver: f.PassedOver, Notes: f.Notes, found: f}
	for _, in := range f.Inputs {
		s.Inputs = append(s.Inputs, InputInfo(in))
	}
	for _, p := range f.Predictors {
		info := PredictorInfo{
			Name: p.Name, Tensor: p.Tensor, Element: p.Element, Output: p.Output, Head: p.Head, HeadNodes: p.HeadNodes, Ordinal: (*OrdinalInfo)(p.Ordinal), Probability: p.Probability, Classes: p.Classes,
			Intercept: p.Intercept, Terms: []TermInfo{}, Deep: (*DeepInfo)(p.Deep), Reasons: p.Reasons,
		}
		for _, t := range p.Terms {
			info.Terms = append(info.Terms, TermInfo(t))
		}
		s.Predictors = append(s.Predictors, info)
	}
	for _, own := range f.Softmaxes {
		info := SoftmaxInfo{Labels: own.Labels}
		for _, k := range own.Predictors {
			info.Predictors = append(info.Predictors, f.Predictors[k].Name)
		}
		s.Softmaxes = append(s.Softmaxes, info)
	}
	return s
}
