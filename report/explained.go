package report

// ExplainedRow is how the network's prediction of a row is made up, as `pho explain --json` and
// the service's explain write it.
type ExplainedRow struct {
	Row        int64                `json:"row"`               // from 1
	ID         string               `json:"id,omitempty"`      // "": the row has no name
	Dropped    bool                 `json:"dropped,omitempty"` // left out for a missing cell: no predictors
	Predictors []ExplainedPredictor `json:"predictors"`
	Response   []ResponseValue      `json:"response,omitempty"`
}

// ExplainedPredictor is a predictor of a row: intercept, terms and what no term holds add up
// to Eta, all on the scale of the link.
type ExplainedPredictor struct {
	Name         string          `json:"name"`
	Label        string          `json:"label,omitempty"`
	Intercept    float64         `json:"intercept"`
	Terms        []ExplainedTerm `json:"terms"`
	Unstructured float64         `json:"unstructured"`
	Eta          float64         `json:"eta"`
	Reasons      []Reason        `json:"reasons,omitzero"` // nil: not asked for
}

// ExplainedTerm is a term, or a sum of terms of which only that sum is identified.
type ExplainedTerm struct {
	Terms        []string          `json:"terms"`
	Values       map[string]string `json:"values,omitempty"` // of the columns, by name
	Contribution float64           `json:"contribution"`
	SE           *float64          `json:"se,omitempty"` // nil: not known
}

// Reason is a term that moves the prediction far, in the words of the labels.
type Reason struct {
	Label        string   `json:"label"`
	Values       string   `json:"values,omitempty"`
	Contribution float64  `json:"contribution"`
	SE           *float64 `json:"se,omitempty"`
}
