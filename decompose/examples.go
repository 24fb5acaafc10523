package decompose

// Examples are some rows with their parts, by which a reader sees how a prediction comes
// about: those of the largest remainder, and a sample. They depend on the rows and their
// numbers alone, not on batches or workers.
//
// Numbers are rounded to six significant digits, so that the parts of a row add up to its Eta
// as closely as that; contributions.csv has all digits of all rows.
type Examples struct {
	// Columns are the data columns that Values are of: those of the terms, then others that
	// the network reads. Of very many the first are kept.
	Columns []string `json:"columns"`
	// Rows are first the Largest ones, the largest remainder first, then the sample in order
	// of the data.
	Rows    []Example `json:"rows"`
	Largest int       `json:"largest"`
}

// Example is a row of the data.
type Example struct {
	Row      int64    `json:"row"`                // counted from 1
	ID       string   `json:"id,omitempty"`       // what it is called (Result.ID); "": it has no name
	Weight   *float64 `json:"weight,omitempty"`   // nil: there are no weights
	Response *float64 `json:"response,omitempty"` // nil: there is none
	Offset   *float64 `json:"offset,omitempty"`   // of the first predictor; nil: there is none
	// Values are float64, or string of a categorical column, by column; nil: missing.
	Values []any `json:"values"`
	// Parts are those of each predictor, in order of Result.Predictors: on the link scale,
	// Result.Predictors[k].Intercept and these add up to Eta.
	Parts []ExampleParts `json:"parts"`
}

// ExampleParts are the contributions to one predictor in one row.
type ExampleParts struct {
	Terms        []float64 `json:"terms"` // in order of Predictor.Terms
	Unstructured float64   `json:"unstructured"`
	Eta          float64   `json:"eta"` // the network's own output
}
