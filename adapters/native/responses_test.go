package native

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"github.com/pho-go/pho/adapters/native/internal/rows"
	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/data/files"
	"github.com/pho-go/pho/family"
)

// TestFitsOfR: a formula alone ends at the maximum likelihood fit of R, of survreg with
// censored times, of mgcv's tw at its power, of glm and of zeroinfl, on real data.
func TestFitsOfR(t *testing.T) {
	raw, err := os.ReadFile("../../testdata/golden/responses.json")
	if err != nil {
		t.Fatal(err)
	}
	var golden struct {
		Fits []struct {
			Name, Family, Data, Response, Event string
			Positive                            bool
			Columns                             []string
			Coef, Second                        []float64
			Power, Scale                        float64
		}
		Veteran map[string][]float64
	}
	if err := json.Unmarshal(raw, &golden); err != nil {
		t.Fatal(err)
	}
	for _, f := range golden.Fits {
		t.Run(f.Name, func(t *testing.T) {
			t.Parallel()
			names := append([]string{f.Response}, f.Columns...)
			if f.Event != "" {
				names = append(names, f.Event)
			}
			values := golden.Veteran
			if f.Data != "veteran" {
				values = columnsOf(t, "../../../shared/data/"+f.Data, names)
			}
			kept := map[string][]float64{}
			for i, y := range values[f.Response] {
				for _, name := range names {
					if !f.Positive || y > 0 {
						kept[name] = append(kept[name], values[name][i])
					}
				}
			}
			if f.Family == "cox" {
				kept[f.Response] = breslow(kept[f.Response], kept[f.Event])
			}
			src := data.NewTable(len(kept[f.Response]))
			for _, name := range names {
				if err := src.AddNumeric(name, kept[name]); err != nil {
					t.Fatal(err)
				}
			}
			name, left, k := f.Family, f.Response, 1
			if f.Family == "cox" {
				name = "cox(intervals=1000)" // a cut at every time of an event, or nearly
			}
			if f.Power != 0 {
				name = "tweedie(p=" + strconv.FormatFloat(f.Power, 'g', -1, 64) + ")"
			}
			if len(f.Second) > 0 {
				k = 2
			}
			if f.Event != "" {
				left = "Surv(" + f.Response + ", " + f.Event + ")"
			}
			cfg := Config{
				Family: parsed(name, k), Structured: Structured{Formulas: []string{left + " ~ " + strings.Join(f.Columns, " + ")}},
				Training: Training{ValidationShare: -1, BatchSize: 5000, Epochs: 700, LearningRate: 0.05, Schedule: Cosine},
			}
			m, fit := mustTrain(t, cfg, src)
			b := whole(t, src)
			eta := etaOf(t, m, b)
			compare := func(predictor int, coef []float64) {
				worst, spread, constant := 0.0, make([]float64, 0, b.Rows()), 0.0
				for i := range b.Rows() {
					want := coef[0]
					for j, c := range f.Columns {
						x, err := b.Numeric(c)
						if err != nil {
							t.Fatal(err)
						}
						want += coef[j+1] * x[i]
					}
					if f.Family == "cox" && i == 0 { // a constant is the baseline's
						constant = eta.At(i, predictor) - want
					}
					worst = math.Max(worst, math.Abs(eta.At(i, predictor)-constant-want))
					spread = append(spread, want)
				}
				if sd := stat.StdDev(spread, nil); !(worst <= 1e-3*sd) {
					t.Errorf("predictor %d is up to %g off R's, of standard deviation %g (%s)", predictor, worst, sd, fit.Status)
				}
			}
			compare(0, f.Coef)
			if k == 2 {
				compare(1, f.Second)
			}
			if f.Scale != 0 {
				if got := shapes(t, m.Family())[0]; math.Abs(got/f.Scale-1) > 1e-4 {
					t.Errorf("scale %v, R has %v", got, f.Scale)
				}
			}
		})
	}
}

// breslow moves times that are censored between two events to the first of them, as Cox's
// partial likelihood does.
func breslow(times, seen []float64) []float64 {
	var events []float64
	for i, y := range times {
		if seen[i] == 1 {
			events = append(events, y)
		}
	}
	slices.Sort(events)
	out := slices.Clone(times)
	for i, y := range times {
		if k, found := slices.BinarySearch(events, y); seen[i] == 0 && !found && k > 0 {
			out[i] = events[k-1]
		}
	}
	return out
}

// columnsOf reads numbers of a file; without it the test is skipped.
func columnsOf(t *testing.T, path string, names []string) map[string][]float64 {
	t.Helper()
	if _, err := os.Stat(path); err != nil {
		t.Skipf("without %s", path)
	}
	src, err := files.Open([]string{path}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	f, err := rows.Read(t.Context(), src, names)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string][]float64{}
	for _, name := range names {
		if out[name], err = f.Batch.Numeric(name); err != nil {
			t.Fatal(err)
		}
	}
	return out
}

