package native

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/pho-go/pho/adapters/onnx"
	"github.com/pho-go/pho/basis"
	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/decompose"
	"github.com/pho-go/pho/family"
)

// reopen saves and loads a model, bound to the columns of src by name.
func reopen(t *testing.T, m *Model, src data.Source, o *ExportOptions) *onnx.Model {
	t.Helper()
	var file bytes.Buffer
	if err := m.WriteONNX(&file, o); err != nil {
		t.Fatal(err)
	}
	g, err := onnx.Load(&file, nil)
	if err != nil {
		t.Fatal(err)
	}
	bind, err := onnx.Bind(g, src.Schema(), nil)
	if err != nil {
		t.Fatal(err)
	}
	back, err := onnx.NewModel(g, bind, &onnx.Options{Decode: basis.Decode})
	if err != nil {
		t.Fatal(err)
	}
	return back
}

func etaOf(t *testing.T, m decompose.Model, b *data.Batch) *mat.Dense {
	t.Helper()
	n, k := b.Rows(), len(m.Predictors())
	out := &decompose.Outputs{Zeta: mat.NewDense(n, k, nil), Eta: mat.NewDense(n, k, nil), Taps: map[string]*mat.Dense{}}
	for name, w := range m.Taps() {
		out.Taps[name] = mat.NewDense(n, w, nil)
	}
	if err := m.Forward(context.Background(), out, b); err != nil {
		t.Fatal(err)
	}
	return out.Eta
}

func largest(m *mat.Dense) float64 { return math.Max(math.Abs(mat.Max(m)), math.Abs(mat.Min(m))) }

