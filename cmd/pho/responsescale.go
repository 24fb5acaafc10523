package main

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/pho-go/pho/decompose"
	"github.com/pho-go/pho/internal/wiring"
)

// responseValue is a number on the scale of the response, and what it is.
type responseValue struct {
	Name  string
	Value float64
}

// responseValues are what the predictors of a row say on the scale of the response, as far
// as the result tells: probabilities of classes, or the mean. Without an offset, which is
// not in eta.
func responseValues(r *decompose.Result, of []explainedPredictor) []responseValue {
	if v := probabilities(r, of); v != nil {
		return v
	}
	if len(of) != 1 {
		return nil
	}
	response := wiring.Shorten(shown(r.Response), summaryName)
	known := links(r.Family)
	switch {
	case len(known) == 0:
		return nil
	case known[0] == "log":
		what := "mean of " + response
		if r.Offset != "" {
			what += fmt.Sprintf(" where %s is 0", shown(r.Offset))
		}
		return []responseValue{{what, math.Exp(of[0].eta)}}
	case known[0] == "logit" && strings.HasPrefix(r.Family, "beta"):
		return []responseValue{{"mean of " + response, logistic(of[0].eta)}}
	case known[0] == "logit":
		return []responseValue{{"probability of " + cmpOr(shown(of[0].name), "eta", response), logistic(of[0].eta)}}
	case strings.HasPrefix(known[0], "log hazard"):
		return []responseValue{{"hazard ratio", math.Exp(of[0].eta)}}
	}
	return nil
}

// cmpOr is a, or b if a is what stands for no name.
func cmpOr(a, none, b string) string {
	if a == none {
		return b
	}
	return a
}

// probabilities are those of the classes of one softmax, that of the class which predictors
// are differences to among them; nil: there is none.
func probabilities(r *decompose.Result, of []explainedPredictor) []responseValue {
	classes := wiring.ReferenceOf(r).Classes
	if classes == nil || len(classes.Heads) != 1 {
		return nil
	}
	eta := map[string]float64{}
	for _, p := range of {
		eta[p.name] = p.eta
	}
	labels := classes.Heads[0].Classes
	if len(of) == 1 && len(labels) == 2 { // one predictor, the log odds
		if at := slices.Index(labels, of[0].name); at >= 0 {
			p := logistic(of[0].eta)
			both := []responseValue{{"probability of " + shown(labels[at]), p}, {"probability of " + shown(labels[1-at]), 1 - p}}
			return both
		}
		return nil
	}
	most := math.Inf(-1)
	for _, label := range labels {
		most = max(most, eta[label])
	}
	var out []responseValue
	sum := 0.0
	for _, label := range labels {
		if _, ok := eta[label]; !ok && label != classes.Reference {
			return nil
		}
		v := math.Exp(eta[label] - most)
		sum += v
		out = append(out, responseValue{"probability of " + shown(label), v})
	}
	for i := range out {
		out[i].Value /= sum
	}
	return out
}

func logistic(eta float64) float64 { return 1 / (1 + math.Exp(-eta)) }
