package main

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"

	"github.com/pho-go/pho/benchmarks/internal/column"
	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/decompose"
)

// kind is what the p columns of a design are.
type kind string

const (
	dense   kind = "dense"   // p linear terms
	splines kind = "splines" // p/20 P-splines of 20 columns, four of them not zero in a row
	factors kind = "factors" // 4 factors of p/4 levels, one column not zero in a row
)

var kinds = []kind{dense, splines, factors}

const (
	splineColumns = 20
	factorCount   = 4
)

// formula has p columns besides the intercept.
func (k kind) formula(p int) string {
	var terms []string
	switch k {
	case dense:
		for j := range p {
			terms = append(terms, fmt.Sprintf("x%d", j))
		}
	case splines:
		for j := range p / splineColumns {
			terms = append(terms, fmt.Sprintf(`s(x%d, bs="ps", k=%d)`, j, splineColumns))
		}
	case factors:
		for j := range factorCount {
			terms = append(terms, fmt.Sprintf(`s(x%d, bs="re")`, j))
		}
	}
	return "~ " + strings.Join(terms, " + ")
}

// columns is how many data columns the formula reads.
func (k kind) columns(p int) int {
	switch k {
	case splines:
		return p / splineColumns
	case factors:
		return factorCount
	}
	return p
}

// nonzero is how many of p columns are not zero in a row.
func (k kind) nonzero(p int) float64 {
	switch k {
	case splines:
		return float64(p) / splineColumns * 4
	case factors:
		return factorCount
	}
	return float64(p)
}

// rows are n rows drawn for the formula, every level among the first p, with a column "eta"
// that stands for the network's output.
func (k kind) rows(n, p int) (*data.Table, error) {
	random := rand.New(rand.NewPCG(7, uint64(p)))
	t := data.NewTable(n)
	eta := make([]float64, n)
	for j := range k.columns(p) {
		v := make([]float64, n)
		levels := p / factorCount
		for i := range v {
			switch {
			case k != factors:
				v[i] = 2*random.Float64() - 1
			case i < levels:
				v[i] = float64(i)
			default:
				v[i] = float64(random.IntN(levels))
			}
			if j < 4 {
				eta[i] += math.Sin(3 * v[i])
			}
		}
		add := t.AddNumeric
		if k == factors {
			add = t.AddFactor
		}
		if err := add(fmt.Sprintf("x%d", j), v); err != nil {
			return nil, err
		}
	}
	for i := range eta {
		eta[i] += 0.5 * random.NormFloat64()
	}
	return t, t.AddNumeric("eta", eta)
}

// model is the formula's terms over a network that costs nothing.
func (k kind) model(ctx context.Context, rows *data.Table, p int) (decompose.Model, error) {
	return column.Network("eta").With(ctx, rows, k.formula(p))
}
