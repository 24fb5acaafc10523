package native

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/pho-go/pho/classes"
	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/decompose"
	"github.com/pho-go/pho/family"
)

// wholeBatch trains a formula alone to its maximum: every step sees all rows.
func wholeBatch(epochs int) Training {
	return Training{Epochs: epochs, BatchSize: 1 << 20, LearningRate: 0.03, Schedule: Cosine, ValidationShare: -1}
}

// tableOf has numeric columns, and text ones.
func tableOf(t testing.TB, n int, numbers map[string][]float64, texts map[string][]string) *data.Table {
	t.Helper()
	tab := data.NewTable(n)
	for _, name := range slices.Sorted(maps.Keys(numbers)) {
		if err := tab.AddNumeric(name, numbers[name]); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(texts)) {
		if err := tab.AddTexts(name, texts[name]); err != nil {
			t.Fatal(err)
		}
	}
	return tab
}

// centred is eta less its row means.
func centred(eta *mat.Dense) *mat.Dense {
	n, k := eta.Dims()
	out := mat.NewDense(n, k, nil)
	for i := range n {
		mean := mat.Sum(eta.RowView(i)) / float64(k)
		for j := range k {
			out.Set(i, j, eta.At(i, j)-mean)
		}
	}
	return out
}

// distance is the largest difference of two matrices.
func distance(a, b *mat.Dense) float64 {
	var d mat.Dense
	d.Sub(a, b)
	return math.Max(mat.Max(&d), -mat.Min(&d))
}

// TestClassesOfMgcv: a formula alone ends at the maximum likelihood fit of mgcv's multinom
// on MASS::fgl, up to a function that all classes have in common.
func TestClassesOfMgcv(t *testing.T) {
	raw, err := os.ReadFile("../../testdata/golden/classes.json")
	if err != nil {
		t.Fatal(err)
	}
	var golden struct {
		Linear struct {
			Y, RI, Mg, Al []float64
			Eta           [][]float64
			LogLik        float64
		}
	}
	if err := json.Unmarshal(raw, &golden); err != nil {
		t.Fatal(err)
	}
	g := golden.Linear
	n := len(g.Y)
	tab := tableOf(t, n, map[string][]float64{"y": g.Y, "RI": g.RI, "Mg": g.Mg, "Al": g.Al}, nil)
	m, fit := mustTrain(t, Config{Family: family.Categorical{}, Structured: Structured{Formulas: []string{"y ~ RI + Mg + Al"}}, Training: wholeBatch(3000)}, tab)
	if got := -fit.Evaluation.Loss * float64(n); !(math.Abs(got-g.LogLik) < 1e-6*math.Abs(g.LogLik)) {
		t.Errorf("log-likelihood %.8f, of mgcv %.8f", got, g.LogLik)
	}
	eta, worst := etaOf(t, m, whole(t, tab)), 0.0
	for i, row := range g.Eta {
		for k, v := range row {
			worst = math.Max(worst, math.Abs(eta.At(i, k+1)-eta.At(i, 0)-v))
		}
	}
	if !(worst < 2e-3) { // where training stopped: the likelihood is flat
		t.Errorf("log odds are off by %g", worst)
	}
	if !(fit.AdditiveLoss > fit.Evaluation.Loss) || strings.Join(m.Predictors(), " ") != "0 1 2 3" {
		t.Errorf("additive loss %v, loss %v, predictors %q", fit.AdditiveLoss, fit.Evaluation.Loss, m.Predictors())
	}
}

