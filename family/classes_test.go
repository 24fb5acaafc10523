package family

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
)

// TestClassesAgainstR: mgcv::multinom on MASS::fgl, MASS::polr and mgcv::ocat on
// MASS::housing. See testdata/golden/classes.R.
func TestClassesAgainstR(t *testing.T) {
	raw, err := os.ReadFile("../testdata/golden/classes.json")
	if err != nil {
		t.Fatal(err)
	}
	type ordered struct {
		Y, W, Eta, Cuts []float64
		LogLik          float64
	}
	var golden struct {
		Multinom struct {
			Y      []float64
			Eta    [][]float64
			LogLik float64
			LL     float64
		}
		Polr, Ocat ordered
	}
	if err := json.Unmarshal(raw, &golden); err != nil {
		t.Fatal(err)
	}
	f, _ := NewCategorical(4, 0)
	sum := 0.0
	for i, y := range golden.Multinom.Y {
		sum += f.LogLik(y, 1, golden.Multinom.Eta[i], 1)
	}
	first := 0.0
	for _, y := range golden.Multinom.Y {
		if y == 0 {
			first++
		}
	}
	if !near(sum, golden.Multinom.LL-first, 1e-10) { // see the script
		t.Errorf("categorical: log-likelihood %.14g, multinom's own less its rows of the first class %.14g", sum, golden.Multinom.LL-first)
	}
	if !near(sum, golden.Multinom.LogLik, 1e-10) || len(golden.Multinom.Y) != 192 {
		t.Errorf("categorical: log-likelihood %.14g, multinom has %.14g", sum, golden.Multinom.LogLik)
	}
	for name, c := range map[string]ordered{"polr": golden.Polr, "ocat": golden.Ocat} {
		f, err := NewOrdinal([]float64{1, 2, 3}, c.Cuts)
		if err != nil {
			t.Fatal(err)
		}
		loglik := func(f Ordinal) (sum float64) {
			for i, y := range c.Y {
				sum += f.LogLik(y, c.W[i], c.Eta[i:i+1], 1)
			}
			return sum
		}
		if got := loglik(f); !near(got, c.LogLik, 1e-10) {
			t.Errorf("%s: log-likelihood %.14g, R has %.14g", name, got, c.LogLik)
		}
		found, err := EstimateOrdinal(c.Y, c.W, c.Eta)
		if err != nil {
			t.Fatal(err)
		}
		for k, v := range found.Thresholds() {
			if math.Abs(v-c.Cuts[k]) > 2e-3 { // ocat's first is fixed, and its fit penalised by nothing but convergence
				t.Errorf("%s: thresholds %v, R has %v", name, found.Thresholds(), c.Cuts)
			}
		}
		if got := loglik(found); got < c.LogLik-1e-9 || got > c.LogLik+1e-3 {
			t.Errorf("%s: at the thresholds found the log-likelihood is %.12g, at R's %.12g", name, got, c.LogLik)
		}
	}
	found, _ := EstimateOrdinal(golden.Polr.Y, golden.Polr.W, golden.Polr.Eta)
	for k, v := range found.Thresholds() {
		if !near(v, golden.Polr.Cuts[k], 1e-5) { // polr maximises over the predictor, too
			t.Errorf("thresholds %v, polr has %v", found.Thresholds(), golden.Polr.Cuts)
		}
	}
}

func TestCategoricalOfTwoIsBinomial(t *testing.T) {
	f, _ := NewCategorical(2, 0)
	for _, eta := range []float64{-800, -40, -1, 0, 0.3, 12, 800} {
		for _, y := range []float64{0, 1} {
			e := []float64{eta}
			if got, want := f.LogLik(y, 2.5, e, 1), (Binomial{}).LogLik(y, 2.5, e, 1); got != want {
				t.Errorf("log-likelihood of %g at %g: %v, binomial %v", y, eta, got, want)
			}
			if got, want := f.Deviance(y, 2.5, e), (Binomial{}).Deviance(y, 2.5, e); !near(got, want, 1e-15) {
				t.Errorf("deviance of %g at %g: %v, binomial %v", y, eta, got, want)
			}
			g, i, h, j := make([]float64, 1), make([]float64, 1), make([]float64, 1), make([]float64, 1)
			f.Score(g, i, y, 2.5, e, 1)
			Binomial{}.Score(h, j, y, 2.5, e, 1)
			if !near(g[0], h[0], 1e-10) || !near(i[0], j[0], 1e-13) {
				t.Errorf("score of %g at %g: %v %v, binomial %v %v", y, eta, g, i, h, j)
			}
		}
	}
}

