package report

import (
	"slices"

	"github.com/pho-go/pho/decompose"
	"github.com/pho-go/pho/family"
)

// response is how a predictor eta becomes something on the scale of the response.
type response struct {
	Function string  `json:"function"`        // exp, sigmoid, softplus, inv_cloglog, softmax
	Beta     float64 `json:"beta,omitempty"`  // family.Link's
	Scale    float64 `json:"scale,omitempty"` // family.Link's
	Plus     float64 `json:"plus,omitempty"`  // family.Link's Shift
	// With are, of softmax, the positions of all predictors that it takes, from 0. Reference:
	// it takes a 0 besides, of the class that the others are differences to.
	With      []int  `json:"with,omitempty"`
	Reference bool   `json:"reference,omitempty"`
	Name      string `json:"name"` // of the value: "mean of cnt"
	// Relative: effects are told without the intercept, as ratios to a row of mean parts.
	Relative bool `json:"relative,omitempty"`
	// EffectsOnly: it is said of effects, not of rows.
	EffectsOnly bool `json:"effects_only,omitempty"`
	// Offset: the response has an offset besides, which is not in eta.
	Offset bool `json:"offset,omitempty"`

	link family.Link // of one number
}

// responseOf is what makes the response of predictor k: its link. nil: nothing does, or it is
// the identity, or it is not known.
func responseOf(r *decompose.Result, k int) *response {
	if s := softmaxOf(r, k); s != nil {
		return s
	}
	d := &r.Predictors[k]
	if d.Link == nil || !d.Link.Known() || d.Link.Identity() {
		return nil
	}
	l := *d.Link
	return &response{Function: l.Function(), Beta: l.Beta, Scale: l.Scale, Plus: l.Shift, Name: quantity(r, d), Relative: l.Of == family.HazardRatio, Offset: r.Offset != "", link: l}
}

// quantity says what the link of a predictor gives.
func quantity(r *decompose.Result, d *decompose.Predictor) string {
	of := d.Link.Of
	switch {
	case of == "":
		return d.Link.Function() + " of " + clip(d.Name, 40)
	case (of == family.Mean || of == family.Probability) && r.Response != "":
		return string(of) + " of " + clip(r.Response, 40)
	case of == family.ClassProbability && d.Name != "eta" && d.Name != r.Labels.Predictor("eta"): // one of two classes
		return "probability of " + clip(d.Name, 40)
	case of == family.ClassProbability:
		return string(family.Probability)
	}
	return string(of)
}

// ResponseValue is a number on the scale of the response, and what it is.
type ResponseValue struct {
	Name  string  `json:"name"`
	Value float64 `json:"value"`
}

// Responses are what a row's predictors eta, in the order of r's, are on the scale of the
// response, by their links. Predictors with the identity, or on an unknown scale, are left
// out; the class that others are differences to is the last of its set. offset is the row's;
// nil: it counts as 0, which the name says.
func Responses(r *decompose.Result, eta []float64, offset *float64) []ResponseValue {
	if len(eta) != len(r.Predictors) {
		return nil
	}
	row := decompose.Example{Offset: offset}
	for _, v := range eta {
		row.Parts = append(row.Parts, decompose.ExampleParts{Eta: v})
	}
	var out []ResponseValue
	for k := range eta {
		s := responseOf(r, k)
		if s == nil {
			continue
		}
		name := s.Name
		if s.Offset && k == 0 && offset == nil {
			name += " where " + clip(r.Offset, 40) + " is 0"
		}
		out = append(out, ResponseValue{name, s.of(row, k)})
		if s.Reference && k == s.With[len(s.With)-1] {
			out = append(out, ResponseValue{"probability of " + clip(setOf(r, k).Reference, 40), softmax(append(s.etas(row), 0), len(s.With), false)})
		}
	}
	return out
}

// of is the response in a row.
func (s *response) of(row decompose.Example, k int) float64 {
	eta := row.Parts[k].Eta
	if row.Offset != nil && k == 0 {
		eta += *row.Offset
	}
	if s.With == nil {
		return s.link.Inverse(eta)
	}
	return softmax(s.etas(row), slices.Index(s.With, k), s.Reference)
}

// etas are a row's predictors of the classes.
func (s *response) etas(row decompose.Example) []float64 {
	out := make([]float64, len(s.With))
	for i, l := range s.With {
		out[i] = row.Parts[l].Eta
	}
	return out
}

// softmaxOf is the softmax over the classes that predictor k belongs to; nil: it belongs to
// none. Predictors centred over the classes have the softmax of the network's own.
func softmaxOf(r *decompose.Result, k int) *response {
	s := setOf(r, k)
	if s == nil {
		return nil
	}
	out := &response{Function: "softmax", Reference: s.Contrast == decompose.ToClass, Name: "probability of " + clip(r.Predictors[k].Name, 40)}
	for i := range r.Predictors {
		if slices.Contains(s.Predictors, r.Predictors[i].Name) {
			out.With = append(out.With, i)
		}
	}
	return out
}

// setOf are the classes that predictor k belongs to; nil: it belongs to none, or how they are
// compared is not known.
func setOf(r *decompose.Result, k int) *decompose.PredictorSet {
	for i := range r.Sets {
		if s := &r.Sets[i]; s.Contrast != "" && slices.Contains(s.Predictors, r.Predictors[k].Name) {
			return s
		}
	}
	return nil
}