// threeClasses are rows whose classes have known logits, of which common is a part that all
// have in common, and returns these.
func threeClasses(t testing.TB, n int, names []string) (*data.Table, *mat.Dense) {
	rng := rand.New(rand.NewPCG(3, 14))
	x1, x2, x3, w := make([]float64, n), make([]float64, n), make([]float64, n), make([]float64, n)
	class := make([]string, n)
	logit := mat.NewDense(n, 3, nil)
	for i := range n {
		x1[i], x2[i], x3[i] = 2*rng.Float64()-1, 2*rng.Float64()-1, 2*rng.Float64()-1
		w[i] = float64(rng.IntN(3))
		common := 5 * x1[i]
		logit.SetRow(i, []float64{common + 0.5, common + 2*x1[i] + x2[i]*x3[i], common + 1.5*math.Sin(3*x2[i])})
		best, most := 0, math.Inf(-1)
		for k := range 3 {
			if v := logit.At(i, k) - math.Log(-math.Log(rng.Float64())); v > most { // Gumbel
				best, most = k, v
			}
		}
		class[i] = names[best]
	}
	return tableOf(t, n, map[string][]float64{"x1": x1, "x2": x2, "x3": x3, "w": w}, map[string][]string{"class": class}), centred(logit)
}

// TestClassesRecovered: of simulated rows the centred logits come back, and the figures are
// those of the rows held out.
func TestClassesRecovered(t *testing.T) {
	names := []string{"low", "middle", "top"}
	tab, truth := threeClasses(t, 4000, names)
	m, fit := mustTrain(t, Config{Family: family.Categorical{}, Response: "class", Structured: Structured{Formulas: []string{"~ x1 + s(x2, k=8)"}},
		Deep: Deep{Columns: []string{"x1", "x2", "x3"}, Hidden: []int{16, 8}}, Training: Training{Epochs: 60, Seed: 5}}, tab)
	b := whole(t, tab)
	eta := etaOf(t, m, b)
	var miss mat.Dense
	miss.Sub(centred(eta), truth)
	if rmse, sd := mat.Norm(&miss, 2)/math.Sqrt(12000), mat.Norm(truth, 2)/math.Sqrt(12000); !(rmse < 0.2*sd) {
		t.Errorf("centred logits of size %.3f are off by %.3f", sd, rmse)
	}
	if !slices.Equal(m.Predictors(), names) || !slices.Equal(fit.Classes, names) {
		t.Errorf("predictors %q, classes %q", m.Predictors(), fit.Classes)
	}
	e := fit.Evaluation
	if !(e.Held && e.Loss < fit.AdditiveLoss && e.Accuracy > e.MostFrequent && e.DevianceExplained > 0.1) {
		t.Errorf("%+v, additive model %v", e, fit.AdditiveLoss)
	}
	if !math.IsNaN(e.RMSE) || !math.IsNaN(e.R2) {
		t.Errorf("classes have an error in their numbers: %+v", e)
	}
	// By hand, over the rows held out.
	held, err := fit.evaluator.rows.Batch.Numeric("class") // as numbers
	if err != nil {
		t.Fatal(err)
	}
	own := etaOf(t, m, fit.evaluator.rows.Batch)
	of, right, loss := map[float64]float64{}, 0.0, 0.0
	for i, y := range held {
		row, at := own.RawRowView(i), int(y)
		of[y]++
		if slices.Index(row, slices.Max(row)) == at {
			right++
		}
		sum := 0.0
		for _, v := range row {
			sum += math.Exp(v - row[at])
		}
		loss += math.Log(sum)
	}
	n, most, null := float64(len(held)), 0.0, 0.0
	for _, v := range of {
		most = math.Max(most, v)
		null -= v * math.Log(v/n)
	}
	for name, v := range map[string][2]float64{"accuracy": {e.Accuracy, right / n}, "most frequent": {e.MostFrequent, most / n},
		"loss": {e.Loss, loss / n}, "deviance explained": {e.DevianceExplained, 1 - loss/null}} {
		if !(math.Abs(v[0]-v[1]) < 1e-9) {
			t.Errorf("%s %v, by hand %v", name, v[0], v[1])
		}
	}
}

