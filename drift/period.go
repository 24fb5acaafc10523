package drift

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// Period is what the rows of one period, or of several together, are like.
type Period struct {
	Name     string
	Rows     int64   // of positive weight
	Clusters int64   // that are independent of each other: rows, blocks or clusters
	Weight   float64 // sum of weights
	// Effective is (sum w)^2 / sum w^2 over clusters: of clusters of equal weight their number.
	Effective  float64
	Predictors []Moments
	Fit        *Fit // nil: no response
	counts     [][]int64
}

// Moments are those of a predictor's parts over a period: terms, the unstructured part, and last the
// predictor itself (m numbers each).
type Moments struct {
	Mean []float64
	// Share is Cov(part, eta), with the divisor sum w - sum w^2 / sum w (n - 1 without weights). Those of
	// the parts sum to the last one, the predictor's variance. NaN: a single row.
	Share []float64
	// MeanVariance and ShareVariance are the variances of these as estimates, by clusters. NaN: there is
	// one cluster.
	MeanVariance, ShareVariance []float64
	covariance                  []float64 // m x m, of the parts
}

// Covariance is that of two parts over the rows, with the divisor of Share.
func (m *Moments) Covariance(i, j int) float64 { return m.covariance[i*len(m.Mean)+j] }

// Fit is how well the response is predicted.
type Fit struct {
	Error, Loss                 float64 // means: of response less prediction, and of the deviance
	ErrorVariance, LossVariance float64 // of these as estimates; NaN: there is one cluster
}

// Period is what is known of a period. Where periods are by time, that of a longer unit is made
// of all periods in it: 2026-01 of the days in January. An unknown one is an error that
// names some that are there.
func (s *State) Period(name string) (*Period, error) {
	if c := s.cells[name]; c != nil {
		return s.finish(name, c), nil
	}
	for _, unit := range Units() {
		if p := s.together(name, unit); p != nil {
			return p, nil
		}
	}
	if len(s.cells) == 0 {
		return nil, fmt.Errorf("drift: there is no period %q: no rows have been added", clip(name))
	}
	periods := s.Periods()
	return nil, fmt.Errorf("drift: there is no period %q: there are %d from %q to %q", clip(name), len(periods), periods[0], periods[len(periods)-1])
}

// together merges the periods in one of a longer unit; nil if none is in it.
func (s *State) together(name string, unit Unit) *Period {
	var sum *cell
	for _, period := range s.Periods() {
		if in, ok := coarser(period, s.settings.By, unit); !ok || in != name {
			continue
		}
		if sum == nil {
			sum = s.cells[period].clone()
			continue
		}
		if err := sum.merge(s.cells[period]); err != nil {
			return nil
		}
	}
	if sum == nil {
		return nil
	}
	return s.finish(name, sum)
}

// Rolled is a state of longer periods: hours together as days, say. A week is not in a month, and of
// labels nothing is known.
func (s *State) Rolled(unit Unit) (*State, error) {
	out := &State{of: s.of, settings: s.settings, layout: s.layout, cells: map[string]*cell{}, sources: slices.Clone(s.sources)}
	out.settings.By = unit
	for _, period := range s.Periods() {
		name, ok := coarser(period, s.settings.By, unit)
		if !ok {
			return nil, fmt.Errorf("drift: periods by %s cannot be put together by %s", s.settings.By, unit)
		}
		own := out.cells[name]
		if own == nil {
			out.cells[name] = s.cells[period].clone()
			continue
		}
		if err := own.merge(s.cells[period]); err != nil {
			return nil, fmt.Errorf("drift: period %q: %w", name, err)
		}
	}
	return out, nil
}

