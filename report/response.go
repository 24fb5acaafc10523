package report

import (
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
	if out == nil {
		return nil
	}
	out.Offset = r.Offset != ""
	switch {
	case name == "binomial":
		out.Name = "probability of " + clip(r.Response, 40)
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
	d := &r.Predictors[k]
	for _, s := range r.Sets {
		reference := strings.HasPrefix(s.Convention, "difference to class")
		if !slices.Contains(s.Predictors, d.Name) || !reference && !strings.HasPrefix(s.Convention, "centred over the classes") {
			continue
		}
		out := &response{Function: "softmax", Reference: reference, Name: "probability of " + clip(d.Name, 40)}
		for i := range r.Predictors {
			if slices.Contains(s.Predictors, r.Predictors[i].Name) {
				out.With = append(out.With, i)
			}
		}
		return out
	}
	return nil
}
