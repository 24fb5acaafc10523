package onnx

import (
	"bytes"
	"fmt"
	"slices"

	"github.com/pho-go/pho/internal/base/onnxpb"
)

// PredictionsInput is the input of a graph that Predictions makes: its columns are the predictions.
const PredictionsInput = "predictions"

// PredictionLinks are the links that Predictions knows, by the names that R has for them.
func PredictionLinks() []string {
	return []string{"identity", "log", "logit", "cloglog", "softplus", "softmax"}
}

// ProbabilityLinks are the PredictionLinks of probabilities.
func ProbabilityLinks() []string { return []string{"logit", "cloglog", "softmax"} }

// Predictions is the network of a model that is known by what it predicts: columns of data that hold,
// row by row, predictions on the scale of the response. Its K predictors are link(prediction), its output is
// the predictions again. names are those of the outputs, one for each column; of the
// link softmax there is one output for all, called as the first, and the columns are the probabilities of classes.
//
// clip > 0 moves probabilities (ProbabilityLinks) of less than clip to clip, and those of more than 1 - clip to
// that, so that a logarithm exists; the output is of those then.
func Predictions(names []string, link string, clip float64) (*Graph, error) {
	k := len(names)
	probability := slices.Contains(ProbabilityLinks(), link)
	switch {
	case k == 0:
		return nil, fmt.Errorf("onnx: there are no predictions")
	case !slices.Contains(PredictionLinks(), link):
		return nil, fmt.Errorf("onnx: the link %q of predictions is not known; there are %q", link, PredictionLinks())
	case link == "softmax" && k < 2:
		return nil, fmt.Errorf("onnx: one column of predictions is no softmax of classes: give a column for each class, or the link logit for the probability of one of two")
	case clip < 0 || clip >= 0.5 || clip > 0 && !probability:
		return nil, fmt.Errorf("onnx: clip is %v with the link %s: it is between 0 and 0.5, and for probabilities, whose links are %q", clip, link, ProbabilityLinks())
	}
	b := onnxpb.NewBuilder(17)
	b.AddInput(PredictionsInput, onnxpb.TensorProto_DOUBLE, onnxpb.Rows, k)
	p := PredictionsInput
	// step adds a node of p and further inputs.
	step := func(op, output string, more ...string) {
		b.AddNode(op, append([]string{p}, more...), output)
		p = output
	}
	if clip > 0 {
		b.AddDouble("pho/least", nil, clip)
		b.AddDouble("pho/most", nil, 1-clip)
		step("Clip", "pho/clipped", "pho/least", "pho/most")
	}
	b.AddDouble("pho/one", nil, 1)
	rest := func() { b.AddNode("Sub", []string{"pho/one", p}, "pho/rest") } // 1 - p
	switch link {
	case "identity":
		step("Identity", "pho/eta")
	case "log", "softmax":
		step("Log", "pho/eta")
	case "logit": // log p/(1 - p)
		rest()
		step("Div", "pho/odds", "pho/rest")
		step("Log", "pho/eta")
	case "cloglog": // log(-log(1 - p))
		rest()
		p = "pho/rest"
		step("Log", "pho/survival")
		step("Neg", "pho/hazard")
		step("Log", "pho/eta")
	case "softplus": // log(exp(m) - 1) = m + log(1 - exp(-m))
		b.AddNode("Neg", []string{p}, "pho/minus")
		b.AddNode("Exp", []string{"pho/minus"}, "pho/small")
		b.AddNode("Sub", []string{"pho/one", "pho/small"}, "pho/share")
		b.AddNode("Log", []string{"pho/share"}, "pho/log share")
		step("Add", "pho/eta", "pho/log share")
	}
	switch link {
	case "identity":
	case "log":
		step("Exp", "pho/response")
	case "logit":
		step("Sigmoid", "pho/response")
	case "cloglog": // 1 - exp(-exp(eta))
		step("Exp", "pho/rate")
		step("Neg", "pho/minus rate")
		step("Exp", "pho/none")
		b.AddNode("Sub", []string{"pho/one", p}, "pho/response")
		p = "pho/response"
	case "softplus":
		step("Softplus", "pho/response")
	case "softmax":
		b.AddNode("Softmax", []string{p}, "pho/response", onnxpb.Int("axis", 1))
		p = "pho/response"
	}
	if link == "softmax" || k == 1 {
		b.AddNode("Identity", []string{p}, names[0])
		b.Output(names[0], onnxpb.TensorProto_DOUBLE, onnxpb.Rows, k)
	} else {
		b.AddNodes("", "Split", []string{p}, names, onnxpb.Int("axis", 1))
		for _, name := range names {
			b.Output(name, onnxpb.TensorProto_DOUBLE, onnxpb.Rows, 1)
		}
	}
	file, err := b.Marshal()
	if err != nil {
		return nil, fmt.Errorf("onnx: predictions %q: %w", names, err)
	}
	return Load(bytes.NewReader(file), nil)
}