// TestRoundTrip: what is saved is read back with the same numbers and the same
// structure.
func TestRoundTrip(t *testing.T) {
	tab := simulated(t, 400, 3)
	b, err := whole(t, tab).Numeric("b")
	if err != nil {
		t.Fatal(err)
	}
	not := make([]float64, len(b))
	for i := range b {
		not[i] = 1 - b[i]
	}
	if err := tab.AddNumeric("nb", not); err != nil {
		t.Fatal(err)
	}
	small := Training{Epochs: 3, Seed: 2}
	for name, c := range map[string]struct {
		cfg  Config
		want []string // terms of the first predictor
	}{
		"mlp":    {Config{Architecture: MLP, Response: "y", Deep: Deep{Columns: []string{"x1", "x2"}, Activation: GELU, BatchNorm: true}, Training: small}, nil},
		"linear": {Config{Structured: Structured{Formulas: []string{"y ~ x1 + x3"}}, Deep: Deep{Columns: []string{"x1", "x2", "x3"}}, Training: small}, []string{"x1", "x3"}},
		"splines": {Config{Structured: Structured{Formulas: []string{`y ~ x1 + s(x2, bs="ps", k=9) + s(x3, bs="cr", k=7)`}},
			Deep: Deep{Columns: []string{"x1", "x2", "x3"}, Activation: Softplus}, Training: small}, []string{"x1", "s(x2)", "s(x3)"}},
		"thin plate, factors": {Config{Structured: Structured{Formulas: []string{`y ~ s(x2) + s(x1, m=3, k=7) + factor(d)`}},
			Deep: Deep{Columns: []string{"x1", "x2", "x3", "d"}, Factors: []string{"d"}, Activation: Sigmoid}, Training: small}, []string{"s(x2)", "s(x1)", "factor(d)"}},
		"surfaces, interactions, random effects": {Config{Structured: Structured{Formulas: []string{`y ~ x1 + s(x1, x2, k=8) + x1:x3 + d:x2 + s(d, bs="re") + onehot(b, nb)`}, Factors: []string{"d"}},
			Deep: Deep{Columns: []string{"x1"}}, Training: small}, []string{"x1", "s(x1,x2)", "x1:x3", "d:x2", "s(d)", "onehot(b,nb)"}},
		"nam": {Config{Architecture: NAM, Response: "y", FeatureNetworks: FeatureNetworks{Columns: []string{"x1", "x2", "x3"}, Pairs: [][2]string{{"x1", "x3"}},
			Products: [][2]string{{"x2", "x3"}}, Hidden: []int{8, 4}, ExU: true, Activation: ReLUN}, Deep: Deep{Columns: []string{"x1", "x2", "x3"}, Activation: Tanh}, Training: small},
			[]string{"f(x1)", "f(x2)", "f(x3)", "f(x1,x3)", "f(x2,x3)"}},
		"two predictors": {Config{Family: family.GaussianLS{}, Structured: Structured{Formulas: []string{`mu = h ~ x1`, `sigma = ~ x2`}},
			Deep: Deep{Columns: []string{"x1", "x2", "x3"}}, Training: small}, []string{"x1"}},
		"terms of one name with other bases": {Config{Family: family.GaussianLS{}, Structured: Structured{Formulas: []string{
			`mu = h ~ s(x2, k=10) + s(x3, bs="ps", k=6) + s(x1, by=d, k=4) + te(x1, x3, k=3)`, `sigma = ~ s(x2, k=5) + s(x3, bs="cr", k=6) + s(x1, by=d, k=5) + te(x1, x3, k=4)`},
			Factors: []string{"d"}}, Deep: Deep{Columns: []string{"x1", "x2", "x3"}}, Training: small}, []string{"s(x2)", "s(x3)", "s(x1):d0", "s(x1):d1", "s(x1):d2", "s(x1):d3", "te(x1,x3)"}},
		"single precision": {Config{Structured: Structured{Formulas: []string{"b ~ x1"}}, Family: family.Binomial{}, Deep: Deep{Columns: []string{"x1", "x2", "x3", "d"}},
			Training: Training{Epochs: 30, Seed: 2, Single: true}}, []string{"x1"}}, // long enough to be better than epoch 0, which has no deep part
		"gam": {Config{Architecture: GAM, Structured: Structured{Formulas: []string{`y ~ x1 + s(x2, bs="ps")`}}}, []string{"x1", "s(x2)"}},
	} {
		t.Run(name, func(t *testing.T) {
			m, _ := mustTrain(t, c.cfg, tab)
			b := whole(t, tab)
			want := etaOf(t, m, b)
			for _, double := range []bool{false, true} {
				back := reopen(t, m, tab, &ExportOptions{Double: double})
				var miss mat.Dense
				miss.Sub(etaOf(t, back, b), want)
				tolerance := 1e-5
				if double {
					tolerance = 1e-11
				}
				if worst := largest(&miss) / largest(want); !(worst < tolerance) {
					t.Errorf("double %v: predictors differ by %g", double, worst)
				}
				if !slices.Equal(back.Predictors(), m.Predictors()) {
					t.Errorf("predictors %q, want %q", back.Predictors(), m.Predictors())
				}
				var names []string
				for _, block := range back.Blocks(0) {
					names = append(names, block.Term.Name())
				}
				slices.Sort(names)
				terms := slices.Sorted(slices.Values(c.want))
				if !slices.Equal(names, terms) {
					t.Errorf("terms %q, want %q", names, terms)
				}
				deep := len(c.cfg.Deep.Columns) > 0
				if (len(back.DeepFeatures(0).Elements) > 0) != deep {
					t.Errorf("deep part %+v", back.DeepFeatures(0))
				}
			}
		})
	}
}

// TestSplineBasisIsTheSpace: what discovery finds of a spline is its own columns,
// not the larger space of all piecewise polynomials.
func TestSplineBasisIsTheSpace(t *testing.T) {
	tab := simulated(t, 300, 4)
	m, _ := mustTrain(t, Config{Architecture: GAM, Structured: Structured{Formulas: []string{`y ~ x1 + s(x2, bs="ps", k=9)`}}}, tab)
	back := reopen(t, m, tab, nil)
	if blocks := back.Blocks(0); len(blocks) != 2 || blocks[1].Term.Dim() != 9 {
		t.Errorf("blocks %+v, want x1 and one of 9 columns", blocks)
	}
}

func TestExportRefuses(t *testing.T) {
	tab := simulated(t, 200, 5)
	for formula, want := range map[string]string{
		"y ~ factor(x1)": `native: term "factor(x1)": column "x1" has the level `,
		"y ~ 1":          `native: the model reads no column, only its intercepts are left`,
	} {
		m, _ := mustTrain(t, Config{Architecture: GAM, Structured: Structured{Formulas: []string{formula}}}, tab)
		err := m.WriteONNX(new(bytes.Buffer), nil)
		if err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s: %v, want %s...", formula, err, want)
		}
		// Told in advance, it is refused in the same words before an epoch begins.
		cfg := Config{Structured: Structured{Formulas: []string{formula}}, Export: &ExportOptions{}}
		cfg.Training.Progress = func(Progress) { t.Errorf("%s: an epoch was trained", formula) }
		if _, _, early := Train(context.Background(), cfg, tab); early == nil || early.Error() != err.Error() {
			t.Errorf("%s: before training %v, after it %v", formula, early, err)
		}
	}
}

