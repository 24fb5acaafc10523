package network

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/pho-go/pho/adapters/native/internal/nn"
	"github.com/pho-go/pho/adapters/native/internal/rows"
	"github.com/pho-go/pho/data"
)

// Plan is what a tower computes, whatever its precision: columns in, hidden layers, and
// the predictors that its heads add to.
type Plan struct {
	Name string
	// Deep: the tower's output is the deep part zeta. Else each group is a learned term.
	Deep       bool
	Columns    [][]string // of each group: numeric columns, then factors
	Numeric    int        // numeric columns of each group
	Factors    []Factor
	Predictors []int // that the tower adds to
	Hidden     []int // widths of the hidden layers of a group
	Activation nn.Function
	ExU        bool // the first layer is one of exp-centred units
	BatchNorm  bool
	Dropout    float64 // after each hidden layer but the last
	// LastDropout: dropout after the last hidden layer too.
	LastDropout bool
	// FeatureDropout leaves out whole groups; OutputPenalty times the mean of the squared
	// outputs of the groups is added to the loss.
	FeatureDropout, OutputPenalty float64
	// Orthogonalize projects U on the complement of the structured columns of each batch.
	Orthogonalize    bool
	WithoutFirstBias bool
	Initialization   Initialization
	// ProductOf is the number of the tower whose groups are multiplied in a tower of
	// products, else -1. Pairs are the two groups of each product.
	ProductOf int
	Pairs     [][2]int
	Units     int // q, the width of the last hidden layer of each group
	// Mean and SD standardise the numeric columns, group by group: see Describe.
	Mean, SD []float64
	Missing  bool // of numbers the mean stands for those that are missing (NaN)
}

// Factor is a column that a tower reads through an embedding.
type Factor struct {
	Column string
	Levels []string // in the order of their codes
	Width  int      // of the embedding; 0: (levels+1)/2, at most 8
}

// Groups is the number of networks side by side.
func (p *Plan) Groups() int { return len(p.Columns) }

// Inputs is the width of a row of numeric inputs: those of all groups.
func (p *Plan) Inputs() int { return p.Numeric * p.Groups() }

// Term is the name of group g's learned term, such as f(x).
func (p *Plan) Term(g int) string { return "f(" + strings.Join(p.Columns[g], ",") + ")" }

// Tap is the name of the tensor that holds group g's last hidden layer.
func (p *Plan) Tap(g int) string { return p.Term(g) + ".basis" }

// present are the values that are not missing.
func present(v []float64) []float64 {
	return slices.DeleteFunc(slices.Clone(v), math.IsNaN)
}

// Describe fills in what the training rows b say of the columns: levels of factors, means
// and standard deviations of numbers.
func (p *Plan) Describe(b *data.Batch) error {
	if p.ProductOf >= 0 {
		return nil
	}
	for i := range p.Factors {
		if err := p.Factors[i].describe(b); err != nil {
			return err
		}
	}
	for _, group := range p.Columns {
		for _, name := range group[:p.Numeric] {
			v, err := b.Numeric(name)
			if err != nil {
				return err
			}
			if p.Missing {
				if v = present(v); len(v) == 0 {
					return fmt.Errorf("native: column %q has no value on any training row: leave it out", name)
				}
			}
			mean, sd := meanSD(v)
			p.Mean, p.SD = append(p.Mean, mean), append(p.SD, sd)
		}
	}
	return nil
}

func (f *Factor) describe(b *data.Batch) (err error) {
	if f.Levels, err = rows.Levels(b, f.Column); err != nil {
		return err
	}
	if f.Width == 0 {
		f.Width = min(8, (len(f.Levels)+1)/2)
	}
	return nil
}

// meanSD are mean and standard deviation; the latter is 1 for a constant.
func meanSD(v []float64) (mean, sd float64) {
	n := float64(len(v))
	for _, x := range v {
		mean += x / n
	}
	for _, x := range v {
		sd += (x - mean) * (x - mean) / n
	}
	if sd = math.Sqrt(sd); !(sd > 1e-12*math.Abs(mean)) {
		sd = 1
	}
	return mean, sd
}

// Read returns the standardised numeric columns (n x Inputs) and the codes of each factor
// at the rows of b; nil for products, which read another tower.
func (p *Plan) Read(b *data.Batch) (x []float64, codes [][]int32, err error) {
	if p.ProductOf >= 0 {
		return nil, nil, nil
	}
	n, width := b.Rows(), p.Inputs()
	x = make([]float64, n*width)
	at := 0
	for _, group := range p.Columns {
		for _, name := range group[:p.Numeric] {
			v, err := b.Numeric(name)
			if err != nil {
				return nil, nil, err
			}
			for i, value := range v {
				if p.Missing && math.IsNaN(value) {
					continue // the mean stands for it
				}
				if value-value != 0 {
					return nil, nil, fmt.Errorf("native: column %q is %v at data row %d: networks need finite numbers", name, value, b.Row(i)+1)
				}
				x[i*width+at] = (value - p.Mean[at]) / p.SD[at]
			}
			at++
		}
	}
	for _, f := range p.Factors {
		c, err := rows.Codes(b, f.Column, f.Levels)
		if err != nil {
			return nil, nil, err
		}
		codes = append(codes, c)
	}
	return x, codes, nil
}