// TestCommonFunction: adding one function to all classes changes nothing, and reference
// coding equals subtracting the reference's predictor from all.
func TestCommonFunction(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 2))
	for _, k := range []int{2, 3, 40} {
		f, _ := NewCategorical(k, -1)
		reference := r.IntN(k)
		against, _ := NewCategorical(k, reference)
		for range 50 {
			eta, moved, differences := make([]float64, k), make([]float64, k), []float64{}
			for c := range eta {
				eta[c] = 3 * r.NormFloat64()
				moved[c] = eta[c] + 100
			}
			for c := range eta {
				if c != reference {
					differences = append(differences, eta[c]-eta[reference])
				}
			}
			total := 0.0
			for y := range k {
				l := f.LogLik(float64(y), 1, eta, 1)
				total += math.Exp(l)
				if m := f.LogLik(float64(y), 1, moved, 1); math.Abs(m-l) > 1e-12*(1+math.Abs(l)) {
					t.Fatalf("log-likelihood %v, of moved predictors %v", l, m)
				}
				if m := against.LogLik(float64(y), 1, differences, 1); math.Abs(m-l) > 1e-12*(1+math.Abs(l)) {
					t.Fatalf("log-likelihood %v, of differences %v", l, m)
				}
			}
			if math.Abs(total-1) > 1e-12 || f.Class(eta) != against.Class(differences) {
				t.Fatalf("probabilities sum to %v; classes %d and %d", total, f.Class(eta), against.Class(differences))
			}
		}
	}
}

func TestScoresOfClasses(t *testing.T) {
	three, _ := NewCategorical(3, -1)
	against, _ := NewCategorical(4, 2)
	ordinal, _ := NewOrdinal([]float64{1, 2, 5, 7}, []float64{-1, -0.5, 2})
	down, _ := NewOrdinal([]float64{7, 5, 2, 1}, []float64{-1, -0.5, 2})
	for _, c := range []struct {
		f  Differentiable
		ys []float64
	}{{three, []float64{0, 1, 2}}, {against, []float64{0, 1, 2, 3}}, {ordinal, []float64{1, 2, 5, 7}}, {down, []float64{1, 2, 5, 7}}} {
		r := rand.New(rand.NewPCG(1, 5))
		k := c.f.Predictors()
		for range 20 {
			eta := make([]float64, k)
			for i := range eta {
				eta[i] = 2 * r.NormFloat64()
			}
			expected, mean := make([]float64, k), make([]float64, k)
			for _, y := range c.ys {
				grad, info := make([]float64, k), make([]float64, k)
				c.f.Score(grad, info, y, 1.5, eta, 1)
				p := math.Exp(c.f.LogLik(y, 1, eta, 1))
				for i := range eta {
					const h = 1e-5
					at := func(d float64) float64 {
						e := append([]float64(nil), eta...)
						e[i] += d
						return c.f.LogLik(y, 1.5, e, 1)
					}
					if d := (at(-2*h) - 8*at(-h) + 8*at(h) - at(2*h)) / (12 * h); math.Abs(d-grad[i]) > 1e-8 {
						t.Fatalf("%s: score %v, by differences %v", c.f.Name(), grad[i], d)
					}
					expected[i] += p * grad[i] * grad[i] / (1.5 * 1.5)
					mean[i] = info[i] / 1.5
				}
			}
			for i := range eta {
				if math.Abs(expected[i]-mean[i]) > 1e-10 {
					t.Fatalf("%s: information %v, the expected square of the score is %v", c.f.Name(), mean, expected)
				}
			}
		}
	}
}

func TestExtremesOfClasses(t *testing.T) {
	f, _ := NewCategorical(3, -1)
	probabilities, _ := categoricalProbabilities(3)
	o, _ := NewOrdinal([]float64{0, 1, 2}, []float64{-1, -1}) // no room for the second
	for _, c := range []struct {
		what      string
		got, want float64
	}{
		{"far off", f.LogLik(0, 1, []float64{-800, 800, 0}, 1), -1600},
		{"sure, with its digits", f.LogLik(0, 1, []float64{40, 0, 0}, 1), -math.Log1p(2 * math.Exp(-40))},
		{"no weight", f.LogLik(0, 0, []float64{math.Inf(-1), 0, 0}, 1), 0},
		{"constant logits", f.LogLik(2, 1, []float64{7, 7, 7}, 1), -math.Log(3)},
		{"infinite", f.LogLik(1, 1, []float64{0, math.Inf(1), 0}, 1), 0},
		{"empty level", o.LogLik(1, 1, []float64{0}, 1), math.Inf(-1)},
		{"first level far off", o.LogLik(0, 1, []float64{800}, 1), -801},
		{"last level", o.LogLik(2, 1, []float64{800}, 1), 0},
		{"another K", f.LogLik(0, 1, []float64{0, 0}, 1), math.NaN()},
		{"negative weight", f.Deviance(0, -1, []float64{0, 0, 0}), math.NaN()},
		{"a probability", probabilities.LogLik(1, 2, []float64{0.5, 0.25, 0.25}, 1), 2 * math.Log(0.25)},
		{"its deviance", probabilities.Deviance(1, 1, []float64{0.5, 0.25, 0.25}), 4 * math.Log(2)},
		{"a probability of 0", probabilities.LogLik(0, 1, []float64{0, 1, 0}, 1), math.Inf(-1)},
		{"less than 0, as without a term", probabilities.Deviance(0, 1, []float64{-0.1, 1, 0.1}), math.Inf(1)},
		{"the most probable", float64(probabilities.Class([]float64{0.2, 0.5, 0.3})), 1},
		{"unknown thresholds", Ordinal{}.LogLik(0, 1, []float64{0}, 1), math.NaN()},
	} {
		if c.got != c.want && !(math.Abs(c.got-c.want) <= 4e-15*math.Abs(c.want)) && !(math.IsNaN(c.got) && math.IsNaN(c.want)) {
			t.Errorf("%s: %.17g, want %.17g", c.what, c.got, c.want)
		}
	}
	for _, c := range []struct {
		f       Family
		y       float64
		message string
	}{
		{f, 3, "family categorical: response 3 is no class: they are the numbers 0 to 2"},
		{f, 0.5, "response 0.5 is no class"}, {f, -1, "response -1 is no class"}, {f, math.NaN(), "NaN"},
		{o, 4, "family ordinal: response 4 is none of the levels [0 1 2]"},
		{Ordinal{}, math.Inf(1), "is no number"},
	} {
		if err := c.f.Check(c.y); err == nil || !strings.Contains(err.Error(), c.message) {
			t.Errorf("Check(%v) = %v, should say %s", c.y, err, c.message)
		}
	}
}