// TestClassesAnyOrder: names, and so the order of the classes, do not matter, nor whether
// rows are repeated or have a weight.
func TestClassesAnyOrder(t *testing.T) {
	cfg := Config{Family: family.Categorical{}, Response: "class", Structured: Structured{Formulas: []string{"~ x1 + s(x2, k=6)"}}, Training: wholeBatch(60)}
	tab, _ := threeClasses(t, 300, []string{"a", "b", "c"})
	m, _ := mustTrain(t, cfg, tab)
	want := etaOf(t, m, whole(t, tab))
	other, _ := threeClasses(t, 300, []string{"z", "y", "x"})
	m, _ = mustTrain(t, cfg, other)
	got := etaOf(t, m, whole(t, other))
	turned := mat.NewDense(300, 3, nil)
	for k := range 3 {
		turned.SetCol(k, mat.Col(nil, 2-k, got))
	}
	if d := distance(centred(want), centred(turned)); !(d < 1e-9) {
		t.Errorf("classes of other names have logits that differ by %g", d)
	}

	weighted := cfg
	weighted.Weights = "w"
	m, _ = mustTrain(t, weighted, tab)
	want = etaOf(t, m, whole(t, tab))
	m, _ = mustTrain(t, cfg, repeated(t, tab))
	if d := distance(centred(want), centred(etaOf(t, m, whole(t, tab)))); !(d < 0.05) { // knots are those of other rows
		t.Errorf("rows that are repeated instead of weighted give logits that differ by %g", d)
	}
}

// repeated has every row as often as its weight w says.
func repeated(t *testing.T, tab *data.Table) *data.Table {
	b := whole(t, tab)
	w, err := b.Numeric("w")
	if err != nil {
		t.Fatal(err)
	}
	codes, err := b.Codes("class")
	if err != nil {
		t.Fatal(err)
	}
	numbers, class, n := map[string][]float64{}, []string(nil), 0
	for i, v := range w {
		for range int(v) {
			for _, name := range []string{"x1", "x2", "x3"} {
				x, err := b.Numeric(name)
				if err != nil {
					t.Fatal(err)
				}
				numbers[name] = append(numbers[name], x[i])
			}
			class = append(class, codes.Levels[codes.Index[i]])
			n++
		}
	}
	return tableOf(t, n, numbers, map[string][]string{"class": class})
}

// TestClassesRoundTrip: the file has one output, the softmax of the predictors; read back it
// has the same predictors, terms with their penalties, classes and family, and decomposed
// with its classes centred its parts sum to the network's own.
func TestClassesRoundTrip(t *testing.T) {
	tab, _ := threeClasses(t, 400, []string{"no", "perhaps", "x1"}) // one is called as a column
	for name, cfg := range map[string]Config{
		"ssn":          {Structured: Structured{Formulas: []string{"~ x1 + s(x2, k=6)"}}, Deep: Deep{Columns: []string{"x1", "x3"}, Hidden: []int{6}}},
		"nam":          {Architecture: NAM, FeatureNetworks: FeatureNetworks{Columns: []string{"x1", "x2"}, Hidden: []int{6, 4}}},
		"mlp":          {Architecture: MLP, Deep: Deep{Columns: []string{"x1", "x2", "x3"}, Hidden: []int{6}, Separate: true}},
		"online":       {Structured: Structured{Formulas: []string{"~ x1 + s(x2, k=6)"}}, Deep: Deep{Columns: []string{"x2", "x3"}, Hidden: []int{6}, Orthogonalize: true, Separate: true}},
		"own formulas": {Structured: Structured{Formulas: []string{"no = ~ x1", "perhaps = ~ x2 - 1", "x1 = ~ s(x3, k=5)"}}},
	} {
		t.Run(name, func(t *testing.T) {
			cfg.Family, cfg.Response, cfg.Training = family.Categorical{}, "class", Training{Epochs: 4}
			m, _ := mustTrain(t, cfg, tab)
			back := reopen(t, m, tab, &ExportOptions{Double: true})
			b := whole(t, tab)
			if d := distance(etaOf(t, m, b), etaOf(t, back, b)); !(d < 1e-10) {
				t.Errorf("the file's predictors differ by %g", d)
			}
			s := back.Structure()
			if len(s.Softmaxes) != 1 || len(s.Softmaxes[0].Predictors) != 3 || s.PassedOver != "" {
				t.Fatalf("softmaxes %+v; %s", s.Softmaxes, s.PassedOver)
			}
			r, err := back.Graph().Response()
			if err != nil || r == nil || r.Column != "class" || r.Family != "categorical" {
				t.Errorf("response %+v, %v", r, err)
			}
			l, err := back.Graph().Labels()
			if err != nil || l == nil || l.Response != "class" || !slices.Equal(l.Classes, m.Predictors()) {
				t.Errorf("labels %+v, %v", l, err)
			}
			for k := range 3 {
				for j, own := range m.Blocks(k) {
					read := back.Blocks(k)
					if at := slices.IndexFunc(read, func(b decompose.Block) bool { return b.Term.Name() == own.Term.Name() }); at < 0 || len(read[at].Penalty.S) != len(own.Penalty.S) {
						t.Errorf("class %d has lost term %d, %s, or its penalty", k, j, own.Term.Name())
					}
				}
			}
			c, err := classes.New(back, []classes.Head{{Name: "class", Classes: l.Classes, Predictors: []int{0, 1, 2}}}, "")
			if err != nil {
				t.Fatal(err)
			}
			if miss := reconstructionOf(t, c, tab); !(miss < 1e-10) {
				t.Errorf("centred, terms and deep part miss eta by %g", miss)
			}
		})
	}
}

