package wiring

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/pho-go/pho/adapters/onnx"
	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/decompose"
	"github.com/pho-go/pho/internal/base/onnxpb"
)

// table has the named columns, and a response y of 0 and 1.
func table(t *testing.T, columns ...string) *data.Table {
	t.Helper()
	const n = 120
	tab := data.NewTable(n)
	for j, name := range append(columns, "y") {
		x := make([]float64, n)
		for i := range x {
			if x[i] = math.Sin(float64(i*(2*j+1)) + float64(j)); name == "y" {
				x[i] = float64(i % 2)
			}
		}
		if err := tab.AddNumeric(name, x); err != nil {
			t.Fatal(err)
		}
	}
	return tab
}

// TestFamiliesOfProbabilities: classes that trees vote for are decomposed as probabilities, whose family is that of means.
func TestFamiliesOfProbabilities(t *testing.T) {
	for _, c := range []struct{ network, family, suits string }{
		{"forest", "binomial", "gaussian"}, {"forest", "gaussian", ""},
		{"forest_three", "categorical", "categorical(link=identity)"}, {"forest_three", "categorical(link=identity)", ""},
		{"logistic_double", "binomial", ""}, // log odds
	} {
		net, err := Load(filepath.Join("..", "..", "..", "testdata", "zoo", "networks", "classifiers", c.network+".onnx"), 0)
		if err != nil {
			t.Fatal(err)
		}
		columns := onnx.Unbound(net.Graph)[0].Columns
		q := &Request{Network: net, Rows: FilesOf(table(t, columns...)), Open: new(onnx.Options), Family: c.family, Interactions: NoInteractions, Options: &decompose.Options{Columns: decompose.Columns{Response: "y"}}}
		_, err = q.Ready(context.Background())
		option := new(OptionError)
		switch {
		case c.suits == "" && err != nil && strings.Contains(err.Error(), "probabilities of classes that may be 0 and 1"):
			t.Errorf("%s, %s: %v", c.network, c.family, err)
		case c.suits != "" && (!errors.As(err, &option) || !strings.Contains(err.Error(), "their family is "+c.suits+";")):
			t.Errorf("%s, %s: %v, want an error that names %s", c.network, c.family, err, c.suits)
		}
	}
}

// TestColumnsOfPredictions: predictions are no columns that they could be explained by; those that a network reads are.
func TestColumnsOfPredictions(t *testing.T) {
	nets, err := Predicted([][]string{{"p"}}, "identity", 0)
	if err != nil {
		t.Fatal(err)
	}
	q := &Request{Network: nets[0], Rows: FilesOf(table(t, "a", "b", "p")), Open: new(onnx.Options), Formulas: []string{"~ a + b"}, Options: new(decompose.Options)}
	d, err := q.Ready(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	if got := d.sample.Columns(); !slices.Equal(got, []string{"a", "b"}) {
		t.Errorf("pairs are looked for among %q", got)
	}
	q = &Request{Network: lineOf(t, nil), Rows: FilesOf(table(t, "a", "b")), Open: new(onnx.Options), Formulas: []string{"~ a"}, Options: new(decompose.Options)}
	if d, err = q.Ready(context.Background()); err != nil {
		t.Fatal(err)
	}
	if got := d.sample.Columns(); !slices.Equal(got, []string{"a", "b"}) {
		t.Errorf("pairs are looked for among %q", got)
	}
}

// lineOf is the network a - b, trained for a response; nil: its file does not say.
func lineOf(t *testing.T, trained *onnx.Response) *Network {
	t.Helper()
	b := onnxpb.NewBuilder(17)
	b.AddInput("a", onnxpb.TensorProto_DOUBLE, onnxpb.Rows, 1)
	b.AddInput("b", onnxpb.TensorProto_DOUBLE, onnxpb.Rows, 1)
	b.AddNode("Sub", []string{"a", "b"}, "eta")
	b.Output("eta", onnxpb.TensorProto_DOUBLE, onnxpb.Rows, 1)
	if trained != nil {
		text, err := trained.Encode()
		if err != nil {
			t.Fatal(err)
		}
		b.AddMetadata(onnx.MetadataResponse, text)
	}
	raw, err := b.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	net, err := LoadFrom(bytes.NewReader(raw), 0)
	if err != nil {
		t.Fatal(err)
	}
	return net
}

// TestTrainedFor: what a file says of the response counts where it is about this column, and nothing else was asked for.
func TestTrainedFor(t *testing.T) {
	times := &onnx.Response{Column: "y", Family: "weibull(scale=0.5)", Event: "seen"}
	counts := &onnx.Response{Column: "y", Family: "poisson"}
	for _, c := range []struct {
		trained                 *onnx.Response
		response, family, event string
		want                    string // family, event
	}{
		{nil, "y", "", "", " "},
		{counts, "y", "", "", "poisson "},
		{counts, "", "", "", " "},
		{counts, "a", "", "", " "},
		{counts, "y", "gaussian", "", " "},
		{times, "y", "", "", "weibull(scale=0.5) seen"},
		{times, "y", "", "died", "weibull(scale=0.5) "},
		{times, "y", "cox", "", " seen"},
		{times, "y", "gaussian", "", " "},
	} {
		q := &Request{Network: lineOf(t, c.trained), Family: c.family, Options: &decompose.Options{Columns: decompose.Columns{Response: c.response, Event: c.event}}}
		name, event, err := q.trainedFor()
		if got := fmt.Sprintf("%s %s", name, event); err != nil || got != c.want {
			t.Errorf("%+v: %q, want %q (%v)", c, got, c.want, err)
		}
	}
}
