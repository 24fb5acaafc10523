package online

import (
	"cmp"
	"context"
	"encoding/json"
	"math"
	"slices"
	"strings"

	"github.com/valyala/fasthttp"

	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/decompose"
	"github.com/pho-go/pho/label"
	"github.com/pho-go/pho/report"
)

// explanation is what explain answers: rows as `pho explain --json` has them, and reasons.
type explanation struct {
	Model   string                `json:"model_name"`
	Version string                `json:"model_version"`
	ID      string                `json:"id,omitempty"`
	Rows    []report.ExplainedRow `json:"rows"`
	Unseen  []data.UnseenLevel    `json:"unseen,omitempty"` // levels that training did not have
}

// group is terms of a predictor that are told as one, as only their sum is identified.
type group struct {
	terms    []int
	names    []string
	features []string
	label    string
}

// groupsOf are those of predictor k; a sum stands where its first term would.
func groupsOf(r *decompose.Result, k int) (groups []group) {
	p := &r.Predictors[k]
	place := map[string]int{} // of a term's name, the sum that has it
	for j := range p.Terms {
		t := &p.Terms[j]
		at, known := place[t.Name]
		if !known {
			at = len(groups)
			groups = append(groups, group{names: []string{t.Name}})
			for _, e := range p.Entangled {
				if slices.Contains(e.Terms, t.Name) {
					groups[at].names = e.Terms
				}
			}
			for _, name := range groups[at].names {
				place[name] = at
			}
		}
		g := &groups[at]
		g.terms = append(g.terms, j)
		for _, f := range t.Features {
			if !slices.Contains(g.features, f) {
				g.features = append(g.features, f)
			}
		}
		if g.label != "" {
			g.label += " + "
		}
		g.label += r.Labels.Term(t.LabelTerm())
	}
	return groups
}

// explained answers explain with the rows of a job.
func (s *Server) explained(c *fasthttp.RequestCtx, d *desk, g *generation) error {
	out := explanation{Model: d.response.Model, Version: g.version, ID: d.request.ID, Unseen: d.job.split.Unseen}
	var err error
	if out.Rows, err = g.explainRows(d); err != nil {
		return err
	}
	text, err := json.Marshal(out)
	if err != nil {
		return err
	}
	c.Response.Header.SetContentType("application/json")
	c.Response.SetBody(append(text, '\n'))
	return nil
}

// explainRows explains the rows of the job at a desk.
func (g *generation) explainRows(d *desk) ([]report.ExplainedRow, error) {
	ctx, cancel := context.WithDeadline(context.Background(), d.job.deadline)
	defer cancel()
	sums, err := g.sumErrors(ctx, &d.job)
	if err != nil {
		return nil, err
	}
	out := []report.ExplainedRow{}
	for i := range d.job.rows.Len() {
		out = append(out, g.row(&d.job, sums, i, d.asked.reasons))
	}
	return out, nil
}

// sumErrors are the standard errors that the parts do not have: of sums, and of several
// networks. By predictor and group; nil: the part's own.
func (g *generation) sumErrors(ctx context.Context, j *job) ([][][]float64, error) {
	out := make([][][]float64, len(g.shape.groups))
	for k, groups := range g.shape.groups {
		out[k] = make([][]float64, len(groups))
		for l, own := range groups {
			if !j.how.SE || len(own.terms) == 1 && g.Result().Networks == nil {
				continue
			}
			var err error
			if out[k][l], err = g.SumErrors(ctx, j.rows, j.how, k, own.terms); err != nil {
				return nil, err
			}
		}
	}
	return out, nil
}

// row is row i of a job, with its most important reasons.
func (g *generation) row(j *job, sums [][][]float64, i, reasons int) report.ExplainedRow {
	row := report.ExplainedRow{Row: int64(i + 1), Predictors: []report.ExplainedPredictor{}}
	r := g.Result()
	width := 1 // of a term
	if j.how.SE {
		width = 2
	}
	at := 0 // the predictor's first part
	var eta []float64
	for k := range r.Predictors {
		p := &r.Predictors[k]
		last := at + 1 + width*len(p.Terms)
		own := report.ExplainedPredictor{Name: p.Name, Intercept: j.split.Parts[at][i], Unstructured: j.split.Parts[last][i], Eta: j.split.Parts[last+1][i], Terms: []report.ExplainedTerm{}}
		if own.Label = r.Labels.Predictor(p.Name); own.Label == p.Name {
			own.Label = ""
		}
		if math.IsNaN(own.Eta) {
			return report.ExplainedRow{Row: int64(i + 1), Dropped: true, Predictors: row.Predictors}
		}
		for l, group := range g.shape.groups[k] {
			t := report.ExplainedTerm{Terms: group.names}
			for _, term := range group.terms {
				t.Contribution += j.split.Parts[at+1+width*term][i]
			}
			switch {
			case sums[k][l] != nil:
				t.SE = finite(sums[k][l][i])
			case j.how.SE:
				t.SE = finite(j.split.Parts[at+2+width*group.terms[0]][i])
			}
			for _, f := range group.features {
				if text := j.rows.Text(f, i); text != "" {
					if t.Values == nil {
						t.Values = map[string]string{}
					}
					t.Values[f] = text
				}
			}
			own.Terms = append(own.Terms, t)
		}
		own.Reasons = reasonsOf(own.Terms, g.shape.groups[k], r.Labels, reasons)
		at = last + 2
		eta = append(eta, own.Eta)
		row.Predictors = append(row.Predictors, own)
	}
	row.Response = report.Responses(r, eta, nil)
	return row
}

// finite is nil for what is no number.
func finite(v float64) *float64 {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return nil
	}
	return &v
}

// reasonsOf are the most of the terms, the largest in absolute value first.
func reasonsOf(terms []report.ExplainedTerm, groups []group, labels *label.Labels, most int) []report.Reason {
	order := make([]int, len(terms))
	for l := range order {
		order[l] = l
	}
	slices.SortStableFunc(order, func(a, b int) int {
		return cmp.Compare(math.Abs(terms[b].Contribution), math.Abs(terms[a].Contribution))
	})
	out := []report.Reason{}
	for _, l := range order[:min(most, len(order))] {
		var values []string
		for _, f := range groups[l].features {
			if v := terms[l].Values[f]; v != "" {
				values = append(values, labels.Feature(f)+" = "+labels.ValueText(f, v))
			}
		}
		out = append(out, report.Reason{Label: groups[l].label, Values: strings.Join(values, ", "), Contribution: terms[l].Contribution, SE: terms[l].SE})
	}
	return out
}
