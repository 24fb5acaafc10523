package command

import (
	"encoding/json"
	"io"
	"math"

	"github.com/pho-go/pho/decompose"
	"github.com/pho-go/pho/importance"
)

// summaryJSON is a summary as a document: what `pho summary` prints, all of it, by the names
// of the data. Numbers that are not known are left out.
type summaryJSON struct {
	Family     string                 `json:"family,omitempty"`
	Link       string                 `json:"link,omitempty"`
	Response   string                 `json:"response,omitempty"`
	Rows       int64                  `json:"rows"`
	Method     string                 `json:"method"`
	Smoothing  string                 `json:"smoothing,omitempty"`
	Bands      string                 `json:"bands,omitempty"`
	Formulas   []string               `json:"formulas,omitempty"`
	Predictors []summaryPredictorJSON `json:"predictors"`
	Prediction *decompose.Prediction  `json:"prediction,omitempty"`
	Dispersion *float64               `json:"dispersion,omitempty"`
	Warnings   []string               `json:"warnings"`

	DeepFeatures []decompose.DeepFeatures `json:"deep_features,omitempty"`
}

// summaryPredictorJSON is what is said of a predictor; shares are of its variance.
type summaryPredictorJSON struct {
	Name         string                   `json:"name"`
	Coefficients []summaryCoefficientJSON `json:"coefficients"`
	Covariance   [][]float64              `json:"covariance,omitempty"` // of the coefficients, in their order
	DF           *float64                 `json:"df,omitempty"`         // of the t distribution of their intervals; absent: it is the normal one
	Terms        []summaryTermJSON        `json:"terms"`
	Before       importance.EV            `json:"before"`
	After        importance.EV            `json:"after"`
	EDF          float64                  `json:"edf"`
	Scale        float64                  `json:"scale"`
	Score        *float64                 `json:"score,omitempty"`
	Deep         *decompose.Deep          `json:"deep,omitempty"`
}

// summaryCoefficientJSON is a row of the parametric coefficients; its interval holds 95 %.
type summaryCoefficientJSON struct {
	Name     string   `json:"name"`
	Term     string   `json:"term,omitempty"` // absent: the intercept
	Level    string   `json:"level,omitempty"`
	Column   string   `json:"column,omitempty"`
	Estimate float64  `json:"estimate"`
	SE       *float64 `json:"se,omitempty"`
	Lower    *float64 `json:"lower,omitempty"`
	Upper    *float64 `json:"upper,omitempty"`
	Before   *float64 `json:"before,omitempty"`
}

// summaryTermJSON is a term, or the sum of several of which only that is identified.
type summaryTermJSON struct {
	Terms    []string `json:"terms"`
	EDF      float64  `json:"edf"`
	RefDF    float64  `json:"ref_df"`
	Share    *float64 `json:"share,omitempty"`
	SDBefore *float64 `json:"sd_before,omitempty"`
	SDAfter  *float64 `json:"sd_after,omitempty"`
	Verdict  string   `json:"verdict"`
	Weak     bool     `json:"weak,omitempty"` // the rows hardly tell it, be it a sum
}

// writeSummaryJSON writes the document of r.
func writeSummaryJSON(w io.Writer, r *decompose.Result) error {
	doc := summaryJSON{
		Family: r.Family, Link: linkWords(r), Response: r.Response, Rows: r.Rows, Method: string(r.Method), Smoothing: r.Smoothing,
		Bands: string(r.Bands), Formulas: r.Formulas, Prediction: r.Prediction, Dispersion: r.Dispersion, Warnings: r.Warnings,
		DeepFeatures: r.DeepFeatures,
	}
	if doc.Warnings == nil {
		doc.Warnings = []string{}
	}
	q := decompose.PointwiseQuantile(r.BandDF())
	for k := range r.Predictors {
		p := &r.Predictors[k]
		all, err := r.Coefficients(k)
		if err != nil {
			return err
		}
		out := summaryPredictorJSON{
			Name: p.Name, Coefficients: []summaryCoefficientJSON{}, Terms: []summaryTermJSON{},
			Before: importance.ExplainedVariance(p.VarianceBefore), After: importance.ExplainedVariance(p.Variance),
			EDF: p.EDF, Scale: p.Scale, Score: p.Score, Deep: p.Deep,
		}
		for _, c := range all {
			out.Coefficients = append(out.Coefficients, summaryCoefficientJSON{
				Name: coefficientName(c, false), Term: c.Term, Level: c.Level, Column: c.Column, Estimate: c.Estimate, SE: finite(c.SE),
				Lower: finite(c.Estimate - q*c.SE), Upper: finite(c.Estimate + q*c.SE), Before: finite(c.Before),
			})
		}
		if out.Covariance, err = r.CoefficientCovariance(k); err != nil {
			return err
		}
		if df := r.BandDF(); df > 0 {
			out.DF = &df
		}
		for _, t := range termLines(p) {
			out.Terms = append(out.Terms, summaryTermJSON{t.names, t.edf, t.refDF, finite(t.share), finite(t.before), finite(t.after), t.verdict, t.weak})
		}
		doc.Predictors = append(doc.Predictors, out)
	}
	encoder := json.NewEncoder(w)
	encoder.SetIndent("", "  ")
	return encoder.Encode(doc)
}

// finite is a number that JSON can hold, nil for others.
func finite(v float64) *float64 {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return nil
	}
	return &v
}
