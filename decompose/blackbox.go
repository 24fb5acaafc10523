package decompose

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/pho-go/pho/data"
)

// BlackBox is all that is needed of a model without structure: what it predicts.
type BlackBox interface {
	// Eta overwrites dst (n x K) with the K predictors at the n rows of b, on the link scale: what is to
	// be a sum of terms, so the log of a mean or the logit of a probability. Row i of dst depends on row i
	// of b alone. It may be called concurrently. b is not kept.
	Eta(ctx context.Context, dst *mat.Dense, b *data.Batch) error
}

// NewBlackBox is the Model of a black box: all of its K predictors, called as predictors says ("eta" if
// nobody says), is deep, and terms come from formulas alone. columns are the data columns that it reads.
// Columns or predictors without a name, or that are there twice, are an error.
func NewBlackBox(f BlackBox, columns []string, predictors ...string) (Model, error) {
	if len(predictors) == 0 {
		predictors = []string{"eta"}
	}
	if f == nil || len(columns) == 0 {
		return nil, errors.New("decompose: a black box needs a function, and the columns that it reads")
	}
	for what, names := range map[string][]string{"column": columns, "predictor": predictors} {
		seen := map[string]bool{}
		for _, name := range names {
			if name == "" || seen[name] {
				return nil, fmt.Errorf("decompose: the black box has a %s %q: each needs a name of its own", what, name)
			}
			seen[name] = true
		}
	}
	return &blackBox{f, slices.Clone(columns), slices.Clone(predictors)}, nil
}

// blackBox is a Model whose deep part is everything.
type blackBox struct {
	of         BlackBox
	columns    []string
	predictors []string
}

func (m *blackBox) Predictors() []string  { return slices.Clone(m.predictors) }
func (m *blackBox) Columns() []string     { return slices.Clone(m.columns) }
func (m *blackBox) Intercept(int) float64 { return 0 }
func (m *blackBox) Blocks(int) []Block    { return nil }
func (m *blackBox) Taps() map[string]int  { return nil }

// Forward asks the black box, for which a value that is not finite is an error.
func (m *blackBox) Forward(ctx context.Context, dst *Outputs, b *data.Batch) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	for _, name := range m.columns {
		if _, err := b.Numeric(name); err != nil && !b.Categorical(name) {
			return err
		}
	}
	if err := m.of.Eta(ctx, dst.Eta, b); err != nil {
		return err
	}
	n, k := dst.Eta.Dims()
	for i := range n {
		for l, v := range dst.Eta.RawRowView(i)[:k] {
			if v-v != 0 { // NaN or infinite
				return fmt.Errorf("decompose: predictor %q of the black box is %v in data row %d: it has to be finite", m.predictors[l], v, b.Row(i)+1)
			}
		}
	}
	dst.Zeta.Copy(dst.Eta)
	return nil
}
