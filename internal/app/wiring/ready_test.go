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
	"github.com/pho-go/pho/basis"
	"github.com/pho-go/pho/basis/formula"
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
	if got := named(d.Base); got != "" {
		t.Errorf("predictions have terms of their own: %s", got)
	}
	q = &Request{Network: lineOf(t, nil), Rows: FilesOf(table(t, "a", "b")), Open: new(onnx.Options), Formulas: []string{"~ a"}, Options: new(decompose.Options)}
	if d, err = q.Ready(context.Background()); err != nil {
		t.Fatal(err)
	}
	if got := d.sample.Columns(); !slices.Equal(got, []string{"a", "b"}) {
		t.Errorf("pairs are looked for among %q", got)
	}
	if got := named(d.Base); got != "a b" {
		t.Errorf("the network's own terms are %s", got)
	}
	if got := q.Options.ReconstructionTolerance; got != tolerance(q.Precision) {
		t.Errorf("parts may miss the output by %g", got)
	}
	q.Options = &decompose.Options{ReconstructionTolerance: 0.5}
	if _, err := q.Ready(context.Background()); err != nil || q.Options.ReconstructionTolerance != 0.5 {
		t.Errorf("parts may miss the output by %g, %v", q.Options.ReconstructionTolerance, err)
	}
}

// named are the terms of the first predictor.
func named(m decompose.Model) string {
	var names []string
	for _, b := range m.Blocks(0) {
		names = append(names, b.Term.Name())
	}
	return strings.Join(names, " ")
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

// learned is a network with functions f(a) of three units, f(b) of one, and f(a,b) and f(b,c), of which only the blocks are looked at.
type learned struct{ decompose.Model }

func (learned) Predictors() []string { return []string{"eta"} }
func (learned) Blocks(int) (all []decompose.Block) {
	for _, f := range []struct {
		columns []string
		width   int
	}{{[]string{"a"}, 3}, {[]string{"b"}, 1}, {[]string{"a", "b"}, 4}, {[]string{"b", "c"}, 4}} {
		all = append(all, decompose.Block{Term: &decompose.Tap{Tensor: "f(" + strings.Join(f.columns, ",") + ")", Features: f.columns, Width: f.width}})
	}
	return all
}

// TestImpure: main effects of learned pairs go to terms of the columns of which the network has one function, or none; not where
// terms stay as they are fitted, nor of several networks.
func TestImpure(t *testing.T) {
	one := &Network{Path: "one.onnx"}
	for _, c := range []struct {
		others []*Network
		terms  decompose.Terms
		want   []string
	}{{nil, "", []string{"b", "c"}}, {nil, decompose.Fitted, nil}, {[]*Network{one}, "", nil}} {
		q := &Request{Network: one, Others: c.others, Options: &decompose.Options{Projection: decompose.Projection{Terms: c.terms}}}
		if got := q.impure(learned{}); !slices.Equal(got, c.want) {
			t.Errorf("%d others, terms %q: %q, want %q", len(c.others), c.terms, got, c.want)
		}
	}
}

// TestTwice: networks that are one file are named; columns of predictions are no files.
func TestTwice(t *testing.T) {
	a, again, b := &Network{Path: "a.onnx", SHA256: "1"}, &Network{Path: "copy.onnx", SHA256: "1"}, &Network{Path: "b.onnx", SHA256: "2"}
	predictions := &Network{Path: "rows.csv", SHA256: "1", Predictions: &Predictions{}}
	for _, c := range []struct {
		networks []*Network
		want     string
	}{{[]*Network{a, b}, ""}, {[]*Network{a, predictions}, ""}, {[]*Network{a, b, again}, `"a.onnx" and "copy.onnx" are the same`}} {
		if got := (&Request{Network: c.networks[0], Others: c.networks[1:]}).twice(); (got == "") != (c.want == "") || !strings.Contains(got, c.want) {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}

// TestNoClasses: a class to compare others with is asked of what has classes.
func TestNoClasses(t *testing.T) {
	counts, err := Predicted([][]string{{"p"}}, "log", 0)
	if err != nil {
		t.Fatal(err)
	}
	file, err := Load(filepath.Join("..", "..", "..", "testdata", "zoo", "networks", "classifiers", "logistic_double.onnx"), 0)
	if err != nil {
		t.Fatal(err)
	}
	for want, net := range map[string]*Network{
		`the model has no class "b" to compare others with`:                           counts[0],
		`the network has no softmax, so there is no class "b" to compare others with`: file,
	} {
		columns := []string{"p"}
		if net == file {
			columns = onnx.Unbound(net.Graph)[0].Columns
		}
		tab := table(t, columns...)
		if net != file {
			if tab, err = positive(tab); err != nil {
				t.Fatal(err)
			}
		}
		q := &Request{Network: net, Rows: FilesOf(tab), Open: new(onnx.Options), Class: "b", Options: new(decompose.Options)}
		if _, err := q.Ready(context.Background()); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

// positive is the table with exp(p).
func positive(tab *data.Table) (*data.Table, error) {
	n := tab.Rows()
	out, p := data.NewTable(n), make([]float64, n)
	for i := range p {
		p[i] = math.Exp(math.Sin(float64(i)))
	}
	return out, out.AddNumeric("p", p)
}

// TestSmoothOf: what may grow is a smooth of one column that says how many columns it has.
func TestSmoothOf(t *testing.T) {
	for term, want := range map[string]string{
		"s(x, k = 20)": "x 20", `s(x, bs = "ps", k = 7)`: "x 7", "s(x)": " 0", "s(x, z, k = 30)": " 0", "te(x, k = 5)": " 0", "x": " 0", "x:z": " 0",
	} {
		f, err := formula.Parse("~ " + term)
		if err != nil {
			t.Fatal(err)
		}
		column, k := smoothOf(f.Summands[0])
		if got := fmt.Sprint(column, " ", k); got != want {
			t.Errorf("%s: %q, want %q", term, got, want)
		}
	}
}

// rounded is a network that rounds the columns a and b.
type rounded struct{ learned }

func (rounded) Rounded() []string                                  { return []string{"a", "b"} }
func (rounded) Rows(src data.Source, columns []string) data.Source { return src }

// TestOwnColumns: columns that a formula reads are the data's own numbers; of others those that the network makes
// of them will do.
func TestOwnColumns(t *testing.T) {
	f, err := basis.Parse("~ a", nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		model    decompose.Model
		formulas []*basis.Formula
		want     []string
	}{{learned{}, nil, nil}, {rounded{}, nil, []string{"a", "b"}}, {rounded{}, []*basis.Formula{f}, []string{"b"}}} {
		if got := ownColumns(c.model, c.formulas, new(decompose.Options)); !slices.Equal(got, c.want) {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}
