package importance_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/decompose"
	"github.com/pho-go/pho/family"
	"github.com/pho-go/pho/importance"
)

// censored adds a column of events to rows of times: every third is censored.
func censored(t testing.TB, src *data.Table, n int) *data.Table {
	t.Helper()
	event := make([]float64, n)
	for i := range event {
		if i%3 > 0 {
			event[i] = 1
		}
	}
	must(t, src.AddNumeric("event", event))
	return src
}

func withEvents(fam family.Family) *decompose.Options {
	o := options(fam)
	o.Event = "event"
	return o
}

// eachRow calls f with every row of positive weight, its predictor with offset, and that
// without the terms of drop.
func eachRow(r *decompose.Result, parts []*decompose.Parts, drop []string, f func(y, w float64, event bool, eta, without, offset float64)) {
	for _, p := range parts {
		columns := map[string][]float64{}
		for _, name := range []string{"y", "w", "off", "event"} {
			columns[name], _ = p.Batch.Numeric(name)
		}
		for i, w := range columns["w"] {
			if w == 0 {
				continue
			}
			eta := p.Predictors[0].Eta[i] + columns["off"][i]
			without := eta
			for j, term := range r.Predictors[0].Terms {
				if contains(drop, term.Name) {
					without -= p.Predictors[0].Terms.At(i, j)
				}
			}
			f(columns["y"][i], w, columns["event"][i] == 1, eta, without, columns["off"][i])
		}
	}
}

// TestCensoredTimes: entries are what their definition gives row by row, censored rows by
// their survival function; what is said of how well such times are predicted is against the best
// constant.
func TestCensoredTimes(t *testing.T) {
	m := oneHead()
	for _, name := range []string{"weibull(scale=0.8)", "lognormal(sigma=0.9)", "log-logistic(scale=0.6)"} {
		fam := mustParse(name)
		r, parts := measure(t, m, censored(t, rows(t, m, 9000, 7, positiveNoise), 9000), withEvents(fam))
		by := family.ByEvent(fam)
		for _, e := range r.Predictors[0].Importance {
			var l, lj, d, dj, n float64
			eachRow(r, parts, e.Terms, func(y, w float64, event bool, eta, without, _ float64) {
				of := by[0]
				if event {
					of = by[1]
				}
				n += w
				l, lj = l+of.LogLik(y, w, []float64{eta}, 1), lj+of.LogLik(y, w, []float64{without}, 1)
				d, dj = d+of.Deviance(y, w, []float64{eta}), dj+of.Deviance(y, w, []float64{without})
			})
			near(t, name+" delta", e.DeltaLogLikPerRow, (l-lj)/n, 1e-9)
			near(t, name+" deviance", e.DevianceR2, 1-d/dj, 1e-9)
			if e.McFaddenValid {
				t.Errorf("%s: McFadden's R2 of densities is valid", name)
			}
		}
		var full, n float64
		null := -smallest(func(constant float64) (sum float64) {
			full, n = 0, 0
			eachRow(r, parts, nil, func(y, w float64, event bool, eta, _, offset float64) {
				of := by[0]
				if event {
					of = by[1]
				}
				n, full = n+w, full+of.LogLik(y, w, []float64{eta}, 1)
				sum -= of.LogLik(y, w, []float64{constant + offset}, 1)
			})
			return sum
		})
		near(t, name+" gain", r.Prediction.LogLikGain, (full-null)/n, 1e-9)
		if c := r.Prediction.Concordance; c == nil || !(*c > 0.55 && *c < 1) {
			t.Errorf("%s: longer times are expected of larger predictors, and the concordance is %v", name, c)
		}
		if r.Prediction.R2 != nil || r.Event != "event" || r.Prediction.Worse != (full < null) {
			t.Errorf("%s: prediction %+v, event %q", name, r.Prediction, r.Event)
		}
	}
}

// TestCoxRefits: each set of terms has a baseline of its own, estimated from all rows in
// the intervals that EstimateFamily chose; with any number of workers and size of batches
// to the same bits.
func TestCoxRefits(t *testing.T) {
	m := oneHead()
	var first string
	for _, c := range []struct{ batch, workers int }{{4096, 1}, {37, 4}} {
		src := censored(t, rows(t, m, 9000, 7, func(r *rand.Rand, eta []float64) float64 { return math.Exp(-eta[0]) * r.ExpFloat64() }), 9000)
		src.BatchRows = c.batch
		o := withEvents(mustParse("cox(intervals=12)"))
		o.Workers = c.workers
		fam, err := decompose.EstimateFamily(context.Background(), m, src, o)
		must(t, err)
		if cuts := fam.(family.Cox).Baseline.Cuts(); len(cuts) != 11 {
			t.Fatalf("cuts %v", cuts)
		}
		o.Family = fam
		r, parts := measure(t, m, src, o)
		exposure := func(drop []string, null bool) float64 {
			e := fam.(family.Cox).Exposure()
			eachRow(r, parts, drop, func(y, w float64, event bool, _, without, offset float64) {
				if null {
					without = offset
				}
				e.Add(y, w, without, event)
			})
			return e.LogLik()
		}
		n := 0.0
		eachRow(r, parts, nil, func(_, w float64, _ bool, _, _, _ float64) { n += w })
		full := exposure(nil, false)
		var got strings.Builder
		for _, e := range r.Predictors[0].Importance {
			lj := exposure(e.Terms, false)
			near(t, "delta", e.DeltaLogLikPerRow, (full-lj)/n, 1e-9)
			near(t, "McFadden", e.McFadden, 1-full/lj, 1e-9)
			if e.DevianceR2 != nil || e.McFaddenValid {
				t.Errorf("%+v", e)
			}
			fmt.Fprintf(&got, "%v %x %x %x\n", e.Terms, *e.DeltaLogLikPerRow, *e.McFadden, *r.Prediction.Concordance)
		}
		p := r.Prediction
		near(t, "gain", p.LogLikGain, (full-exposure(nil, true))/n, 1e-9)
		if p.Worse || p.R2 != nil || p.RMSE != nil || !(*p.LogLikGain > 0.1) || !(*p.Concordance > 0.55) {
			t.Errorf("prediction %+v", p)
		}
		if first == "" {
			first = got.String()
		}
		if got.String() != first {
			t.Errorf("batch %d, %d workers:\n%sinstead of\n%s", c.batch, c.workers, got.String(), first)
		}
	}
}