func TestEstimateOrdinal(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 8))
	want := []float64{-2, -0.5, -0.4, 3}
	var y, w, eta []float64
	for range 40000 {
		e := 1.5 * r.NormFloat64()
		u := r.Float64()
		latent := e + math.Log(u/(1-u))
		k := 0.0
		for _, c := range want {
			if latent > c {
				k++
			}
		}
		y, w, eta = append(y, 10*k), append(w, float64(r.IntN(3))), append(eta, e)
	}
	f, err := EstimateOrdinal(y, w, eta)
	if err != nil {
		t.Fatal(err)
	}
	for k, c := range f.Thresholds() {
		if math.Abs(c-want[k]) > 0.1 {
			t.Errorf("thresholds %v, want about %v", f.Thresholds(), want)
		}
	}
	// The maximum: the derivative by every threshold is 0.
	rows := rowsOf(y, w, eta)
	if slope, _ := rows.newton(f, make([]float64, 4)); slope > 1e-5 {
		t.Errorf("derivative %g at the thresholds found", slope)
	}
	for _, c := range []struct {
		y       []float64
		message string
	}{
		{[]float64{3, 3, 3}, "the rows of positive weight have 1 different responses"},
		{nil, "have 0 different responses"},
	} {
		if _, err := EstimateOrdinal(c.y, nil, make([]float64, len(c.y))); err == nil || !strings.Contains(err.Error(), c.message) {
			t.Errorf("error %v, should say %s", err, c.message)
		}
	}
	if _, err := EstimateOrdinal([]float64{1, 2}, nil, []float64{math.NaN(), 0}); err == nil {
		t.Error("a predictor that is no number is no error")
	}
	if _, err := NewOrdinal([]float64{1, 2}, []float64{1, 2}); err == nil {
		t.Error("two thresholds for two levels are no error")
	}
}

// TestDecreasingLevels: P(y >= level k) is logistic(c_k - eta), which is what the opposite
// predictor and thresholds say of increasing levels.
func TestDecreasingLevels(t *testing.T) {
	down, err := NewOrdinal([]float64{7, 5, 2}, []float64{-1, 0.5})
	if err != nil {
		t.Fatal(err)
	}
	up, _ := NewOrdinal([]float64{2, 5, 7}, []float64{-0.5, 1})
	for _, eta := range []float64{-30, -1, 0, 0.7, 4} {
		for _, y := range []float64{2, 5, 7} {
			got, want := down.LogLik(y, 2, []float64{eta}, 1), up.LogLik(y, 2, []float64{-eta}, 1)
			if math.Abs(got-want) > 1e-14*math.Abs(want) || down.Place(y) != 2-up.Place(y) || down.Check(y) != nil {
				t.Errorf("y %g at %g: %v, want %v; place %d", y, eta, got, want, down.Place(y))
			}
		}
		if a, b := down.Mean([]float64{eta}), up.Mean([]float64{-eta}); math.Abs(a-b) > 1e-14*b || down.Levels()[down.Class([]float64{eta})] != up.Levels()[up.Class([]float64{-eta})] {
			t.Errorf("at %g the mean is %v, want %v", eta, a, b)
		}
	}
	if down.Check(3) == nil || down.Check(8) == nil || down.Check(1) == nil {
		t.Error("a level that there is not")
	}
	for _, levels := range [][]float64{{3, 1, 2}, {1, 1, 2}, {1, 2, 2}, {2, 1, math.NaN()}, {3, 2, 2}} {
		if _, err := NewOrdinal(levels, []float64{0, 1}); err == nil {
			t.Errorf("levels %v are taken", levels)
		}
	}
}