// TestTwoClasses: the additive model of two classes, one step of Newton, is binomial's.
func TestTwoClasses(t *testing.T) {
	tab := simulated(t, 500, 2)
	loss := func(f family.Differentiable) float64 {
		_, fit := mustTrain(t, Config{Family: f, Response: "b", Weights: "w", Structured: Structured{Formulas: []string{"~ x1 + x2 + g"}}, Training: Training{Epochs: 1, Seed: 3}}, tab)
		return fit.AdditiveLoss
	}
	if two, one := loss(family.Categorical{}), loss(family.Binomial{}); !(math.Abs(two-one) < 1e-9) {
		t.Errorf("additive models have loss %.12g, and as binomial %.12g", two, one)
	}
}

// TestRareClass: of a rare class with a column of long tail one step of Newton goes too far;
// the additive model that training begins from is never worse than the frequencies.
func TestRareClass(t *testing.T) {
	const n = 2000
	rng := rand.New(rand.NewPCG(2, 2))
	x, class, of := make([]float64, n), make([]string, n), map[string]float64{}
	for i := range n {
		x[i] = math.Exp(1.5 * rng.NormFloat64())
		switch class[i] = "b"; {
		case i%200 == 0:
			class[i], x[i] = "rare", 5*x[i]+10
		case rng.Float64() < 0.4:
			class[i] = "a"
		}
		of[class[i]]++
	}
	tab := tableOf(t, n, map[string][]float64{"x": x}, map[string][]string{"class": class})
	_, fit := mustTrain(t, Config{Family: family.Categorical{}, Response: "class", Structured: Structured{Formulas: []string{"~ x"}}, Training: wholeBatch(1)}, tab)
	null := 0.0
	for _, v := range of {
		null -= v / n * math.Log(v/n)
	}
	if !(fit.AdditiveLoss < null) {
		t.Errorf("the additive model has loss %v, the frequencies alone %v", fit.AdditiveLoss, null)
	}
}

