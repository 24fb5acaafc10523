package online

import (
	"cmp"
	"encoding/json"
	"math"
	"slices"

	"github.com/valyala/fasthttp"

	"github.com/pho-go/pho/report"
)

// What explain answers: the fields of `pho explain --json`, and reasons.
type explanation struct {
	Model   string         `json:"model_name"`
	Version string         `json:"model_version"`
	ID      string         `json:"id,omitempty"`
	Dropped int            `json:"dropped,omitempty"`
	Rows    []explainedRow `json:"rows"`
}

type explainedRow struct {
	Row        int                  `json:"row"`
	Predictors []explainedPredictor `json:"predictors"`
	Response   []responseValue      `json:"response,omitempty"`
}

type explainedPredictor struct {
	Name         string          `json:"name"`
	Intercept    float64         `json:"intercept"`
	Terms        []explainedTerm `json:"terms,omitempty"`
	Unstructured float64         `json:"unstructured"`
	Eta          float64         `json:"eta"`
	Reasons      []reason        `json:"reasons,omitempty"`
}

type explainedTerm struct {
	Term         string   `json:"term"`
	Contribution float64  `json:"contribution"`
	SE           *float64 `json:"se,omitempty"`
}

// reason is a term that moves the prediction far.
type reason struct {
	Term         string  `json:"term"`
	Label        string  `json:"label"`
	Contribution float64 `json:"contribution"`
}

type responseValue struct {
	Name  string  `json:"name"`
	Value float64 `json:"value"`
}

// writeExplained answers explain.
func (s *Server) writeExplained(c *fasthttp.RequestCtx, d *desk, g *generation, j *job) error {
	out := explanation{Model: d.response.Model, Version: g.version, ID: d.request.ID, Dropped: j.dropped, Rows: []explainedRow{}}
	for i := range j.rows.Len() {
		out.Rows = append(out.Rows, g.explained(j, i, d.asked.reasons))
	}
	text, err := json.Marshal(out)
	if err != nil {
		return err
	}
	c.Response.Header.SetContentType("application/json")
	c.Response.SetBody(append(text, '\n'))
	return nil
}

func (g *generation) explained(j *job, i, reasons int) explainedRow {
	row := explainedRow{Row: i + 1}
	at := 0
	next := func() float64 { at++; return j.parts[at-1][i] }
	var eta []float64
	r := g.Result()
	for k := range r.Predictors {
		p := explainedPredictor{Name: r.Predictors[k].Name, Intercept: next()}
		for l := range r.Predictors[k].Terms {
			t := &r.Predictors[k].Terms[l]
			term := explainedTerm{Term: t.Name, Contribution: next()}
			if j.se {
				if se := next(); !math.IsNaN(se) {
					term.SE = &se
				}
			}
			p.Terms = append(p.Terms, term)
			p.Reasons = append(p.Reasons, reason{t.Name, r.Labels.Term(t.LabelTerm()), term.Contribution})
		}
		p.Unstructured, p.Eta = next(), next()
		slices.SortStableFunc(p.Reasons, func(a, b reason) int { return cmp.Compare(math.Abs(b.Contribution), math.Abs(a.Contribution)) })
		p.Reasons = p.Reasons[:min(reasons, len(p.Reasons))]
		eta = append(eta, p.Eta)
		row.Predictors = append(row.Predictors, p)
	}
	for _, v := range report.Responses(r, eta, nil) {
		row.Response = append(row.Response, responseValue(v))
	}
	return row
}
