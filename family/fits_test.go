package family

import (
	"compress/gzip"
	"encoding/csv"
	"io"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// fit is a model that R fitted to real data (testdata/golden/responses.R).
type fit struct {
	Name, Family, Data, Response, Event string
	Positive                            bool // rows with a positive response alone
	Columns                             []string
	Coef, Second                        []float64
	Power, Phi, LogLik                  float64
	BestPower                           float64 `json:"best_power"`
	BestLogLik                          float64 `json:"best_loglik"`
	Deviance, Null, Scale               float64
	Partial                             float64
	PartialHalf                         float64 `json:"partial_half"`
	PartialNull                         float64 `json:"partial_null"`
	Cuts                                []float64
	LogRates                            []float64 `json:"log_rates"`
	PoissonGain                         float64   `json:"poisson_gain"`
	y, event, eta, second               []float64
}

// fits are those of R with their rows; fits holds R's fits with their rows; fits without
// their data are skipped aloud.
func fits(t *testing.T) []*fit {
	t.Helper()
	var file struct {
		Fits    []*fit
		Veteran map[string][]float64
	}
	golden(t, "responses.json", &file)
	tables := map[string]map[string][]float64{"veteran": file.Veteran}
	var out []*fit
	for _, f := range file.Fits {
		table, ok := tables[f.Data]
		if !ok {
			table = readTable(t, "../../shared/data/"+f.Data)
			tables[f.Data] = table
		}
		if table == nil {
			t.Logf("skipped without ../shared/data: %s", f.Name)
			continue
		}
		for i, y := range table[f.Response] {
			if f.Positive && y <= 0 {
				continue
			}
			f.y = append(f.y, y)
			if f.Event != "" {
				f.event = append(f.event, table[f.Event][i])
			}
			line := func(coef []float64) float64 {
				eta := coef[0]
				for j, c := range f.Columns {
					eta += coef[j+1] * table[c][i]
				}
				return eta
			}
			f.eta = append(f.eta, line(f.Coef))
			if len(f.Second) > 0 {
				f.second = append(f.second, line(f.Second))
			}
		}
		out = append(out, f)
	}
	return out
}

// readTable reads columns of numbers; nil: there is no such file.
func readTable(t *testing.T, path string) map[string][]float64 {
	file, err := os.Open(path)
	if err != nil {
		return nil
	}
	defer file.Close()
	var r io.Reader = file
	if strings.HasSuffix(path, ".gz") {
		if r, err = gzip.NewReader(file); err != nil {
			t.Fatal(err)
		}
	}
	rows, err := csv.NewReader(r).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	out := map[string][]float64{}
	for j, name := range rows[0] {
		for _, row := range rows[1:] {
			v, err := strconv.ParseFloat(row[j], 64)
			if err != nil {
				v = math.NaN()
			}
			out[name] = append(out[name], v)
		}
	}
	return out
}

// sums are the log-likelihood and the deviance of all rows.
func (f *fit) sums(of Family, phi float64) (loglik, deviance float64) {
	by := ByEvent(of)
	for i, y := range f.y {
		own := by[1]
		if f.event != nil && f.event[i] == 0 {
			own = by[0]
		}
		eta := []float64{f.eta[i]}
		if f.second != nil {
			eta = append(eta, f.second[i])
		}
		loglik += own.LogLik(y, 1, eta, phi)
		deviance += own.Deviance(y, 1, eta)
	}
	return loglik, deviance
}

// TestFitsOfR: log-likelihoods, deviances and estimates at the coefficients that R found,
// to 1e-8 of their size.
func TestFitsOfR(t *testing.T) {
	ran := 0
	for _, f := range fits(t) {
		ran++
		t.Run(f.Name, func(t *testing.T) {
			same := func(what string, got, want, tol float64) {
				t.Helper()
				if !(math.Abs(got-want) <= tol*math.Max(1, math.Abs(want))) {
					t.Errorf("%s: %.12g, R has %.12g", what, got, want)
				}
			}
			sample := Sample{Y: f.y, Event: f.event, Eta: f.eta}
			switch f.Family {
			case "tweedie":
				l, d := f.sums(Tweedie{f.Power}, f.Phi)
				same("log-likelihood", l, f.LogLik, 1e-8)
				same("dispersion", d/float64(len(f.y)), f.Phi, 1e-12)
				got, err := Estimate(Tweedie{}, sample)
				if err != nil {
					t.Fatal(err)
				}
				// the largest value hangs on p to second order
				same("power", got.(Tweedie).P, f.BestPower, 1e-5)
			case "inverse-gaussian":
				_, d := f.sums(InverseGaussian{}, 1)
				same("deviance", d, f.Deviance, 1e-10)
				l, _ := f.sums(InverseGaussian{}, d/float64(len(f.y)))
				same("log-likelihood", l, f.LogLik, 1e-10)
			case "zip":
				l, _ := f.sums(ZIP{}, 1)
				same("log-likelihood", l, f.LogLik, 1e-10)
			case "cox":
				f.cox(t, same)
			default:
				unknown, err := Parse(f.Family, []string{""})
				if err != nil {
					t.Fatal(err)
				}
				known, err := Estimate(unknown, sample)
				if err != nil {
					t.Fatal(err)
				}
				same("scale", math.Exp(known.(Held).values[0]), f.Scale, 1e-8)
				l, d := f.sums(known, 1)
				same("log-likelihood", l, f.LogLik, 1e-10)
				if f.Event != "" {
					same("deviance", d, f.Deviance, 1e-8)
				}
			}
		})
	}
	if ran < 4 {
		t.Fatalf("%d fits", ran)
	}
}

// cox compares the partial log-likelihood with a cut at every time of an event, and
// Poisson regressions on fewer intervals.
func (f *fit) cox(t *testing.T, same func(what string, got, want, tol float64)) {
	var events []float64
	for i, y := range f.y {
		if f.event[i] == 1 {
			events = append(events, y)
		}
	}
	slices.Sort(events)
	events = slices.Compact(events)
	gain := func(cuts []float64, share float64, breslow bool) (float64, *Hazard) {
		e, err := NewExposure(cuts)
		if err != nil {
			t.Fatal(err)
		}
		for i, y := range f.y {
			if breslow && f.event[i] == 0 { // at risk until the last event before
				at, found := slices.BinarySearch(events, y)
				if !found && at == 0 {
					continue
				} else if !found {
					y = events[at-1]
				}
			}
			e.Add(y, 1, share*f.eta[i], f.event[i] == 1)
		}
		h, err := e.Hazard()
		if err != nil {
			t.Fatal(err)
		}
		return e.LogLik(), h
	}
	full, _ := gain(events, 1, true)
	half, _ := gain(events, 0.5, true)
	null, _ := gain(events, 0, true)
	same("partial log-likelihood against half", full-half, f.Partial-f.PartialHalf, 1e-8)
	same("partial log-likelihood against none", full-null, f.Partial-f.PartialNull, 1e-8)
	full, hazard := gain(f.Cuts, 1, false)
	half, _ = gain(f.Cuts, 0.5, false)
	same("Poisson regression against half", full-half, f.PoissonGain, 1e-8)
	for j, want := range f.LogRates {
		same("log hazard", math.Log(hazard.Rates()[j]), want, 1e-8)
	}
	// The profile is the log-likelihood of the family with that baseline.
	l, _ := f.sums(Cox{Baseline: hazard}, 1)
	same("log-likelihood with the baseline", l, full, 1e-10)
}

// TestEstimateCox: intervals hold about equally many events, and every one some.
func TestEstimateCox(t *testing.T) {
	for _, f := range fits(t) {
		if f.Family != "cox" {
			continue
		}
		got, err := Estimate(Cox{Intervals: 5}, Sample{Y: f.y, Event: f.event, Eta: f.eta})
		if err != nil {
			t.Fatal(err)
		}
		cuts := got.(Cox).Baseline.Cuts()
		count, total := make([]float64, len(cuts)+1), 0.0
		for i, y := range f.y {
			count[intervalOf(cuts, y)] += f.event[i]
			total += f.event[i]
		}
		if len(cuts) != 4 || slices.Min(count) < 0.15*total || slices.Max(count) > 0.25*total {
			t.Errorf("%s: cuts %v with %v events", f.Name, cuts, count)
		}
		if len(Unknown(got)) > 0 || got.Name() != "cox(intervals=5)" {
			t.Errorf("%s, unknown %v", got.Name(), Unknown(got))
		}
	}
}

// TestExposureMerges: sums of shards are those of all rows, up to rounding of additions.
func TestExposureMerges(t *testing.T) {
	all, err := NewExposure([]float64{1, 2.5})
	if err != nil {
		t.Fatal(err)
	}
	total := all.New()
	for shard := range 3 {
		part := all.New()
		for i := shard; i < 30; i += 3 {
			part.Add(0.2+float64(i)/8, 1+float64(i%2), math.Sin(float64(i)), i%4 > 0)
		}
		if err := total.Merge(part); err != nil {
			t.Fatal(err)
		}
	}
	for i := range 30 {
		all.Add(0.2+float64(i)/8, 1+float64(i%2), math.Sin(float64(i)), i%4 > 0)
	}
	if a, b := all.LogLik(), total.LogLik(); math.Abs(a-b) > 1e-12*math.Abs(a) {
		t.Errorf("all rows %v, shards %v", a, b)
	}
	other, _ := NewExposure([]float64{1})
	if err := total.Merge(other); err == nil {
		t.Error("sums over other intervals were added")
	}
	for _, cuts := range [][]float64{{0}, {-1, 2}, {2, 2}, {3, 1}, {math.Inf(1)}, {math.NaN()}} {
		if _, err := NewExposure(cuts); err == nil {
			t.Errorf("cuts %v", cuts)
		}
	}
}

// TestEmptyInterval: an interval without events has hazard 0, one that rows end in or not.
func TestEmptyInterval(t *testing.T) {
	e, err := NewExposure([]float64{1, 2, 3})
	if err != nil {
		t.Fatal(err)
	}
	for _, y := range []float64{0.5, 0.7, 2.5} {
		e.Add(y, 1, 0.2, true)
	}
	e.Add(1.5, 1, 0, false)
	h, err := e.Hazard()
	if err != nil {
		t.Fatal(err)
	}
	f := Cox{Baseline: h}
	if r := h.Rates(); r[1] != 0 || r[3] != 0 || !(r[0] > 0 && r[2] > 0) {
		t.Errorf("rates %v", r)
	}
	if l := f.LogLik(1.5, 1, []float64{0}, 1); !math.IsInf(l, -1) {
		t.Errorf("an event where the hazard is 0: %v", l)
	}
	if m := f.Mean([]float64{0}); !(m > 0.5 && m < 10) {
		t.Errorf("mean %v", m)
	}
	none := e.New()
	none.Add(1, 1, 0, false)
	if _, err := none.Hazard(); err == nil {
		t.Error("a baseline without events")
	}
	wild := e.New()
	wild.Add(1, 1, 800, true)
	if _, err := wild.Hazard(); err == nil {
		t.Error("a baseline of infinite hazard ratios")
	}
}

// TestEstimateRefuses: what no estimate can be had of.
func TestEstimateRefuses(t *testing.T) {
	weibull, err := Parse("weibull", []string{""})
	if err != nil {
		t.Fatal(err)
	}
	one := []float64{1, 2}
	for want, c := range map[string]struct {
		f Family
		s Sample
	}{
		"family weibull: every row of positive weight is censored":        {weibull, Sample{Y: one, Eta: one, Event: []float64{0, 0}}},
		"family cox: every row of positive weight is censored":            {Cox{}, Sample{Y: one, W: []float64{0, 1}, Eta: one, Event: []float64{1, 0}}},
		"family tweedie knows no censored responses":                      {Tweedie{}, Sample{Y: one, Eta: one, Event: []float64{1, 0}}},
		"family weibull: 2 responses, 0 weights, 1 events and 2":          {weibull, Sample{Y: one, Eta: one, Event: []float64{1}}},
		"row 0: family weibull: response 0 is outside":                    {weibull, Sample{Y: []float64{0, 1}, Eta: one}},
		"row 1: family tweedie: response -1 is outside":                   {Tweedie{}, Sample{Y: []float64{0, -1}, Eta: one}},
		"family cox: hazard ratios add up to +Inf in the time up to 0: t": {Cox{}, Sample{Y: one, Eta: []float64{800, 800}}},
		"family tweedie: the log-likelihood is not finite: give p":        {Tweedie{}, Sample{Y: one, Eta: []float64{-1e9, 1e9}}},
	} {
		if _, err := Estimate(c.f, c.s); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
	for _, v := range []float64{2, -1, 0.5, math.NaN(), math.Inf(1)} {
		if CheckEvent(v) == nil {
			t.Errorf("event %v", v)
		}
	}
}
