package drift_test

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/decompose"
	"github.com/pho-go/pho/drift"
)

func bytesOf(t testing.TB, s *drift.State) string {
	t.Helper()
	var b bytes.Buffer
	if err := s.Write(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// source is a state of one source: rows of several periods with weights, far from 0.
func source(t testing.TB, seed uint64, settings drift.Settings) *drift.State {
	r := rand.New(rand.NewPCG(seed, 1))
	n := 200 + int(seed)*37
	parts, rows := draw{weights: true, shift: 5, shape: student(3)}.parts(r, n)
	rows.Periods = make([]string, n)
	if settings.Cluster != "" {
		rows.Clusters = make([]string, n)
	}
	for i := range n {
		rows.Periods[i] = fmt.Sprintf("2026-01-%02d", 1+r.IntN(3))
		if rows.Clusters != nil {
			rows.Clusters[i] = fmt.Sprint(r.IntN(20))
		}
	}
	s := newState(t, simulatedTerms, settings)
	add(t, s, fmt.Sprint("file ", seed), parts, rows)
	return s
}

var byDay = drift.Settings{Time: "t", By: drift.Day, Weights: "w"}

// Sources merge in any order and grouping to the same bytes, also after a state has been
// written and read; and days to months.
func TestAnyOrderOfMerging(t *testing.T) {
	const sources = 7
	merged := func(order []int, group int) *drift.State {
		total := newState(t, simulatedTerms, byDay)
		for len(order) > 0 {
			part := newState(t, simulatedTerms, byDay)
			for _, i := range order[:min(group, len(order))] {
				if err := part.Merge(source(t, uint64(i), byDay)); err != nil {
					t.Fatal(err)
				}
			}
			again, err := drift.Read(strings.NewReader(bytesOf(t, part)))
			if err != nil {
				t.Fatal(err)
			}
			if err := total.Merge(again); err != nil {
				t.Fatal(err)
			}
			order = order[min(group, len(order)):]
		}
		return total
	}
	r := rand.New(rand.NewPCG(1, 2))
	want := merged(r.Perm(sources), 1)
	text := bytesOf(t, want)
	month, err := want.Rolled(drift.Month)
	if err != nil {
		t.Fatal(err)
	}
	for group := 1; group < 5; group++ {
		got := merged(r.Perm(sources), group)
		if bytesOf(t, got) != text {
			t.Fatalf("in groups of %d: other bytes", group)
		}
		rolled, err := got.Rolled(drift.Month)
		if err != nil || bytesOf(t, rolled) != bytesOf(t, month) {
			t.Fatalf("months differ (%v)", err)
		}
	}
	if len(want.Sources()) != sources || len(want.Periods()) != 3 || len(month.Periods()) != 1 {
		t.Errorf("%d sources, periods %q", len(want.Sources()), want.Periods())
	}
}

// How rows come in batches does not matter.
func TestBatchesDoNotMatter(t *testing.T) {
	for _, settings := range []drift.Settings{{}, {Block: 7}, {Cluster: "g"}} {
		r := rand.New(rand.NewPCG(3, 4))
		parts, rows := draw{}.parts(r, 3000)
		if settings.Cluster != "" {
			for i := range 3000 {
				rows.Clusters = append(rows.Clusters, fmt.Sprint(i%40))
			}
		}
		want := newState(t, simulatedTerms, settings)
		add(t, want, "s", parts, rows)
		got := newState(t, simulatedTerms, settings)
		a, err := got.Begin(drift.Source{ID: "s"})
		if err != nil {
			t.Fatal(err)
		}
		for i := 0; i < 3000; {
			j := min(3000, i+1+r.IntN(400))
			if err := a.Add(cut(parts, rows, i, j)); err != nil {
				t.Fatal(err)
			}
			i = j
		}
		if err := a.End(); err != nil || bytesOf(t, got) != bytesOf(t, want) {
			t.Errorf("%+v: other bytes (%v)", settings, err)
		}
	}
}

// cut is rows i to j-1.
func cut(p *decompose.Parts, rows drift.Rows, i, j int) (*decompose.Parts, drift.Rows) {
	own := p.Predictors[0]
	own.Terms = own.Terms.Slice(i, j, 0, simulatedTerms).(*mat.Dense)
	own.Unstructured, own.Eta = own.Unstructured[i:j], own.Eta[i:j]
	if rows.Clusters != nil {
		rows.Clusters = rows.Clusters[i:j]
	}
	return &decompose.Parts{Batch: data.NewBatch(j-i, int64(i)), Predictors: []decompose.PredictorParts{own}}, rows
}

// Means, covariances and their errors are those that a second look at the rows gives; changes
// are the sums of the parts' changes.
func TestFiguresByHand(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	settings := drift.Settings{Weights: "w", Cluster: "g", Response: "y"}
	s := newState(t, simulatedTerms, settings)
	byHand := map[string]handFigures{}
	for _, period := range []string{"a", "b"} {
		parts, rows := draw{weights: true, shift: 3}.parts(r, 500)
		rows.Period = period
		for range 500 {
			rows.Clusters = append(rows.Clusters, fmt.Sprint(r.IntN(60)))
		}
		for i, rest := range parts.Predictors[0].Unstructured { // as if errors were a part
			rows.Errors, rows.Losses = append(rows.Errors, parts.Predictors[0].Row(i)[0]), append(rows.Losses, rest)
		}
		add(t, s, period, parts, rows)
		byHand[period] = hand(parts, rows, 0)
	}
	report, err := s.Report("")
	if err != nil {
		t.Fatal(err)
	}
	near := func(what string, got *float64, want float64) {
		t.Helper()
		if got == nil || math.Abs(*got-want) > 1e-12*max(1, math.Abs(want)) {
			t.Errorf("%s: %v, want %v", what, got, want)
		}
	}
	p := &report.Changes[0].Predictors[0]
	a, b := byHand["a"], byHand["b"]
	first := p.Parts[0]
	near("mean of a", first.Mean.Reference, a.mean)
	near("mean of b", first.Mean.Period, b.mean)
	near("share of b", first.Share.Period, b.share)
	for i, m := range []*drift.Moments{&report.With.Predictors[0], &report.Periods[1].Predictors[0]} {
		want := []handFigures{a, b}[i]
		near("variance of the mean", &m.MeanVariance[0], want.meanVariance)
		near("variance of the share", &m.ShareVariance[0], want.shareVariance)
		if apart := math.Sqrt(a.meanVariance + b.meanVariance); *first.Mean.SE < apart*(1-1e-12) {
			t.Errorf("standard error %g is less than %g", *first.Mean.SE, apart)
		}
	}
	fit, last := report.Changes[0].Fit, p.Parts[simulatedTerms]
	for _, same := range [][2]drift.Figure{{fit.Error, first.Mean}, {fit.Loss, last.Mean}} {
		near("error or loss", same[0].Change, *same[1].Change)
		near("its standard error", same[0].SE, *same[1].SE)
	}
	mean, variance := 0.0, 0.0
	for _, part := range p.Parts {
		mean += *part.Mean.Change
		variance += *part.Share.Change
	}
	near("sum of the means' changes", &mean, *p.Mean.Change)
	near("sum of the shares' changes", &variance, *p.Variance.Change)
}

type handFigures struct{ mean, share, meanVariance, shareVariance float64 }

// hand computes the figures of a part by their definitions.
func hand(parts *decompose.Parts, rows drift.Rows, part int) handFigures {
	p := &parts.Predictors[0]
	n := len(p.Eta)
	var w, squares, mean, eta, share float64
	for i := range n {
		v := rows.Weights[i]
		w, squares = w+v, squares+v*v
		mean, eta = mean+v*p.Row(i)[part], eta+v*p.Eta[i]
	}
	mean, eta = mean/w, eta/w
	for i := range n {
		share += rows.Weights[i] * (p.Row(i)[part] - mean) * (p.Eta[i] - eta) / w
	}
	byMean, byShare := map[string]float64{}, map[string]float64{}
	for i, g := range rows.Clusters {
		v := rows.Weights[i]
		byMean[g] += v * (p.Row(i)[part] - mean)
		byShare[g] += v * ((p.Row(i)[part]-mean)*(p.Eta[i]-eta) - share)
	}
	out := handFigures{mean: mean}
	for g := range byMean {
		out.meanVariance += byMean[g] * byMean[g] / (w * w)
		out.shareVariance += byShare[g] * byShare[g] / (w * w)
	}
	groups, unbiased := float64(len(byMean)), 1/(1-squares/(w*w))
	out.share = share * unbiased
	out.meanVariance *= groups / (groups - 1)
	out.shareVariance *= groups / (groups - 1) * unbiased * unbiased
	return out
}

// What does not fit leaves the state as it was.
func TestRefused(t *testing.T) {
	s := source(t, 1, byDay)
	before := bytesOf(t, s)
	var twice *drift.TwiceError
	if err := s.Merge(source(t, 1, byDay)); !errors.As(err, &twice) || !strings.Contains(err.Error(), "would count twice") {
		t.Errorf("error %v", err)
	}
	if _, err := s.Begin(drift.Source{ID: "file 1"}); !errors.As(err, &twice) {
		t.Errorf("error %v", err)
	}
	if err := s.Merge(source(t, 2, drift.Settings{Time: "t", By: drift.Hour})); err == nil || !strings.Contains(err.Error(), "periods by hour") {
		t.Errorf("error %v", err)
	}
	of := described(simulatedTerms)
	of.SHA256 = "y"
	other, err := drift.New(of, byDay)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Merge(other); err == nil || !strings.Contains(err.Error(), "different decompositions") {
		t.Errorf("error %v", err)
	}
	of = described(simulatedTerms - 1)
	if other, err = drift.New(of, byDay); err != nil {
		t.Fatal(err)
	}
	if _, err := s.ReportOf(other, "2026-01-01..2026-01-02"); err == nil || !strings.Contains(err.Error(), "other parts or columns") {
		t.Errorf("error %v", err)
	}
	r := rand.New(rand.NewPCG(1, 1))
	for want, spoil := range map[string]func(p *decompose.Parts, rows *drift.Rows){
		"data row 3: the value":            func(p *decompose.Parts, _ *drift.Rows) { p.Predictors[0].Eta[3] = math.NaN() },
		`data row 4: term "s(x2)"`:         func(p *decompose.Parts, _ *drift.Rows) { p.Predictors[0].Row(4)[2] = math.Inf(1) },
		"data row 5: its weight":           func(_ *decompose.Parts, rows *drift.Rows) { rows.Weights = make([]float64, 10); rows.Weights[5] = -1 },
		"another number of rows":           func(_ *decompose.Parts, rows *drift.Rows) { rows.Periods = []string{"a"} },
		"cannot name a period":             func(_ *decompose.Parts, rows *drift.Rows) { rows.Period = "" },
		"rows have errors and losses":      func(_ *decompose.Parts, rows *drift.Rows) { rows.Errors = make([]float64, 10) },
		"rows have clusters if":            func(_ *decompose.Parts, rows *drift.Rows) { rows.Clusters = make([]string, 10) },
		"parts of 0 predictors":            func(p *decompose.Parts, _ *drift.Rows) { p.Predictors = nil },
		"not those of the state's":         func(p *decompose.Parts, _ *drift.Rows) { p.Predictors[0].Terms.Reset() },
		"a sum is beyond the largest numb": func(p *decompose.Parts, _ *drift.Rows) { p.Predictors[0].Eta[3] = 1e300 },
	} {
		parts, rows := draw{}.parts(r, 10)
		spoil(parts, &rows)
		a, err := s.Begin(drift.Source{ID: "new"})
		if err != nil {
			t.Fatal(err)
		}
		err = a.Add(parts, rows)
		if err == nil {
			err = a.End()
		}
		if err == nil || !strings.Contains(err.Error(), want) || a.End() == nil {
			t.Errorf("%s: error %v", want, err)
		}
	}
	if bytesOf(t, s) != before {
		t.Error("the state is another one")
	}
}

// One row has no variance, and so no test; what is constant in both periods has not changed.
func TestFewRows(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	s := newState(t, simulatedTerms, drift.Settings{})
	for i, n := range []int{1, 3, 200} {
		parts, rows := draw{}.parts(r, n)
		rows.Period = fmt.Sprint(n)
		for i := range n {
			parts.Predictors[0].Row(i)[4] = 0.1
		}
		add(t, s, fmt.Sprint(i), parts, rows)
	}
	report, err := s.Report("200")
	if err != nil {
		t.Fatal(err)
	}
	one, three := report.Changes[0], report.Changes[1]
	if p := one.Predictors[0]; p.Mean.Change == nil || p.Mean.P != nil || p.Variance.Change != nil || one.Drift() || len(one.Notes) != 1 {
		t.Errorf("one row: %+v, notes %q", p, one.Notes)
	}
	if p := three.Predictors[0].Parts[4]; *p.Mean.P != 1 || p.Mean.Drift || *p.Share.P != 1 || len(three.Notes) != 1 {
		t.Errorf("a constant: %+v %+v, notes %q", p.Mean, p.Share, three.Notes)
	}
	if _, err := newState(t, 1, drift.Settings{}).Report(""); err == nil {
		t.Error("a report of nothing")
	}
	if _, err := s.Period("x"); err == nil || !strings.Contains(err.Error(), `there are 3 from "1" to "3"`) {
		t.Errorf("error %v", err)
	}
}

// Blocks are clusters of consecutive rows, the last of them what is left.
func TestBlocks(t *testing.T) {
	var periods []*drift.Period
	for _, settings := range []drift.Settings{{Block: 7}, {Cluster: "g"}} {
		parts, rows := draw{memory: 0.5}.parts(newRand(), 500)
		for i := range 500 {
			if settings.Cluster != "" {
				rows.Clusters = append(rows.Clusters, fmt.Sprint(i/7))
			}
		}
		s := newState(t, simulatedTerms, settings)
		add(t, s, "s", parts, rows)
		p, err := s.Period("a")
		if err != nil {
			t.Fatal(err)
		}
		periods = append(periods, p)
	}
	a, b := &periods[0].Predictors[0], &periods[1].Predictors[0]
	for j := range a.Mean {
		if math.Abs(a.MeanVariance[j]-b.MeanVariance[j]) > 1e-14 || math.Abs(a.ShareVariance[j]-b.ShareVariance[j]) > 1e-12 || a.MeanVariance[j] == 0 {
			t.Errorf("part %d: %g and %g, %g and %g", j, a.MeanVariance[j], b.MeanVariance[j], a.ShareVariance[j], b.ShareVariance[j])
		}
	}
	if periods[0].Clusters != 72 || periods[1].Clusters != 72 || math.Abs(periods[0].Effective-periods[1].Effective) > 1e-9 {
		t.Errorf("%d and %d clusters", periods[0].Clusters, periods[1].Clusters)
	}
}

// Rounding does not grow with the rows.
func TestManyRows(t *testing.T) {
	const n = 400_000
	p := decompose.PredictorParts{Intercept: 2, Terms: new(mat.Dense), Unstructured: make([]float64, n), Eta: make([]float64, n)}
	for i := range n {
		p.Unstructured[i], p.Eta[i] = 0.1, 2.1
	}
	s := newState(t, 0, drift.Settings{})
	add(t, s, "s", &decompose.Parts{Batch: data.NewBatch(n, 0), Predictors: []decompose.PredictorParts{p}}, drift.Rows{Period: "a"})
	got, err := s.Period("a")
	if err != nil {
		t.Fatal(err)
	}
	if m := got.Predictors[0].Mean[0]; math.Abs(m-0.1) > 2e-14 {
		t.Errorf("the mean of %d times 0.1 is %.17g", n, m)
	}
}

// A decomposition is another one if a coefficient is.
func TestDescribe(t *testing.T) {
	of := func(alpha float64) drift.Decomposition {
		r := &decompose.Result{Predictors: []decompose.Predictor{{Name: "eta", Intercept: 1, Terms: []decompose.TermResult{{Name: "x", Features: []string{"x"}, Alpha: []float64{alpha}}}}}}
		r.Features = []decompose.Feature{{Name: "x", Max: 50, Quantiles: make([]float64, 51)}, {Name: "g", Levels: []string{"b", "a"}}, {Name: "unknown"}}
		for i := range r.Features[0].Quantiles {
			r.Features[0].Quantiles[i] = float64(i)
		}
		d, err := drift.Describe(r, "n")
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	a, same, b := of(1), of(1), of(1.5)
	if a.SHA256 != same.SHA256 || a.SHA256 == b.SHA256 {
		t.Errorf("%q, again %q, of another coefficient %q", a.SHA256, same.SHA256, b.SHA256)
	}
	if len(a.Features) != 2 || !slices.Equal(a.Features[0].Edges, []float64{5, 10, 15, 20, 25, 30, 35, 40, 45}) || !slices.Equal(a.Features[1].Levels, []string{"a", "b"}) {
		t.Errorf("%+v", a.Features)
	}
	if _, err := drift.Describe(&decompose.Result{Predictors: []decompose.Predictor{{Intercept: math.NaN()}}}, ""); err == nil {
		t.Error("an intercept that is no number")
	}
}