// finish computes what a cell says.
func (s *State) finish(name string, c *cell) *Period {
	sum := c.Sums.head
	w := sum[weightAt]
	p := &Period{Name: name, Rows: c.Rows, Clusters: c.Clusters, Weight: w, Effective: w * w / sum[clusterAt], counts: c.Counts}
	unbiased := math.NaN() // sum of squares to variance
	if left := 1 - sum[squaresAt]/(w*w); c.Rows > 1 && left > 0 {
		unbiased = 1 / left
	}
	few := math.NaN()
	if c.Clusters > 1 {
		few = float64(c.Clusters) / float64(c.Clusters-1)
	}
	for k, at := range s.layout.predictors {
		m := newMoments(sum, at, w)
		for j := range at.m {
			mean, share := m.variances(sum[at.cluster+pairs*j:], j, w)
			m.MeanVariance[j], m.ShareVariance[j] = few*mean, few*unbiased*unbiased*share
		}
		for j := range m.covariance {
			m.covariance[j] *= unbiased
		}
		for j := range at.m {
			m.Share[j] = m.covariance[j*at.m+at.m-1]
		}
		m.Mean[at.m-1] += s.of.Predictors[k].Intercept
		p.Predictors = append(p.Predictors, m)
	}
	if at := s.layout.fit; at > 0 {
		of := sum[at:]
		p.Fit = &Fit{Error: of[0] / w, Loss: of[1] / w}
		variance := func(mean float64, products []float64) float64 {
			return few * max(products[1]-2*mean*products[0]+mean*mean*sum[clusterAt], 0) / (w * w)
		}
		p.Fit.ErrorVariance, p.Fit.LossVariance = variance(p.Fit.Error, of[2:]), variance(p.Fit.Loss, of[4:])
	}
	return p
}

// newMoments are the means and, about them, the covariances with divisor sum w.
func newMoments(sum []float64, at span, w float64) Moments {
	n := at.m
	m := Moments{Mean: make([]float64, n), Share: make([]float64, n), MeanVariance: make([]float64, n), ShareVariance: make([]float64, n), covariance: make([]float64, n*n)}
	for j := range n {
		m.Mean[j] = sum[at.first+j] / w
	}
	next := at.second
	for i := range n {
		for j := i; j < n; j++ {
			v := sum[next]/w - m.Mean[i]*m.Mean[j]
			if i == j {
				v = max(v, 0) // rounding
			}
			m.covariance[i*n+j], m.covariance[j*n+i] = v, v
			next++
		}
	}
	return m
}

// variances are those of the mean of part j and of its covariance with the predictor, of as many
// clusters as one likes. About the means, a cluster's sums are a linear map of those that were
// kept:
//
//	A' = A - a W        P' = P - e A - a E + a e W
//
// with a and e the means. The mean's error is sum_g A'_g / W, that of the covariance c
// sum_g (P'_g - c W_g) / W.
func (m *Moments) variances(products []float64, j int, w float64) (mean, share float64) {
	last := len(m.Mean) - 1
	a, e := m.Mean[j], m.Mean[last] // of eta, its intercept is not yet in it
	c := m.covariance[j*len(m.Mean)+last]
	var p [4][4]float64 // of W, A, E, P
	n := 0
	for i := range p {
		for l := i; l < 4; l++ {
			p[i][l], p[l][i] = products[n], products[n]
			n++
		}
	}
	form := func(u [4]float64) float64 {
		var s float64
		for i := range u {
			for l := range u {
				s += u[i] * u[l] * p[i][l]
			}
		}
		return max(s, 0) / (w * w)
	}
	return form([4]float64{-a, 1, 0, 0}), form([4]float64{a*e - c, -e, -a, 1})
}

// between names the two periods of "A..B", whatever dots their names have.
func (s *State) between(o *State, text string) (a, b *Period, err error) {
	first, second, ok := strings.Cut(text, "..")
	if !ok {
		return nil, nil, fmt.Errorf("drift: periods %q: they are two, as 2026-01..2026-02", clip(text))
	}
	for at := 0; at+2 <= len(text); at++ {
		if text[at:at+2] != ".." {
			continue
		}
		a, errA := s.Period(text[:at])
		b, errB := o.Period(text[at+2:])
		if errA == nil && errB == nil {
			return a, b, nil
		}
	}
	if a, err = s.Period(first); err != nil {
		return nil, nil, err
	}
	b, err = o.Period(second)
	return a, b, err
}
