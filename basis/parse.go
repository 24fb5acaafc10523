package basis

import (
	"errors"

	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/decompose"
)

// Formula is a formula whose terms are ready for their data scan.
type Formula struct {
	Response  string // column left of the tilde; may be empty
	Predictor string // from "sigma = ~ ..."; empty: every predictor
	Intercept bool   // false after "- 1" or "+ 0"
	Specs     []decompose.Spec
}

// Options tell Parse about the data. The zero value and nil know no columns:
// then names are not checked and bare variables are numeric.
type Options struct {
	Schema  data.Schema // nil: columns are not checked
	Factors []string    // numeric columns that are categories nevertheless
}

// Parse reads a formula and gives it its meaning on the columns of o.Schema.
func Parse(text string, o *Options) (*Formula, error) {
	return nil, errors.New("basis: not read yet")
}
