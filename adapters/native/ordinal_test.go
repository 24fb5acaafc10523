package native

import (
	"encoding/json"
	"math"
	"os"
	"testing"

	"github.com/pho-go/pho/family"
)

// TestOrdinalOfPolr: a formula alone ends at the maximum likelihood fit of MASS::polr to
// MASS::housing, whose rows are all combinations of satisfaction, influence, type and
// contact, with numbers of households as weights.
func TestOrdinalOfPolr(t *testing.T) {
	raw, err := os.ReadFile("../../testdata/golden/classes.json")
	if err != nil {
		t.Fatal(err)
	}
	var golden struct {
		Polr struct {
			Y, W, Eta, Cuts []float64
			LogLik          float64
		}
	}
	if err := json.Unmarshal(raw, &golden); err != nil {
		t.Fatal(err)
	}
	g := golden.Polr
	n := len(g.Y)
	level := func(every, of int) []float64 {
		v := make([]float64, n)
		for i := range v {
			v[i] = float64(i / every % of)
		}
		return v
	}
	tab := tableOf(t, n, map[string][]float64{"y": g.Y, "w": g.W, "infl": level(3, 3), "type": level(9, 4), "cont": level(36, 2)}, nil)
	m, fit := mustTrain(t, Config{Family: family.Ordinal{}, Weights: "w", Structured: Structured{Formulas: []string{"y ~ infl + type + cont"}, Factors: []string{"infl", "type", "cont"}},
		Training: wholeBatch(1500)}, tab)
	sum := 0.0
	for _, w := range g.W {
		sum += w
	}
	if got := -fit.Evaluation.Loss * sum; !(math.Abs(got-g.LogLik) < 1e-6*math.Abs(g.LogLik)) {
		t.Errorf("log-likelihood %.8f, of polr %.8f", got, g.LogLik)
	}
	cuts := m.Family().(family.Ordinal).Thresholds()
	eta, worst := etaOf(t, m, whole(t, tab)), 0.0
	for i, want := range g.Eta {
		for k, c := range cuts {
			worst = math.Max(worst, math.Abs(c-eta.At(i, 0)-(g.Cuts[k]-want)))
		}
	}
	if !(len(cuts) == 2 && worst < 2e-3) { // where training stopped: the likelihood is flat
		t.Errorf("thresholds %v, cumulative logits are off by %g", cuts, worst)
	}
	e := fit.Evaluation
	if !(e.Loss <= fit.AdditiveLoss && e.Accuracy > e.MostFrequent && e.DevianceExplained > 0.02 && math.IsNaN(e.RMSE)) {
		t.Errorf("%+v, additive model %v", e, fit.AdditiveLoss)
	}
}

// TestOrdinalRoundTrip: the file holds the predictor and names the family, also with an
// offset, which the file's predictor is without.
func TestOrdinalRoundTrip(t *testing.T) {
	tab := simulated(t, 400, 5)
	m, fit := mustTrain(t, Config{Family: family.Ordinal{}, Response: "d", Offset: "o", Structured: Structured{Formulas: []string{"~ x1 + s(x2, k=6)"}},
		Deep: Deep{Columns: []string{"x1", "x3"}, Hidden: []int{6}}, Training: Training{Epochs: 4}}, tab)
	back := reopen(t, m, tab, &ExportOptions{Double: true})
	b := whole(t, tab)
	if d := distance(etaOf(t, m, b), etaOf(t, back, b)); !(d < 1e-10) {
		t.Errorf("the file's predictor differs by %g", d)
	}
	r, err := back.Graph().Response()
	if err != nil || r == nil || r.Column != "d" || r.Family != "ordinal" {
		t.Errorf("response %+v, %v", r, err)
	}
	if f := m.Family().(family.Ordinal); len(f.Levels()) != 4 || len(f.Thresholds()) != 3 {
		t.Errorf("levels %v, thresholds %v", f.Levels(), f.Thresholds())
	}
	if e := fit.Evaluation; !math.IsNaN(e.DevianceExplained) || !(e.Accuracy > 0) { // the null model has the offset
		t.Errorf("%+v", e)
	}
}
