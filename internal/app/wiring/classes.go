package wiring

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/pho-go/pho/adapters/onnx"
	"github.com/pho-go/pho/classes"
	"github.com/pho-go/pho/decompose"
	"github.com/pho-go/pho/family"
)

// ClassesReference is what a result says of predictors of classes: how those of the network
// were taken together (package classes).
type ClassesReference struct {
	Heads     []ClassHead `json:"heads"`
	Reference string      `json:"reference,omitempty"` // class; "": centred
}

// ClassHead is the classes of one softmax.
type ClassHead struct {
	Name       string   `json:"name"`       // the output
	Predictors []string `json:"predictors"` // of the network, as inspect names them
	Classes    []string `json:"classes"`
}

// classes wraps the network if predictors of it are those of classes: of a softmax, or, if
// the family or a reference class says so, all of them. nil heads: there are none.
func (q *Request) classes(m *onnx.Model, trainedFor string) (*ClassesReference, error) {
	heads, err := softmaxes(m)
	if err != nil {
		return nil, err
	}
	if p := q.Network.Predictions; p != nil && len(heads) == 1 {
		heads[0].Classes = p.names()
		if q.Network.Asked != nil {
			heads[0].Classes = p.Columns
		}
	}
	asked := q.Family == "categorical" || trainedFor == "categorical" || q.Class != ""
	if len(heads) == 0 && asked && allPlain(m) && !m.Structure().Predictors[0].Probability {
		labels, err := labelsOf(m, m.Predictors(), nil)
		if err != nil {
			return nil, err
		}
		heads = []ClassHead{{m.Structure().Predictors[0].Output, m.Predictors(), labels}}
	}
	switch {
	case len(heads) == 0 && q.Class != "" && q.Network.Predictions != nil:
		return nil, optionError("reference", fmt.Errorf("the model has no class %q to compare others with: it has classes if its predictions are their probabilities, each in a column, with the link softmax", q.Class))
	case len(heads) == 0 && q.Class != "":
		return nil, optionError("reference", fmt.Errorf("the network has no softmax, so there is no class %q to compare others with", q.Class))
	case len(heads) == 0:
		return nil, nil
	}
	return &ClassesReference{heads, called(q.Class, heads)}, nil
}

// called is the name of a class that is given as its number from 0, where no class is called so.
func called(class string, heads []ClassHead) string {
	k, err := strconv.Atoi(class)
	if err != nil || len(heads) == 0 || k < 0 || k >= len(heads[0].Classes) || slices.ContainsFunc(heads, func(h ClassHead) bool { return slices.Contains(h.Classes, class) }) {
		return class
	}
	return heads[0].Classes[k]
}

// softmaxes are the heads that the graph shows.
func softmaxes(m *onnx.Model) (heads []ClassHead, err error) {
	s := m.Structure()
	for _, own := range s.Softmaxes {
		at := slices.IndexFunc(s.Predictors, func(p onnx.PredictorInfo) bool { return p.Name == own.Predictors[0] })
		h := ClassHead{s.Predictors[at].Output, own.Predictors, nil}
		if h.Classes, err = labelsOf(m, own.Predictors, own.Labels); err != nil {
			return nil, err
		}
		heads = append(heads, h)
	}
	return heads, nil
}

// allPlain: several predictors, without heads, of one tensor.
func allPlain(m *onnx.Model) bool {
	all := m.Structure().Predictors
	return len(all) > 1 && !slices.ContainsFunc(all, func(p onnx.PredictorInfo) bool { return p.Head != "" || p.Tensor != all[0].Tensor })
}

// labelsOf are the names of classes: the names that the file was trained on, or that its
// classifiers have, or else the names of the predictors.
func labelsOf(m *onnx.Model, predictors, own []string) ([]string, error) {
	texts, err := m.Graph().Labels()
	if err != nil {
		return nil, err
	}
	switch {
	case texts != nil && len(texts.Classes) == len(predictors):
		return texts.Classes, nil
	case own != nil:
		return own, nil
	}
	return predictors, nil
}

// numbered are the numbers 0 to n-1 as names.
func numbered(n int) (names []string) {
	for i := range n {
		names = append(names, strconv.Itoa(i))
	}
	return names
}

// Contrasted is the network with its classes as the result has them: m itself if it has
// none.
func (ref *Reference) Contrasted(m *onnx.Model) (decompose.Model, error) {
	c, err := ref.contrasted(m)
	if err != nil || c == nil {
		return m, err
	}
	return c, nil
}

func (ref *Reference) contrasted(m *onnx.Model) (*classes.Model, error) {
	if ref.Classes == nil {
		return nil, nil
	}
	names := m.Predictors()
	var heads []classes.Head
	for _, h := range ref.Classes.Heads {
		own := classes.Head{Name: h.Name, Classes: h.Classes}
		for _, p := range h.Predictors {
			own.Predictors = append(own.Predictors, slices.Index(names, p))
		}
		heads = append(heads, own)
	}
	return classes.New(m, heads, ref.Classes.Reference)
}