// TestManyClasses: numbers are classes too, in their order, and one with few rows is one.
func TestManyClasses(t *testing.T) {
	const n, k = 600, 30
	rng := rand.New(rand.NewPCG(1, 1))
	x, y := make([]float64, n), make([]float64, n)
	for i := range n {
		c := i % k
		if i < 2 {
			c = k // two rows
		}
		x[i], y[i] = 0.3*rng.NormFloat64()+0.2*float64(c), float64(c)/2-3
	}
	m, fit := mustTrain(t, Config{Family: family.Categorical{}, Response: "y", Deep: Deep{Columns: []string{"x"}, Hidden: []int{8}},
		Training: Training{Epochs: 100, ValidationShare: -1}}, tableOf(t, n, map[string][]float64{"x": x, "y": y}, nil))
	if names := m.Predictors(); len(names) != k+1 || names[0] != "-3" || names[1] != "-2.5" || names[k] != "12" {
		t.Errorf("classes %q", names)
	}
	if e := fit.Evaluation; !(e.DevianceExplained > 0.1 && e.Accuracy > e.MostFrequent) {
		t.Errorf("%+v", e)
	}
}

// TestBadClasses: what is no response of classes is refused before training.
func TestBadClasses(t *testing.T) {
	const n = 1200
	constant, number, rare, id := make([]string, n), make([]float64, n), make([]string, n), make([]string, n)
	none := make([]float64, n)
	for i := range n {
		constant[i], number[i], rare[i], id[i], none[i] = "a", float64(i%3), string(rune('a'+i%2)), fmt.Sprint("row", i), 1
	}
	rare[7], none[7] = "c", 0
	tab := tableOf(t, n, map[string][]float64{"y": number, "x": number, "w": none}, map[string][]string{"constant": constant, "rare": rare, "id": id})
	three, err := family.NewCategorical(3, -1)
	if err != nil {
		t.Fatal(err)
	}
	levels, err := family.NewOrdinal([]float64{0, 1, 2}, []float64{0, 1})
	if err != nil {
		t.Fatal(err)
	}
	for want, c := range map[string]Config{
		`levels and thresholds are found by training`: {Response: "y", Family: levels},
		`response: column "rare" holds text`:          {Response: "rare", Family: family.Ordinal{}},
		`response "y", data row 1, which is held out: family ordinal: response 7 is none of the levels [0 1 2]`: {Response: "y", Family: family.Ordinal{},
			Training: Training{Validation: tableOf(t, 1, map[string][]float64{"y": {7}, "x": {0}}, nil)}},
		`the response "constant" has one class only, ["a"]`:              {Response: "constant"},
		`the response "id" has more than 1000 different values`:          {Response: "id"},
		`no row of positive weight that is trained on has the class "c"`: {Response: "rare", Weights: "w"},
		`an offset is for one predictor`:                                 {Response: "y", Offset: "w"},
		`its classes are those of the response`:                          {Response: "y", Family: three},
		`formula for predictor "3": the categorical model has`:           {Response: "y", Structured: Structured{Formulas: []string{"`3` = ~ x"}}},
		`events "w": `:        {Response: "y", Event: "w"},
		`needs Deep.Separate`: {Response: "y", Deep: Deep{Columns: []string{"x"}, Orthogonalize: true}},
	} {
		if c.Family == nil {
			c.Family = family.Categorical{}
		}
		if c.Deep.Columns == nil && c.Architecture == "" {
			c.Deep.Columns = []string{"x"}
		}
		if c.Architecture == GAM {
			c.Structured.Formulas = []string{"~ x"}
		}
		if _, _, err := Train(t.Context(), c, tab); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v\nwant %s", err, want)
		}
	}
	// A class that other rows brought is none of the training rows'.
	held := tableOf(t, 1, map[string][]float64{"y": {7}, "x": {0}}, nil)
	_, _, err = Train(t.Context(), Config{Family: family.Categorical{}, Response: "y", Deep: Deep{Columns: []string{"x"}}, Training: Training{Validation: held}}, tab)
	if err == nil || !strings.Contains(err.Error(), `"7" is none of the classes ["0" "1" "2"]`) {
		t.Error(err)
	}
}
