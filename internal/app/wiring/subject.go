package wiring

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/pho-go/pho/adapters/onnx"
	"github.com/pho-go/pho/basis"
	"github.com/pho-go/pho/classes"
	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/decompose"
)

// subject is what is decomposed: networks of ONNX files, bound to the rows, or one model that is no file.
type subject struct {
	graphs    []*onnx.Model     // the networks; none: a model that is no file
	models    []decompose.Model // they or that model; after contrast, with classes made unique
	reference Reference
	contrasts *classes.Model // of the first network; nil: it has no classes
	heads     []string       // response functions of the predictors, "" for none
}

// open binds the networks to the rows, or checks that these have what the model reads.
func (q *Request) open(ctx context.Context) (*subject, error) {
	if q.Model != nil {
		return q.openModel()
	}
	if err := q.Network.Settle(ctx, q.Rows, q.Inputs, q.notInputs()); err != nil {
		return nil, err
	}
	bind, err := q.bind(q.Network)
	if err != nil {
		return nil, err
	}
	open := *q.Open
	if open.Missing, err = q.lackCategories(); err != nil {
		return nil, err
	}
	if q.Network.Predictions != nil {
		open.NoStructure, open.Clip, open.Predictor = true, 0, nil // the network has it
		open.Derived = q.Network.derived()
	}
	if q.helper == nil {
		if q.helper, err = start(q.Engine); err != nil {
			return nil, err
		}
	}
	engine, err := q.Network.engine(q.helper, q.Precision)
	if err != nil {
		return nil, err
	}
	if own, ok := engine.(onnx.GoEngine); ok {
		own.NoMatrixUnits = q.NoMatrixUnits
		engine = own
	}
	open.Decode, open.Engine = basis.Decode, engine
	first, err := onnx.NewModel(q.Network.run(), bind, &open)
	if err != nil {
		return nil, refused(fmt.Errorf("%s: %w", q.Network, err))
	}
	graphs, err := q.openOthers(first, &open)
	if err != nil {
		return nil, err
	}
	s := &subject{graphs: graphs, reference: q.reference(bind, open.Missing)}
	for _, g := range graphs {
		s.models = append(s.models, g)
	}
	return s, nil
}

// lackCategories tells whether the rows may lack categories that the network's file names.
func (q *Request) lackCategories() (bool, error) {
	labels, err := q.Network.run().Labels()
	return err == nil && labels != nil && slices.ContainsFunc(q.Rows.Schema(), func(c data.Column) bool { return c.Missing && labels.Columns[c.Name] != nil }), err
}

// refused is the error of a network that was read and cannot be opened, unless it is of an option.
func refused(err error) error {
	if option := (*onnx.OptionError)(nil); errors.As(err, &option) {
		return err
	}
	return &RefusedError{err}
}

// openModel refuses what only a network's file could give.
func (q *Request) openModel() (*subject, error) {
	switch {
	case len(q.Inputs) > 0:
		return nil, optionError("inputs", fmt.Errorf("the model is no ONNX file, and reads the columns %.300q by their names", q.Model.Columns()))
	case q.Class != "":
		return nil, optionError("reference", fmt.Errorf("the model is no ONNX file whose softmax would have a class %q: package classes makes its predictors differences to a class", q.Class))
	}
	if err := q.Rows.Schema().Require("the data", q.Model.Columns()); err != nil {
		return nil, err
	}
	return &subject{
		models: []decompose.Model{q.Model}, heads: make([]string, len(q.Model.Predictors())),
		reference: Reference{Kind: Function, Columns: q.Model.Columns()},
	}, nil
}

// contrast makes the classes of the networks unique.
func (q *Request) contrast(s *subject, trainedFor string) (err error) {
	if s.graphs == nil {
		return nil
	}
	if s.reference.Classes, err = q.classes(s.graph(), trainedFor); err != nil {
		return err
	}
	if s.contrasts, err = s.reference.contrasted(s.graph()); err != nil {
		return optionError("reference", err)
	}
	for i, g := range s.graphs {
		if s.models[i], err = s.reference.Contrasted(g); err != nil {
			return err
		}
	}
	s.heads = headsOf(s.graph(), s.contrasts)
	return nil
}

// graph is the first network; nil: there is none.
func (s *subject) graph() *onnx.Model {
	if s.graphs == nil {
		return nil
	}
	return s.graphs[0]
}

// entered is the model that the rows enter.
func (s *subject) entered() decompose.Model {
	if s.graphs == nil {
		return s.models[0]
	}
	return s.graphs[0]
}

// passedOver says which structure of the network was not taken; "" is nothing.
func (s *subject) passedOver() string {
	if s.graphs == nil {
		return ""
	}
	return s.graph().Structure().PassedOver
}

// responses say of outputs of the network that are no predictors what they are.
func (s *subject) responses() (notes []string) {
	if s.graphs == nil {
		return nil
	}
	for _, p := range s.graph().Structure().Predictors {
		if r := p.Response(); r != "" {
			notes = append(notes, fmt.Sprintf("the network's output %q is %s, eta being the predictor %s", p.Output, r, p.Name))
		}
	}
	return notes
}

// reference says how the network is opened and bound.
func (q *Request) reference(bind onnx.Binding, missing bool) Reference {
	if q.Network.Asked != nil {
		return q.asked(q.Inputs)
	}
	ref := Reference{
		Path: q.Network.Path, SHA256: q.Network.SHA256, Inputs: map[string][]string{},
		BoundBy: boundBy(q.Network.Graph, bind, q.Inputs), Factors: q.Factors,
		MaxOrder: q.Open.MaxOrder, Deep: q.Open.Deep, Learned: q.Open.Learned, Predictor: q.Open.Predictor, NoStructure: q.Open.NoStructure, Clip: q.Open.Clip, Missing: missing,
		Constants: q.Network.Constants, Engine: engineOf(q.helper),
	}
	if q.Precision == onnx.Single {
		ref.Precision = Single
	}
	if ref.MaxOrder == 0 && !ref.NoStructure && q.Network.Graph.HasTrees() {
		ref.TreeOrder = onnx.DefaultTreeOrder
	}
	for _, in := range bind {
		ref.Inputs[in.Input] = in.Columns
	}
	if q.Network.Predictions != nil {
		ref.predictions(q.networks())
		return ref
	}
	if len(q.Others) == 0 {
		return ref
	}
	paths := pathsOf(q.networks())
	for i, name := range memberNames(paths) {
		ref.Members = append(ref.Members, MemberReference{Name: name, Path: paths[i], SHA256: q.networks()[i].SHA256})
	}
	ref.Path, ref.SHA256 = commonFolder(paths), "" // so that versions that know one network refuse it
	return ref
}
