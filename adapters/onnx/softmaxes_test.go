package onnx_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pho-go/pho/adapters/onnx"
)

// TestSoftmaxes: which predictors belong to one softmax, and the names of their classes, in
// networks of many exporters.
func TestSoftmaxes(t *testing.T) {
	for name, want := range map[string]string{
		"catboost/classes":                    "3 classes: 0 1 2",
		"interpret/classes":                   "3 classes: 0 1 2",
		"interpret/classifier":                "2 classes: 0 1",
		"jax/log_softmax":                     "3 classes",
		"keras/classes":                       "3 classes",
		"lightgbm/classes":                    "3 classes: 0 1 2",
		"sklearn/boosting_three":              "3 classes: high low middle",
		"sklearn/lda":                         "3 classes: high low middle",
		"sklearn/logistic_text":               "3 classes: high low middle",
		"sklearn/mlp_classifier":              "3 classes: high low middle",
		"sklearn/qda":                         "2 classes: 0 1",
		"torch_dynamo/head_softmax":           "3 classes",
		"torch_dynamo/head_softmax_hand":      "3 classes",
		"torch_dynamo/head_softmax_logsumexp": "3 classes",
		"torch_dynamo/head_log_softmax":       "3 classes",
		"xgboost/classes":                     "3 classes: 0 1 2",
		"sklearn/logistic":                    "", // two classes: a sigmoid
		"sklearn/logistic_scores":             "", // scores, and no softmax behind them
		"sklearn/forest_classifier":           "", // probabilities that trees vote for
		"torch_dynamo/tabnet_softmax":         "", // inside of the network
	} {
		g, err := onnx.LoadFile(filepath.Join("../../testdata/zoo/networks", name+".onnx"), nil)
		if err != nil {
			t.Fatal(err)
		}
		s, err := onnx.Discover(g, onnx.Unbound(g), nil)
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		for _, own := range s.Softmaxes {
			got += fmt.Sprintf("%d classes", len(own.Predictors))
			if own.Labels != nil {
				got += ": " + strings.Join(own.Labels, " ")
			}
		}
		if got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}
