package command

import (
	"slices"

	"github.com/pho-go/pho/decompose"
	"github.com/pho-go/pho/internal/app/wiring"
	"github.com/pho-go/pho/report"
)

// responseValues are what the predictors of a row say on the scale of the response
// (report.Responses), and of two classes the probability of the other one too.
func responseValues(r *decompose.Result, of []explainedPredictor, offset *float64) []report.ResponseValue {
	var eta []float64
	for _, p := range of {
		eta = append(eta, p.eta)
	}
	out := report.Responses(r, eta, offset)
	classes := wiring.ReferenceOf(r).Classes
	if len(out) != 1 || len(of) != 1 || classes == nil || len(classes.Heads) != 1 || len(classes.Heads[0].Classes) != 2 {
		return out
	}
	both := classes.Heads[0].Classes
	at := slices.IndexFunc(both, func(class string) bool { return r.Labels.Predictor(class) == of[0].name })
	if at < 0 {
		return out
	}
	return append(out, report.ResponseValue{Name: "probability of " + r.Labels.Predictor(both[1-at]), Value: 1 - out[0].Value})
}
