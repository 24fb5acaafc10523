package native

import (
	"bytes"
	"context"
	"math"
	"reflect"
	"strings"
	"testing"

	"github.com/pho-go/pho/adapters/native/internal/rows"
	"github.com/pho-go/pho/adapters/onnx"
	"github.com/pho-go/pho/basis"
	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/decompose"
	"github.com/pho-go/pho/family"
)

// withText adds to the simulated rows a response of two texts, label, which says yes
// where b is 1.
func withText(t *testing.T, n int, seed uint64) *data.Table {
	t.Helper()
	tab := simulated(t, n, seed)
	b, err := whole(t, tab).Numeric("b")
	if err != nil {
		t.Fatal(err)
	}
	label := make([]string, n)
	for i, v := range b {
		label[i] = []string{"no", "yes"}[int(v)]
	}
	if err := tab.AddTexts("label", label); err != nil {
		t.Fatal(err)
	}
	return tab
}

// TestText: columns of text are categories everywhere, two texts are the classes of a
// binomial response, and a file says which numbers stand for them: read back with the
// texts coded so, it is the model, and its terms have the texts as levels.
func TestText(t *testing.T) {
	tab := withText(t, 400, 21)
	cfg := Config{
		Family:          family.Binomial{},
		Structured:      Structured{Formulas: []string{`label ~ g + s(x2, bs="ps", k=8) + s(x1, by=g, k=5)`}},
		FeatureNetworks: FeatureNetworks{Columns: []string{"x3"}, Pairs: [][2]string{{"x1", "g"}}, Hidden: []int{8, 4}},
		Deep:            Deep{Columns: []string{"x1", "x2", "x3", "g"}, Hidden: []int{8}},
		Training:        Training{Epochs: 4, Seed: 1},
	}
	m, fit := mustTrain(t, cfg, tab)
	if !reflect.DeepEqual(fit.Classes, []string{"no", "yes"}) {
		t.Fatalf("classes %q", fit.Classes)
	}
	numbers := cfg
	numbers.Structured.Formulas = []string{strings.Replace(cfg.Structured.Formulas[0], "label", "b", 1)}
	other, _ := mustTrain(t, numbers, tab)
	b := whole(t, tab)
	want := etaOf(t, m, b)
	for i, v := range etaOf(t, other, b).RawMatrix().Data {
		if v != want.At(i, 0) {
			t.Fatalf("row %d: eta is %v of no and yes, %v of 0 and 1", i, want.At(i, 0), v)
		}
	}
	var file bytes.Buffer
	if err := m.WriteONNX(&file, &ExportOptions{Double: true}); err != nil {
		t.Fatal(err)
	}
	g, err := onnx.Load(&file, nil)
	if err != nil {
		t.Fatal(err)
	}
	labels, err := g.Labels()
	if err != nil || !reflect.DeepEqual(labels, &onnx.Labels{Columns: map[string][]string{"g": {"a", "b", "c"}}, Response: "label", Classes: []string{"no", "yes"}}) {
		t.Fatalf("labels %+v, %v", labels, err)
	}
	f := &rows.Frame{Columns: tab.Schema(), Batch: b}
	if err := f.AddCodes(labels.Columns); err != nil {
		t.Fatal(err)
	}
	bind, err := onnx.Bind(g, f.Schema(), nil)
	if err != nil {
		t.Fatal(err)
	}
	back, err := onnx.NewModel(g, bind, &onnx.Options{Decode: basis.Decode})
	if err != nil {
		t.Fatal(err)
	}
	if said := back.Structure().PassedOver; said != "" {
		t.Errorf("the declared terms were not taken: %s", said)
	}
	for i, v := range etaOf(t, back, b).RawMatrix().Data {
		if w := want.At(i, 0); math.Abs(v-w) > 1e-9*(1+math.Abs(w)) {
			t.Fatalf("row %d: eta %v of the file, %v of the model", i, v, w)
		}
	}
	found := false
	for _, block := range back.Blocks(0) {
		if term, ok := block.Term.(*basis.FactorTerm); ok {
			found = reflect.DeepEqual(term.Levels(), []string{"a", "b", "c"})
		}
	}
	if !found {
		t.Error("the factor has lost its levels")
	}
	if _, err := decompose.Decompose(context.Background(), back, f, nil); err != nil {
		t.Error(err)
	}
}

// TestTextRefused: a column of text without exactly two classes is refused, and the
// message says how to mend it.
func TestTextRefused(t *testing.T) {
	tab := withText(t, 60, 22)
	odd := data.NewTable(2)
	if err := odd.AddNumeric("x1", []float64{1, 2}); err != nil {
		t.Fatal(err)
	}
	if err := odd.AddTexts("label", []string{"yes", "maybe"}); err != nil {
		t.Fatal(err)
	}
	mlp := func(f family.Differentiable, y string, valid data.Source) Config {
		return Config{Architecture: MLP, Family: f, Response: y, Deep: Deep{Columns: []string{"x1"}}, Training: Training{Epochs: 1, Validation: valid}}
	}
	for _, c := range []struct {
		cfg  Config
		want string
	}{
		{mlp(family.Binomial{}, "g", nil), `native: the response "g" is text with 3 different values, ["a" "b" "c"]: family binomial is of two classes; leave rows out, or code one class as 1 and the others as 0`},
		{mlp(family.Gaussian{}, "label", nil), `native: response: column "label" holds text, where numbers are needed; two classes of text are a response of family binomial, more of categorical`},
		{mlp(family.Ordinal{}, "label", nil), `native: response: column "label" holds text, where numbers are needed; number the classes 1, 2, ... in their order`},
		{mlp(family.Binomial{}, "label", odd), `native: validation rows: native: response "label", data row 2: "maybe" is none of the classes ["no" "yes"] of the training rows`},
	} {
		if _, _, err := Train(context.Background(), c.cfg, tab); err == nil || err.Error() != c.want {
			t.Errorf("%v\nwant\n%s", err, c.want)
		}
	}
}
