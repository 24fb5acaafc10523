package report

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/pho-go/pho/decompose"
)

// response is how a predictor eta becomes something on the scale of the response.
type response struct {
	Function string  `json:"function"`       // exp, sigmoid, softplus, softmax
	Beta     float64 `json:"beta,omitempty"` // of softplus: log(1 + exp(Beta eta))/Beta; 0: 1
	Plus     float64 `json:"plus,omitempty"` // added to it
	// With are, of softmax, the positions of all predictors that it takes, from 0. Reference:
	// it takes a 0 besides, of the class that the others are differences to.
	With      []int  `json:"with,omitempty"`
	Reference bool   `json:"reference,omitempty"`
	Name      string `json:"name"` // of the value: "mean of cnt"
	// Offset: the response has an offset besides, which is not in eta.
	Offset bool `json:"offset,omitempty"`
}

// responseOf is what makes the response of predictor k: the head that the network ends in, else
// the link of the family. nil: nothing does, or it is the identity, or it is not known.
func responseOf(r *decompose.Result, k int) *response {
	if s := softmaxOf(r, k); s != nil {
		return s
	}
	d := &r.Predictors[k]
	name, _, _ := strings.Cut(r.Family, "(")
	out := parseHead(d.Head)
	if d.Head == "" {
		out = linkOf(name, k)
	}
	if d.Head == "" && name == "categorical" && len(r.Predictors) == 1 { // of two classes
		out = &response{Function: "sigmoid"}
	}
	if out == nil {
		return nil
	}
	out.Offset = r.Offset != ""
	switch {
	case name == "binomial":
		out.Name = "probability of " + clip(r.Response, 40)
	case name == "categorical" && d.Name != "eta" && d.Name != r.Labels.Predictor("eta"): // one of two classes
		out.Name = "probability of " + clip(d.Name, 40)
	case name == "cox":
		out.Name = "hazard ratio"
	case name == "zip" && k == 1:
		out.Name = "probability of a zero beside Poisson's"
	case k == 0 && slices.Contains([]string{"poisson", "gamma", "negative-binomial", "tweedie", "inverse-gaussian", "beta"}, name):
		out.Name = "mean of " + clip(r.Response, 40)
	case out.Function == "sigmoid":
		out.Name = "probability"
	default:
		out.Name = out.Function + " of " + clip(d.Name, 40)
	}
	return out
}

// ResponseValue is a number on the scale of the response, and what it is.
type ResponseValue struct {
	Name  string  `json:"name"`
	Value float64 `json:"value"`
}

// Responses are what a row's predictors eta, in the order of r's, are on the scale of the
// response: by the head that the network ends in, else by the link of the family. Those of the
// identity, and whose scale is not known, are left out; the class that others are differences
// to is the last of its set. offset is the row's; nil: it counts as 0, which the name says.
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
			highest, sum := s.softmax(row)
			out = append(out, ResponseValue{"probability of " + clip(setOf(r, k).Reference, 40), math.Exp(-highest) / sum})
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
	switch s.Function {
	case "exp":
		return math.Exp(eta) + s.Plus
	case "sigmoid":
		return 1/(1+math.Exp(-eta)) + s.Plus
	case "softplus":
		beta := cmp.Or(s.Beta, 1)
		return math.Max(eta, 0) + math.Log1p(math.Exp(-beta*math.Abs(eta)))/beta + s.Plus
	}
	highest, sum := s.softmax(row)
	return math.Exp(eta-highest) / sum
}

// softmax is the largest predictor of a row's classes, and the sum of the exponentials of all
// less this.
func (s *response) softmax(row decompose.Example) (highest, sum float64) {
	highest = math.Inf(-1)
	if s.Reference {
		highest = 0
	}
	for _, l := range s.With {
		highest = math.Max(highest, row.Parts[l].Eta)
	}
	for _, l := range s.With {
		sum += math.Exp(row.Parts[l].Eta - highest)
	}
	if s.Reference {
		sum += math.Exp(-highest)
	}
	return highest, sum
}

// parseHead reads a head's name as inspect writes it: "exp", "softplus(beta=2)+0.1". nil: it
// is no function of one number that the script computes.
func parseHead(head string) *response {
	name, plus, shifted := strings.Cut(head, "+")
	out := &response{}
	var err error
	if shifted {
		if out.Plus, err = strconv.ParseFloat(plus, 64); err != nil {
			return nil
		}
	}
	if beta, ok := strings.CutPrefix(name, "softplus(beta="); ok {
		if out.Beta, err = strconv.ParseFloat(strings.TrimSuffix(beta, ")"), 64); err != nil || !(out.Beta > 0) {
			return nil
		}
		name = "softplus"
	}
	if !slices.Contains([]string{"exp", "sigmoid", "softplus"}, name) {
		return nil
	}
	out.Function = name
	return out
}

// linkOf is the inverse link of predictor k of a family, for networks that end on its scale.
func linkOf(family string, k int) *response {
	functions := map[string][]string{
		"binomial": {"sigmoid"}, "poisson": {"exp"}, "gamma": {"exp"}, "negative-binomial": {"exp", "exp"}, "tweedie": {"exp"},
		"inverse-gaussian": {"exp"}, "beta": {"sigmoid", "exp"}, "zip": {"exp", "sigmoid"}, "cox": {"exp"},
		"gaussian": {"", "exp"}, "student-t": {"", "exp", "exp"}, "lognormal": {"", "exp"}, "weibull": {"", "exp"}, "log-logistic": {"", "exp"},
	}[family]
	if k >= len(functions) || functions[k] == "" {
		return nil
	}
	return &response{Function: functions[k]}
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