// TestLearnsTimes: a network finds the predictor behind censored times, which formulas of
// its columns do not hold, and a censored time is no event: trained without the events it
// is far off in level.
func TestLearnsTimes(t *testing.T) {
	const n = 3000
	rng := rand.New(rand.NewPCG(31, 7))
	x1, x2, y, seen, truth := make([]float64, n), make([]float64, n), make([]float64, n), make([]float64, n), make([]float64, n)
	for i := range n {
		x1[i], x2[i] = 2*rng.Float64()-1, 2*rng.Float64()-1
		truth[i] = 1 + math.Sin(3*x1[i])*x2[i] + 0.5*x1[i]
		time, end := math.Exp(truth[i]+0.5*math.Log(rng.ExpFloat64())), 6*rng.Float64()
		y[i], seen[i] = math.Min(time, end), 0
		if time <= end {
			seen[i] = 1
		}
	}
	if share := stat.Mean(seen, nil); share < 0.4 || share > 0.7 {
		t.Fatalf("%v of the times are events", share)
	}
	tab := data.NewTable(n)
	for name, v := range map[string][]float64{"x1": x1, "x2": x2, "y": y, "seen": seen} {
		if err := tab.AddNumeric(name, v); err != nil {
			t.Fatal(err)
		}
	}
	cfg := Config{
		Family: parsed("weibull", 1), Structured: Structured{Formulas: []string{"Surv(y, seen) ~ x1"}}, Deep: Deep{Columns: []string{"x1", "x2"}, Hidden: []int{24, 16}},
		Training: Training{Epochs: 80, Seed: 3},
	}
	m, fit := mustTrain(t, cfg, tab)
	eta := mat.Col(nil, 0, etaOf(t, m, whole(t, tab)))
	if r := stat.Correlation(eta, truth, nil); !(r > 0.97) {
		t.Errorf("correlation %v with the truth", r)
	}
	if d := stat.Mean(eta, nil) - stat.Mean(truth, nil); !(math.Abs(d) < 0.08) {
		t.Errorf("the level is %v off", d)
	}
	if s := shapes(t, m.Family())[0]; !(math.Abs(s-0.5) < 0.04) {
		t.Errorf("scale %v, simulated 0.5", s)
	}
	if e := fit.Evaluation; !math.IsNaN(e.RMSE) || !(e.DevianceExplained > 0.1) || !m.Censored() {
		t.Errorf("evaluation %+v", e)
	}
	cfg.Structured.Formulas, cfg.Response = []string{"y ~ x1"}, ""
	blind, _ := mustTrain(t, cfg, tab)
	if d := stat.Mean(mat.Col(nil, 0, etaOf(t, blind, whole(t, tab))), nil) - stat.Mean(truth, nil); !(d < -0.3) {
		t.Errorf("without the events the level is %v off only", d)
	}
}

// TestBadTimes: what cannot be trained of times and powers.
func TestBadTimes(t *testing.T) {
	table := func(y, event []float64) *data.Table {
		tab := data.NewTable(len(y))
		for name, v := range map[string][]float64{"y": y, "d": event, "x": {1, 2, 3, 4}} {
			if err := tab.AddNumeric(name, v); err != nil {
				t.Fatal(err)
			}
		}
		return tab
	}
	times := []float64{1, 2, 3, 4}
	for want, c := range map[string]struct {
		family   string
		formula  string
		y, event []float64
	}{
		`native: events "d", data row 2: 2 is neither 1, for an event, nor 0, for a censored time`: {"weibull", "Surv(y, d) ~ x", times, []float64{1, 2, 1, 1}},
		`native: events "d": all training rows of positive weight are censored (0)`:                {"weibull", "Surv(y, d) ~ x", times, []float64{0, 0, 0, 0}},
		`native: response "y", data row 1: family lognormal: response 0 is outside`:                {"lognormal", "y ~ x", []float64{0, 1, 2, 3}, times},
		`native: events "d": family poisson knows no censored responses`:                           {"poisson", "Surv(y, d) ~ x", times, times},
		`native: family tweedie: p is not found by training: give it`:                              {"tweedie", "y ~ x", times, times},
		`native: events "d": all training rows of positive weight are censored`:                    {"cox", "Surv(y, d) ~ x", times, []float64{0, 0, 0, 0}},
		`"d" says which times are censored; it is part of the response`:                            {"weibull", "Surv(y, d) ~ x + d", times, []float64{1, 0, 1, 1}},
		`native: response "y", data row 3: family tweedie: response -3 is outside the support`:     {"tweedie(p=1.5)", "y ~ x", []float64{0, 1, -3, 3}, times},
	} {
		cfg := Config{Family: parsed(c.family, 1), Structured: Structured{Formulas: []string{c.formula}}, Training: Training{ValidationShare: -1}}
		if _, _, err := Train(t.Context(), cfg, table(c.y, c.event)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", c.family, err, want)
		}
	}
	cfg := Config{Family: parsed("weibull", 1), Structured: Structured{Formulas: []string{"Surv(y, d) ~ x"}}, Deep: Deep{Columns: []string{"d"}}}
	if _, _, err := Train(t.Context(), cfg, table(times, []float64{1, 0, 1, 1})); err == nil || !strings.Contains(err.Error(), `deep part: column "d" says which times are censored`) {
		t.Errorf("the events as an input: %v", err)
	}
}

// TestResumeTimes: the baseline is found again when training goes on from a checkpoint.
func TestResumeTimes(t *testing.T) {
	tab := withShares(t, simulated(t, 300, 2))
	cfg := Config{Family: parsed("cox", 1), Response: "p", Event: "b", Deep: Deep{Columns: []string{"x1"}, Hidden: []int{4}}, Training: Training{Epochs: 6, BatchSize: 64, Seed: 1}}
	rates := func(m *Model) []float64 { return m.Family().(family.Cox).Baseline.Rates() }
	m, fit := mustTrain(t, cfg, tab)
	if fit.Best == 0 {
		t.Fatal("nothing was learned")
	}
	cfg.Training.Checkpoint, cfg.Training.Resume, cfg.Training.Epochs = t.TempDir()+"/c", true, 3
	mustTrain(t, cfg, tab)
	cfg.Training.Epochs, cfg.Training.Workers = 6, 3
	again, _ := mustTrain(t, cfg, tab)
	if !slices.Equal(rates(again), rates(m)) || string(saved(t, again)) != string(saved(t, m)) {
		t.Errorf("baseline %v, resumed %v", rates(m), rates(again))
	}
}