// TestExportAsked: what can be written is trained to the same bytes if it is asked for in
// advance.
func TestExportAsked(t *testing.T) {
	tab := simulated(t, 200, 5)
	cfg := Config{Structured: Structured{Formulas: []string{`y ~ g + s(x1, by=g, k=5)`}}, FeatureNetworks: FeatureNetworks{Columns: []string{"x2", "g"}, Pairs: [][2]string{{"x2", "g"}}, Hidden: []int{4}},
		Deep: Deep{Columns: []string{"x3", "d"}, Factors: []string{"d"}}, Training: Training{Epochs: 2}}
	cfg.FeatureNetworks.Columns = cfg.FeatureNetworks.Columns[:1] // g is a term of the formula
	m, _ := mustTrain(t, cfg, tab)
	cfg.Export = &ExportOptions{}
	again, _ := mustTrain(t, cfg, tab)
	if !bytes.Equal(saved(t, m), saved(t, again)) {
		t.Error("asking for the export changes the model")
	}
}

// TestFamilyIsSaved: the file names the family that was asked for and its response,
// unless that is gaussian.
func TestFamilyIsSaved(t *testing.T) {
	tab := withShares(t, simulated(t, 200, 5))
	for name, c := range map[string]struct {
		cfg  Config
		want *onnx.Response
	}{
		"gaussian":   {Config{Response: "y"}, nil},
		"two":        {Config{Response: "h", Family: family.GaussianLS{}}, nil},
		"poisson":    {Config{Response: "c", Family: family.Poisson{}}, &onnx.Response{Column: "c", Family: "poisson"}},
		"unknown":    {Config{Response: "c", Family: parsed("negative-binomial", 1)}, &onnx.Response{Column: "c", Family: "negative-binomial"}},
		"given":      {Config{Response: "c", Family: parsed("negative-binomial(theta=2)", 1)}, &onnx.Response{Column: "c", Family: "negative-binomial(theta=2)"}},
		"two shapes": {Config{Response: "p", Family: parsed("beta", 2)}, &onnx.Response{Column: "p", Family: "beta"}},
	} {
		c.cfg.Structured.Formulas, c.cfg.Training.Epochs = []string{"~ x1"}, 1
		m, _ := mustTrain(t, c.cfg, tab)
		g, err := onnx.Load(bytes.NewReader(saved(t, m)), nil)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := g.Response(); err != nil || !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: %+v, %v, want %+v", name, got, err, c.want)
		}
	}
}

// TestDecomposeSaved: the decomposition of the saved network is that of the
// trained one.
func TestDecomposeSaved(t *testing.T) {
	tab := simulated(t, 500, 6)
	m, _ := mustTrain(t, Config{Architecture: NAM, Structured: Structured{Formulas: []string{"y ~ x1"}}, FeatureNetworks: FeatureNetworks{Columns: []string{"x2", "x3"}, Hidden: []int{8, 4}},
		Deep: Deep{Columns: []string{"x1", "x2", "x3"}}, Training: Training{Epochs: 5}}, tab)
	back := reopen(t, m, tab, &ExportOptions{Double: true})
	var results []string
	for _, model := range []decompose.Model{m, back} {
		r, err := decompose.Decompose(context.Background(), model, tab, nil)
		if err != nil {
			t.Fatal(err)
		}
		text := ""
		for _, term := range r.Predictors[0].Terms {
			text += fmt.Sprintf("%s %.6g %.6g\n", term.Name, term.Before.Variance, term.After.Variance)
		}
		results = append(results, text+fmt.Sprintf("%.6g", r.Predictors[0].Variance.Unstructured))
	}
	if results[0] != results[1] {
		t.Errorf("trained:\n%s\nsaved:\n%s", results[0], results[1])
	}
}
