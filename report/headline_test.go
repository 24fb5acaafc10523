package report_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/pho-go/pho/decompose"
	"github.com/pho-go/pho/drift"
	"github.com/pho-go/pho/family"
	"github.com/pho-go/pho/label"
	"github.com/pho-go/pho/report"
)

// TestHeadlineSays what is predicted, in which unit, and how well, for every kind of response; statisticians'
// words stay further down.
func TestHeadlineSays(t *testing.T) {
	half, eighth, most := 0.512, 12.345, 0.8
	hazard, time := family.Cox{}.Link(0), family.Link{Name: "identity of log time"}
	cases := map[string]struct {
		set  func(r *decompose.Result)
		want []string
	}{
		"a title":     {func(r *decompose.Result) { r.Title = "Rents <of> 2026" }, []string{"Rents &lt;of&gt; 2026"}},
		"no response": {func(r *decompose.Result) { r.Response, r.Prediction = "", nil }, []string{"What net.onnx computes", "computes one number from 3 columns. What that predicts, and how well, was not said"}},
		"a mean":      {func(r *decompose.Result) {}, []string{"The model net.onnx predicts y from 3 columns.", "explains 51 % of the differences in y; its typical error is 12.", "What moves y"}},
		"with a unit": {func(r *decompose.Result) {
			r.Labels = &label.Labels{Columns: map[string]label.Column{"y": {Name: "rent", Unit: "EUR"}}}
		}, []string{"predicts rent (EUR)", "its typical error is 12 EUR.", "difference in rent (EUR)"}},
		"counts":   {func(r *decompose.Result) { r.Predictors[0].Link = &family.Link{Name: "log", Of: family.Mean} }, []string{"predicts y from", "in a row whose other columns count as they do on average"}},
		"a chance": {func(r *decompose.Result) { r.Predictors[0].Link = &family.Link{Name: "logit", Of: family.Probability} }, []string{"predicts the probability of y", "explains 51 % of the differences in y.", "(in log-odds)"}},
		"a hazard": {func(r *decompose.Result) { r.Event, r.Predictors[0].Link = "death", &hazard }, []string{"predicts the hazard of death", "hazard ratio"}},
		"a time":   {func(r *decompose.Result) { r.Event, r.Predictors[0].Link = "death", &time }, []string{"predicts the time y until death from", "ratio of y"}},
		"ordered":  {func(r *decompose.Result) { r.Predictors[0].Link = &family.Link{Name: "cumulative logit"} }, []string{"among the ordered classes of y", "What moves the log-odds of a higher y", "difference in log-odds"}},
		"censored": {func(r *decompose.Result) {
			r.Event, r.Predictors[0].Link, r.Prediction = "death", &hazard, &decompose.Prediction{Concordance: &most, LogLikGain: &half}
		}, []string{"it tells which has its event first in 80 % of the cases (C-index; guessing: 50 %)", "The concordance (Harrell&#39;s C) is 0.8"}},
		"no name":      {func(r *decompose.Result) { r.Model = json.RawMessage(`{"path": "net/model.onnx"}`) }, []string{"y, as the model predicts it", "The model predicts y."}},
		"worse":        {func(r *decompose.Result) { r.Prediction.Worse = true }, []string{"worse than a constant does: the columns may be at the wrong places"}},
		"some classes": {func(r *decompose.Result) { r.Prediction = &decompose.Prediction{Accuracy: &most, Frequent: &half} }, []string{"its most probable class is right in 80 %; the most frequent class would be in 51 %"}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			r, a := everything(t)
			r.Model = json.RawMessage(`{"path": "a/net.onnx", "inputs": {"x": ["x0", "x1", "x2"]}}`)
			r.Predictors[0].Link = &family.Link{Name: "identity", Of: family.Mean}
			r.Prediction = &decompose.Prediction{R2: &half, RMSE: &eighth}
			c.set(r)
			page := text(pageOf(t, r, effectsOf(t, r, a)))
			head := page[:strings.Index(page, "For statisticians: eta")]
			for _, w := range c.want {
				if !strings.Contains(page, w) {
					t.Errorf("the page does not say %q: %s", w, head[:min(len(head), 600)])
				}
			}
			head = page[:strings.Index(page, "find ")] + page[strings.Index(page, "What moves "):strings.Index(page, "What matters most By how far")] // without the controls
			for _, word := range []string{"edf", "PHOGAM", "predictor", "projection", "structured", "X'WX", "R²"} {
				if strings.Contains(head, word) {
					t.Errorf("the headline says %q: %s", word, head)
				}
			}
		})
	}
}

// TestMonitorSaysNewsFirst: what the last period's predictions do, and through which parts.
func TestMonitorSaysNewsFirst(t *testing.T) {
	num := func(v float64) *float64 { return &v }
	figure := func(change float64, drifted bool) drift.Figure {
		return drift.Figure{Change: num(change), Ratio: num(change), Adjusted: num(0.01), Drift: drifted}
	}
	moments := func(mean float64) []drift.Moments {
		return []drift.Moments{{Mean: []float64{mean, 0.1, 0, mean}, MeanVariance: []float64{1e-4, 1e-4, 1e-4, 1e-4}, Share: []float64{0.5, 0.1, 0.1, 0.7}}}
	}
	r := &drift.Report{Reference: "January", Of: drift.Decomposition{Predictors: []drift.Predictor{{Name: "eta", Terms: []drift.Term{{Name: "s(x)", Features: []string{"x"}}, {Name: "z", Features: []string{"z"}}}}}}}
	for _, name := range []string{"January", "February"} {
		r.Periods = append(r.Periods, &drift.Period{Name: name, Rows: 100, Predictors: moments(float64(len(name)))})
	}
	r.With = r.Periods[0]
	part := func(name string, change float64, drifted bool) drift.PartChange {
		return drift.PartChange{Name: name, Mean: figure(change, drifted), Share: figure(0, false)}
	}
	change := &drift.Change{Reference: "January", Period: "February", Predictors: []drift.PredictorChange{{
		Name: "eta", Mean: figure(1.5, true), Variance: figure(0, false),
		Parts: []drift.PartChange{part("s(x)", 1.5, true), part("z", 0, false), part(drift.Unstructured, 0, false)},
	}}}
	r.Changes = []*drift.Change{change}
	page := func() string {
		var b bytes.Buffer
		must(t, report.WriteDrift(&b, r))
		return b.String()
	}
	read := text(page())
	if lead := "In February predictions are on average 1.50 higher than in January, through x &#43;1.50."; !strings.Contains(read, lead) {
		t.Errorf("no %q in %s", lead, read[:300])
	}
	if !strings.Contains(read, "2 parts that drift in no period") || strings.Index(read, "s(x) drift above in 1") > strings.Index(read, "2 parts that drift") {
		t.Errorf("what did not drift is not apart: %s", read)
	}
	r.Of.Predictors[0].Terms[1].Features = []string{"x"} // as a line beside a smooth: columns name no term then
	if read := text(page()); !strings.Contains(read, "through s(x) &#43;1.50.") {
		t.Errorf("two terms of one column: %s", read[:300])
	}
	change.Predictors[0].Mean.Drift, change.Predictors[0].Parts[0].Mean.Drift = false, false
	if read := text(page()); !strings.Contains(read, "No news of February: nothing differs from January by more than chance.") {
		t.Errorf("news of nothing: %s", read[:300])
	}
}
