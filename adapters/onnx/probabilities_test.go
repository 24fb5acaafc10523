package onnx_test

import (
	"math"
	"strings"
	"testing"

	"github.com/pho-go/pho/adapters/onnx"
)

// Files of classifiers, as packages write them: the predictors are the log odds of what ONNX
// Runtime gives, or the probabilities where these may be 0 and 1.
func TestProbabilities(t *testing.T) {
	logit := func(p []float64) []float64 { return []float64{math.Log(p[1]) - math.Log(p[0])} }
	second := func(p []float64) []float64 { return p[1:] }
	for name, want := range map[string]struct {
		predictors, heads string
		eta               func(p []float64) []float64
		classes           string
		note              string
	}{
		"forest":          {"eta", "", second, "0 1", "probability scale"},
		"forest_text":     {"eta", "", second, "no yes", "probability scale"},
		"forest_double":   {"eta", "", second, "0 1", "probability scale"},
		"forest_three":    {"high low mid", "  ", func(p []float64) []float64 { return p }, "high low mid", "probability scale"},
		"forest_leaves":   {"eta", "sigmoid", logit, "0 1", "the predictor is the log odds"},
		"tree":            {"eta", "", second, "no yes", "probability scale"},
		"bagging":         {"eta", "", second, "no yes", "probability scale"},
		"logistic_double": {"eta", "sigmoid", logit, "0 1", "not repeated"},
		"ada":             {"eta", "sigmoid", logit, "0 1", "the predictor is the log odds"},
		"svc":             {"eta", "sigmoid", logit, "0 1", "the predictor is the log odds"},
		"stacking":        {"eta", "sigmoid", logit, "no yes", "not repeated"},
		"neighbours":      {"eta", "", second, "0 1", "probability scale"},
		"catboost":        {"eta", "sigmoid", logit, "0 1", "not repeated"},
		"catboost_text":   {"eta", "sigmoid", logit, "no yes", "is left out"},
		"bayes": {"probabilities1 probabilities2", "softmax softmax", func(p []float64) []float64 {
			return nil
		}, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			m, n, v := zooModel(t, "classifiers/"+name, nil)
			s := m.Structure()
			var heads []string
			for _, p := range s.Predictors {
				heads = append(heads, p.Head)
				if p.Probability != (p.Head == "") {
					t.Errorf("%s behind %q: Probability %v", p.Name, p.Head, p.Probability)
				}
			}
			if got := strings.Join(m.Predictors(), " "); got != want.predictors || strings.Join(heads, " ") != want.heads {
				t.Errorf("predictors %q behind %q, want %q behind %q", got, heads, want.predictors, want.heads)
			}
			if got := strings.Join(s.Predictors[0].Classes, " "); got != want.classes {
				t.Errorf("classes %q, want %q", got, want.classes)
			}
			if notes := strings.Join(s.Notes, "\n"); !strings.Contains(notes, want.note) {
				t.Errorf("no note %q in\n%s", want.note, notes)
			}
			compareResponse(t, m, n, v, want.eta)
		})
	}
}

// compareResponse compares the predictors with eta of the last output's rows.
func compareResponse(t *testing.T, m *onnx.Model, n *zooNetwork, v *zooValues, eta func(p []float64) []float64) {
	t.Helper()
	b, err := n.batch(m, v)
	if err != nil {
		t.Fatal(err)
	}
	out, err := forwardOf(t, m, b)
	if err != nil {
		t.Fatal(err)
	}
	p := v.outputs[len(v.outputs)-1].Numbers
	width := len(p) / v.rows
	for i := range v.rows {
		for k, want := range eta(p[i*width : (i+1)*width]) {
			// float holds 1 - p to 6e-8, and logarithms of small numbers accordingly
			if got := out.Eta.At(i, k); math.Abs(got-want) > 1e-4*(1+math.Abs(want)) && math.Abs(want) < 8 {
				t.Errorf("row %d: predictor %d is %v, want %v", i, k, got, want)
			}
		}
	}
}

// With Clip the log odds of probabilities that are kept away from 0 and 1.
func TestClippedProbabilities(t *testing.T) {
	m, n, v := zooModel(t, "classifiers/forest", &onnx.Options{Clip: 0.01})
	if m.Head(0) != "sigmoid" || m.Structure().Predictors[0].Probability {
		t.Errorf("%+v", m.Structure().Predictors[0])
	}
	compareResponse(t, m, n, v, func(p []float64) []float64 {
		q := min(max(p[1], 0.01), 0.99)
		return []float64{math.Log(q) - math.Log(1-q)}
	})
	for eps, want := range map[float64]string{0.5: "less than 0.5", -1: "less than 0.5", math.NaN(): "less than 0.5"} {
		if _, err := onnx.Discover(m.Graph(), onnx.Unbound(m.Graph()), &onnx.Options{Clip: eps}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Clip %v: %v", eps, err)
		}
	}
	softmax, _, _ := zooModel(t, "catboost/classes", nil)
	if _, err := onnx.Discover(softmax.Graph(), onnx.Unbound(softmax.Graph()), &onnx.Options{Clip: 0.01}); err == nil || !strings.Contains(err.Error(), "Options.Clip") {
		t.Errorf("Clip of a softmax: %v", err)
	}
}

// A base score times exp(z), as XGBoost's counts end: the predictor is the logarithm of the mean.
func TestScaledMean(t *testing.T) {
	m, n, v := zooModel(t, "classifiers/counts", nil)
	if m.Head(0) != "exp" || len(m.Blocks(0)) == 0 || m.Structure().Predictors[0].Deep != nil {
		t.Errorf("%+v", m.Structure().Predictors[0])
	}
	compareResponse(t, m, n, v, func(mean []float64) []float64 { return []float64{math.Log(mean[0])} })
}
