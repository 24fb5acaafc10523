package drift

import (
	"errors"
	"fmt"
)

// cell is what is kept of the rows of a period. With u = (1, a, e, a e) of a row and part, a
// being the part and e the predictor less its intercept, and g running over clusters (rows, if
// these are independent):
//
//	first    sum w a                         m numbers a predictor: terms, unstructured, eta
//	second   sum w a a'                      m (m+1) / 2, by rows of the upper triangle
//	cluster  sum_g (sum_g w u)(sum_g w u)'   10 numbers a part, likewise
//
// From these follow means and covariances about the period's own means, and the variances of
// both, whatever periods are put together.
type cell struct {
	Rows     int64     `json:"rows"` // of positive weight
	Clusters int64     `json:"clusters"`
	Counts   [][]int64 `json:"counts"` // by column and bin; nil of a column that sources lack
	Sums     sums      `json:"sums"`   // see layout
}

// layout says where in a cell's sums things are.
type layout struct {
	predictors []span
	fit        int // of errors r and losses d: sum w r, sum w d, and over clusters W R, R R, W D, D D; 0: there are none
	length     int
}

// span is where those of a predictor of m parts begin.
type span struct{ m, first, second, cluster int }

// The first numbers of a cell's sums.
const (
	weightAt  = iota // sum w
	squaresAt        // sum w^2
	clusterAt        // sum_g (sum_g w)^2
	partsAt
)

// pairs is how many numbers of a symmetric 4 x 4 matrix are kept.
const pairs = 10

func (d *Decomposition) layout(scored bool) layout {
	l := layout{length: partsAt}
	for _, p := range d.Predictors {
		s := span{m: len(p.Terms) + 2, first: l.length}
		s.second = s.first + s.m
		s.cluster = s.second + s.m*(s.m+1)/2
		l.length = s.cluster + pairs*s.m
		l.predictors = append(l.predictors, s)
	}
	if scored {
		l.fit = l.length
		l.length += 6
	}
	return l
}

// merge adds the rows of o to c.
func (c *cell) merge(o *cell) error {
	sums := c.Sums.clone()
	sums.add(&o.Sums)
	if err := sums.finite(); err != nil {
		return err
	}
	c.Rows, c.Clusters, c.Sums = c.Rows+o.Rows, c.Clusters+o.Clusters, sums
	for j, counts := range o.Counts {
		if c.Counts[j] == nil {
			c.Counts[j] = make([]int64, len(counts))
		}
		for i, n := range counts {
			c.Counts[j][i] += n
		}
	}
	return nil
}

func (c *cell) clone() *cell {
	out := *c
	out.Sums = c.Sums.clone()
	out.Counts = make([][]int64, len(c.Counts))
	for j, counts := range c.Counts {
		out.Counts[j] = append([]int64(nil), counts...)
	}
	return &out
}

// check refuses a cell that a damaged file holds.
func (c *cell) check(d *Decomposition, l *layout) error {
	switch {
	case len(c.Sums.head) != l.length:
		return fmt.Errorf("%d sums, where %d are needed", len(c.Sums.head), l.length)
	case len(c.Counts) != len(d.Features):
		return fmt.Errorf("counts of %d columns, of which there are %d", len(c.Counts), len(d.Features))
	case c.Rows < 1 || c.Clusters < 1 || c.Clusters > c.Rows || !(c.Sums.head[weightAt] > 0) || !(c.Sums.head[squaresAt] > 0) || !(c.Sums.head[clusterAt] > 0):
		return errors.New("rows, clusters or weights are none")
	}
	for j, counts := range c.Counts {
		if counts != nil && len(counts) != d.Features[j].count() {
			return fmt.Errorf("%d counts of column %q, which has %d bins", len(counts), d.Features[j].Feature, d.Features[j].count())
		}
		for _, n := range counts {
			if n < 0 {
				return fmt.Errorf("a negative count of column %q", d.Features[j].Feature)
			}
		}
	}
	return c.Sums.finite()
}
