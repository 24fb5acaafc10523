package native

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/pho-go/pho/adapters/native/internal/likelihood"
	"github.com/pho-go/pho/adapters/native/internal/rows"
	"github.com/pho-go/pho/basis"
	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/family"
)

// A response of classes has a predictor for each, and the network ends in their softmax.
// Which classes there are the rows tell: until they are read the family has none.

// maxClasses bounds the classes of a response: more are numbers, or names of rows.
const maxClasses = 1000

// categorical tells that the response is classes.
func (c *Config) categorical() bool {
	return family.TraitsOf(c.Family).Nominal
}

// classText gives the class of each row as text: numbers are written as levels are.
func (c *Config) classText(f *rows.Frame) (func(i int) string, error) {
	col, _ := f.Columns.Lookup(c.Response)
	if !col.Numeric {
		return rows.Text(f.Batch, c.Response)
	}
	y, err := f.Batch.Numeric(c.Response)
	if err != nil {
		return nil, err
	}
	return func(i int) string { return data.LevelText(y[i]) }, nil
}

// classesOf are the different values of the response: texts in alphabetical order, numbers
// in theirs.
func (c *Config) classesOf(f *rows.Frame) ([]string, error) {
	text, err := c.classText(f)
	if err != nil {
		return nil, err
	}
	var y []float64
	if col, _ := f.Columns.Lookup(c.Response); col.Numeric {
		if y, err = f.Batch.Numeric(c.Response); err != nil {
			return nil, err
		}
	}
	row := map[string]int{} // the first of each class
	var classes []string
	for i := range f.Rows() {
		if y != nil && y[i]-y[i] != 0 {
			return nil, fmt.Errorf("native: response %q, data row %d: %g is no class", c.Response, f.Batch.Row(i)+1, y[i])
		}
		name := text(i)
		if _, seen := row[name]; seen {
			continue
		}
		if name == data.MissingLevel {
			return nil, fmt.Errorf("native: column %q, data row %d: %w, and the response needs one: fill it in, or leave such rows out", c.Response, f.Batch.Row(i)+1, data.ErrMissingValue)
		}
		row[name] = i
		if classes = append(classes, name); len(classes) > maxClasses {
			return nil, fmt.Errorf("native: the response %q has more than %d different values: as classes they are too many; for numbers take another family", c.Response, maxClasses)
		}
	}
	slices.SortFunc(classes, func(a, b string) int {
		if y != nil {
			return cmp.Compare(y[row[a]], y[row[b]])
		}
		return cmp.Compare(a, b)
	})
	return classes, nil
}

// settleClasses gives a categorical family the classes of the response, and refuses formulas
// for what is none of them.
func (c *Config) settleClasses(classes []string, formulas []*basis.Formula) error {
	if !c.categorical() {
		return nil
	}
	if len(classes) < 2 {
		return fmt.Errorf("native: the response %q has one class only, %q: two are the least that can be told apart", c.Response, classes)
	}
	of, err := family.NewCategorical(len(classes), -1)
	if err != nil {
		return fmt.Errorf("native: %w", err)
	}
	c.Family, c.classes = of, classes
	var f faults
	for _, p := range formulas {
		c.validatePredictor(p, &f)
	}
	return f.err()
}

// checkClasses refuses a class that no training row has: nothing bounds its logit.
func (c *Config) checkClasses(t *likelihood.Target) error {
	if !c.categorical() {
		return nil
	}
	weight := make([]float64, len(c.classes))
	for i, y := range t.Y {
		weight[int(y)] += t.W[i]
	}
	for k, w := range weight {
		if w == 0 {
			return fmt.Errorf("native: response %q: no row of positive weight that is trained on has the class %q, though others have (rows held out, left out by a resample or of weight 0): leave its rows out, merge it with another class, or hold out other rows (seed)", c.Response, c.classes[k])
		}
	}
	return nil
}