// heads are the response functions of the predictors of a model with classes: of two
// classes, whose predictor is their log odds, a sigmoid.
func headsOf(m *onnx.Model, c *classes.Model) (heads []string) {
	own := m.Structure().Predictors
	if c == nil {
		for _, p := range own {
			heads = append(heads, p.Head)
		}
		return heads
	}
	for k := range c.Predictors() {
		head, from := "", 0
		for l, v := range c.Mixture(k) {
			if v != 0 {
				head, from = own[l].Head, from+1
			}
		}
		if (head == "softmax" || head == "logsoftmax") && c.LogOdds(k) {
			head = "sigmoid"
		}
		heads = append(heads, head)
	}
	return heads
}

// againstClass is the family for predictors that are differences to a class.
func (ref *Reference) againstClass(f family.Family) (family.Family, error) {
	if !family.TraitsOf(f).Nominal || ref.Classes == nil || len(ref.Classes.Heads) != 1 {
		return f, nil
	}
	h := ref.Classes.Heads[0]
	reference := slices.Index(h.Classes, ref.Classes.Reference)
	if len(h.Classes) == 2 {
		reference = max(reference, 0)
	}
	if reference < 0 {
		return f, nil
	}
	return family.NewCategorical(len(h.Classes), reference)
}

// ownClasses are the classes of a network whose predictors are probabilities, or of one with one
// predictor, the second's; nil if there are none.
func (s *subject) ownClasses() []string {
	if s.graphs == nil {
		return nil
	}
	all := s.graph().Structure().Predictors
	if len(all) == 1 || s.probabilities() {
		return all[0].Classes
	}
	return nil
}

// probabilities reports whether the predictors are those of classes as they are, which may be 0 and 1.
func (s *subject) probabilities() bool {
	return s.graphs != nil && !slices.ContainsFunc(s.graph().Structure().Predictors, func(p onnx.PredictorInfo) bool { return !p.Probability })
}

// checkProbabilities refuses families whose predictor is on another scale than probabilities
// that are decomposed as they are: that of one class is the mean of a gaussian alone.
func (s *subject) checkProbabilities(name string) error {
	if s.graphs == nil {
		return nil
	}
	all := s.graph().Structure().Predictors
	suits := (family.Gaussian{}).Name()
	if len(all) > 1 {
		suits = "categorical(link=identity)"
	}
	if name == suits || !slices.ContainsFunc(all, func(p onnx.PredictorInfo) bool { return p.Probability }) {
		return nil
	}
	return fmt.Errorf("the predictors are probabilities of classes that may be 0 and 1, not log odds: their family is %s; set Options.Clip to decompose the log odds of probabilities that are kept away from 0 and 1", suits)
}

// readClasses shows the response as numbers of the classes, if there are some.
func (q *Request) readClasses(s *subject) error {
	o, ref := q.Options, &s.reference
	if o.Response == "" {
		return nil
	}
	traits := family.TraitsOf(o.Family)
	column, _ := q.Rows.Schema().Lookup(o.Response)
	if ref.Classes != nil && len(ref.Classes.Heads) == 1 && (traits.Nominal || traits.Binary && !column.Numeric) {
		names, also := slices.Clone(ref.Classes.Heads[0].Classes), []string(nil)
		if models := ref.Predicted(); models != nil {
			also = spellings(models[0])
		}
		if traits.Binary && ref.Classes.Reference == names[1] { // 1 is the class whose log odds the predictor is
			slices.Reverse(names)
			slices.Reverse(also)
		}
		q.Rows = classNumbers(q.Rows, o.Response, names, also...)
		return nil
	}
	if names := s.ownClasses(); names != nil && (!column.Numeric || !slices.Equal(names, numbered(len(names)))) {
		q.Rows = classNumbers(q.Rows, o.Response, names)
		return nil
	}
	err := checkColumn(q.Rows.Schema(), o.Response, true)
	if err != nil && ref.predicted() && traits.Binary {
		err = fmt.Errorf("%w, 1 where what the predictions are the probability of is so, and 0; or give the probabilities of both classes, with the link softmax", err)
	}
	return optionError("response", err)
}

// share asks for one lambda for the classes of a softmax, where their terms are the same;
// of others it gives a note that they are not.
func (q *Request) share(c *classes.Model, m decompose.Model) (notes []string) {
	o := q.Options
	names := m.Predictors()
	for _, set := range c.Sharing() {
		// AddPairs makes everything ready twice.
		o.Shared = slices.DeleteFunc(slices.Clone(o.Shared), func(s decompose.Sharing) bool { return slices.Equal(s.Predictors, set.Predictors) })
		terms := map[string]bool{}
		for _, p := range set.Predictors {
			var own []string
			for _, b := range m.Blocks(slices.Index(names, p)) {
				own = append(own, b.Term.Name())
			}
			terms[fmt.Sprintf("%q %v", own, slices.Contains(o.WithoutIntercept, p))] = true
		}
		if set.Apart = len(terms) > 1; set.Apart {
			notes = append(notes, fmt.Sprintf("the classes %.120q have different terms, so each has smoothing parameters of its own, and shares depend on how classes are compared: give all of them the same formula", set.Predictors))
		}
		o.Shared = append(o.Shared, set)
	}
	return notes
}

// thresholds says which ones an ordinal family has found.
func thresholds(f family.Family) string {
	o, ok := f.(family.Ordered)
	if !ok {
		return ""
	}
	return fmt.Sprintf("family ordinal: the levels are %.6g, with thresholds of the predictor at %.6g, estimated for the model's predictor as it is", o.Levels(), o.Thresholds())
}