// TestCoxAsInR: with a cut at every time of an event, leaving out a column of a linear
// predictor costs what it costs coxph's partial likelihood (ties by Breslow).
func TestCoxAsInR(t *testing.T) {
	raw, err := os.ReadFile("../testdata/golden/responses.json")
	must(t, err)
	type fitted struct {
		Name         string
		Coef         []float64
		Partial      float64
		PartialFirst float64 `json:"partial_first"`
		PartialNull  float64 `json:"partial_null"`
	}
	var golden struct {
		Fits    []fitted
		Veteran map[string][]float64
	}
	must(t, json.Unmarshal(raw, &golden))
	at := slices.IndexFunc(golden.Fits, func(f fitted) bool { return f.Name == "veteran cox" })
	fit, v := golden.Fits[at], golden.Veteran
	var events []float64
	for i, y := range v["time"] {
		if v["status"][i] == 1 {
			events = append(events, y)
		}
	}
	slices.Sort(events)
	events = slices.Compact(events)
	// Breslow's convention: censored between two events is censored at the first.
	time, n := slices.Clone(v["time"]), len(v["time"])
	for i, y := range time {
		if v["status"][i] == 0 {
			k, found := slices.BinarySearch(events, y)
			if !found && k == 0 {
				t.Fatal("a row is censored before the first event")
			} else if !found {
				time[i] = events[k-1]
			}
		}
	}
	tab := data.NewTable(n)
	for name, x := range map[string][]float64{"a": v["karno"], "b": v["age"], "y": time, "event": v["status"]} {
		must(t, tab.AddNumeric(name, x))
	}
	m := &network{predictors: []string{"eta"}, coef: []map[string]float64{{"a": fit.Coef[1], "b": fit.Coef[2]}}, zeta: func(int, map[string]float64) float64 { return 0 }}
	o := &decompose.Options{Family: family.Cox{Intervals: 1000}, Columns: decompose.Columns{Response: "y", Event: "event"}}
	o.Family, err = decompose.EstimateFamily(context.Background(), m, tab, o)
	must(t, err)
	if cuts := o.Family.(family.Cox).Baseline.Cuts(); !slices.Equal(cuts, events[:len(events)-1]) {
		t.Fatalf("cuts %v", cuts)
	}
	r, _ := measure(t, m, tab, o)
	for _, e := range r.Predictors[0].Importance {
		if e.Feature == "a" {
			near(t, "karno", e.DeltaLogLikPerRow, (fit.Partial-fit.PartialFirst)/float64(n), 1e-8)
		}
	}
	near(t, "all", r.Prediction.LogLikGain, (fit.Partial-fit.PartialNull)/float64(n), 1e-8)
}

// TestBadEvents: events that are none, and families that know none.
func TestBadEvents(t *testing.T) {
	m := oneHead()
	src := rows(t, m, 50, 7, positiveNoise)
	event := make([]float64, 50)
	event[20] = 0.5
	must(t, src.AddNumeric("event", event))
	for name, want := range map[string]string{
		"weibull(scale=1)": `events "event", data row 21: 0.5 is neither 1, for an event, nor 0, for a censored time`,
		"poisson":          `family poisson knows no censored responses`,
	} {
		o := withEvents(mustParse(name))
		o.Visitors = []decompose.Visitor{importance.New(o.Family)}
		if _, err := decompose.Decompose(context.Background(), m, src, o); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", name, err, want)
		}
	}
	o := withEvents(nil)
	if _, err := decompose.Decompose(context.Background(), m, src, o); err == nil || !strings.Contains(err.Error(), "need a family of times") {
		t.Errorf("events without a family: %v", err)
	}
	event[20] = 0
	o = withEvents(mustParse("weibull"))
	if _, err := decompose.EstimateFamily(context.Background(), m, src, o); err == nil || !strings.Contains(err.Error(), "every row of positive weight is censored") {
		t.Errorf("no events: %v", err)
	}
}
