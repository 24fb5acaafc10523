//go:build linux

package main

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime/debug"
	"strings"

	"github.com/pho-go/pho/benchmarks/internal/column"
	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/decompose"
)

// problem is what is solved: P-splines of p columns together.
type problem struct {
	name         string
	p, terms     int
	twice        bool // the first term is there a second time, of a copy of its feature
	leastSquares bool
	options      *decompose.Options
}

func newCase(method string, p int) (*problem, error) {
	c := &problem{p: p, terms: p / 20, options: &decompose.Options{}}
	c.options.Method = decompose.PHOGAM
	switch method {
	case "least-squares", "aliased":
		c.options.Method, c.leastSquares, c.twice = decompose.PHO, true, method == "aliased"
		c.name = fmt.Sprintf("p = %d, least squares", p)
		if c.twice {
			c.name += ", a term twice"
		}
	case "reml-few":
		const columns = 999 // of a term at most
		c.terms = max(10, (p+columns-1)/columns)
	case "reml-many":
	default:
		return nil, fmt.Errorf("unknown method %q", method)
	}
	if !c.leastSquares {
		c.name = fmt.Sprintf("p = %d, REML, %d smoothing parameters", p, c.terms)
	}
	return c, nil
}

// products are how many a solution needs at least, by its multiplications: half a one for the
// inverse of A = X'WX + S, of each evaluation of the criterion on the way, and of the correlations
// for concurvity; with penalties half a one for A^-1 S A^-1, of which a triangle is needed, and
// a sixth for the factor where next to nothing is penalised. The inverse at the last point serves
// for the covariance, too.
func (c *problem) products(evaluations int) float64 {
	const factor, inverse, sandwich = 1. / 6, 1. / 2, 1. / 2
	if c.leastSquares {
		return inverse + inverse
	}
	return float64(evaluations)*inverse + factor + sandwich + inverse
}

// calls of the product in a turn.
func (c *problem) calls() int { return max(1, min(20, int(4e10/math.Pow(float64(c.p), 3)))) }

// design draws four rows a column and makes the model.
func (c *problem) design(ctx context.Context) (*data.Table, decompose.Model, error) {
	n := 4 * c.p
	random := rand.New(rand.NewPCG(7, uint64(c.p)))
	t := data.NewTable(n)
	eta := make([]float64, n)
	var terms []string
	var first []float64
	for j := range c.terms {
		v := make([]float64, n)
		if c.twice && j == 1 {
			copy(v, first)
		} else {
			for i := range v {
				v[i] = 2*random.Float64() - 1
				if j%3 == 0 {
					eta[i] += math.Sin((3+float64(j%5))*v[i]) / math.Sqrt(float64(c.terms))
				}
			}
		}
		if j == 0 {
			first = v
		}
		name := fmt.Sprintf("x%d", j)
		if err := t.AddNumeric(name, v); err != nil {
			return nil, nil, err
		}
		terms = append(terms, fmt.Sprintf(`s(%s, bs="ps", k=%d)`, name, c.p/c.terms+1))
	}
	for i := range eta {
		eta[i] += 0.5 * random.NormFloat64()
	}
	if err := t.AddNumeric("eta", eta); err != nil {
		return nil, nil, err
	}
	m, err := column.Network("eta").With(ctx, t, "~ "+strings.Join(terms, " + "))
	debug.FreeOSMemory()
	return t, m, err
}
