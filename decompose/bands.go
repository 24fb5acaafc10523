package decompose

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/pho-go/pho/internal/base/linalg"
)

// Bands says what standard errors take the remainder for.
type Bands string

const (
	// RobustBands allow for a remainder that is a function of the features, as a network's
	// is, whose size differs from row to row. The rows are taken for a sample
	// of a population, and the target is the projection over it, less its mean over these
	// rows. Sandwich of HC3 (MacKinnon and White 1985) with the smoothing bias, by the last pass; of
	// hierarchical terms the jackknife of the projection and of their split.
	RobustBands Bands = "robust"
	// RowsBands are robust bands given these rows: the target of a hierarchical term is what the split of
	// these rows makes of the population's projection. Terms without margins have the same bands.
	RowsBands Bands = "rows"
	// ProjectionBands take the remainder for noise of equal variance (Wood 2017, 6.10), and are given
	// these rows.
	ProjectionBands Bands = "projection"
	// NoBands leaves standard errors out.
	NoBands Bands = "none"
)

// Robust tells whether bands come from the last pass.
func (b Bands) Robust() bool { return b == RobustBands || b == RowsBands }

// bands is o.Bands with its default.
func (o *Options) bands() Bands {
	if o.Bands == "" {
		return RobustBands
	}
	return o.Bands
}

func (f *faults) bands(o *Options) {
	switch o.bands() {
	case RobustBands, RowsBands, ProjectionBands, NoBands:
	default:
		f.add("unknown bands %q: they are robust, rows, projection or none", o.Bands)
	}
}

// BandDF are the degrees of freedom of the t distribution that gives bands their width: the
// clusters less one; 0: the normal distribution does.
func (r *Result) BandDF() float64 {
	if !r.Bands.Robust() || r.Clusters < 2 {
		return 0
	}
	return float64(r.Clusters - 1)
}

// robustCovariance is what the last pass says of a predictor's coefficients.
type robustCovariance struct {
	cov       mat.Symmetric // of alpha, raw coordinates of all terms, in order
	intercept []float64     // its covariances with the intercept (of centred terms)
	variance  float64       // of that intercept

	splits *splitCovariance // nil: no term is split from others, or bands are given these rows
}

// hasIntercept tells whether the projection has an intercept column.
func (d *Predictor) hasIntercept() bool {
	columns := 0
	for j := range d.Terms {
		columns += d.Terms[j].Columns
	}
	return d.Columns > columns
}

// covariance is that of the raw coefficients and of the intercept, by the last pass or
// else by the projection; nil without one.
func (d *Predictor) covariance() *robustCovariance {
	if d.robust != nil {
		return d.robust
	}
	if d.cov == nil {
		return nil
	}
	c := &robustCovariance{cov: d.cov, intercept: make([]float64, len(d.mean))}
	if d.hasIntercept() {
		c.variance = d.Scale / d.sumW
		return c
	}
	c.byMeans(d.mean)
	return c
}

// byMeans sets the intercept's part for a projection without an intercept column: it
// moves by what centring takes from the terms, m'alpha.
func (c *robustCovariance) byMeans(mean []float64) {
	copy(c.intercept, linalg.MulVec(c.cov, mean))
	c.variance = math.Max(floats.Dot(c.intercept, mean), 0)
	if c.splits != nil {
		c.splits.byMeans(mean)
	}
}

// sandwiched tells whether there are a covariance, something that other rows would change, which is a remainder or a
// split of terms, and rows of weight.
func (d *Predictor) sandwiched() bool {
	return d.cov != nil && (d.Scale > 0 || d.split != nil) && d.sumW > 0 && !d.apart()
}

// tellGiven notes whether bands of d's hierarchical terms take their split as given.
func (d *Predictor) tellGiven() {
	if d.Hierarchy != nil {
		c := d.covariance()
		d.Hierarchy.GivenRows = c != nil && c.splits == nil
	}
}

// addSmoothing adds to the covariance of the splits what smoothing them may have taken away, delta delta' (influence.go), the
// mean over the networks.
// All standard errors take it from there. Bands of the regression's width alone would hold too
// seldom.
func (d *Predictor) addSmoothing() error {
	if d.robust.splits == nil {
		return nil
	}
	split, err := d.split.get()
	if err != nil || !split.h.Smooths() {
		return err
	}
	networks, own := d.networks(), d.robust.splits.own
	for _, network := range networks {
		delta := split.h.Smoothing(network.after())
		own.SymRankOne(own, 1/float64(len(networks)), mat.NewVecDense(len(delta), delta))
	}
	return nil
}

// after are the raw coefficients of all terms, one after the other, before hierarchical ones are split.
func (d *Predictor) after() (after []float64) {
	for i := range d.Terms {
		lo := len(after)
		after = append(after, d.Terms[i].Alpha...)
		if beta := d.Terms[i].Beta; beta != nil {
			floats.Add(after[lo:], beta)
		}
	}
	return after
}

// tellStable finds how far n other rows would move splits that are smoothed. Of what j gives to its k margins the regression has,
// over the rows, the mean variance G_j (projection.Hierarchy.Given), and a mean over the product of the margins about k Var(u_j)/n: the
// influence of a row z on the mean of u(x,z) is u(x,z)/n. Kept the share a of the regression, the standard deviation is at most
//
//	[a + (1-a) min(1, k Var(u_j)/(n G_j))^1/2] G_j^1/2.
func (d *Predictor) tellStable(n float64) error {
	c := d.robust.splits
	if d.Hierarchy == nil || c == nil || len(d.Hierarchy.Smoothed) == 0 {
		return nil
	}
	split, err := d.split.get()
	if err != nil {
		return err
	}
	var scale []float64 // of each column of the splits
	for _, j := range split.order {
		by := 1.0
		if s := d.Hierarchy.smoothed(d.Terms[j].Name); s != nil && s.Chance > 0 {
			margins := float64(len(d.Terms[j].Margins))
			by = s.Kept + (1-s.Kept)*math.Sqrt(min(1, margins/(n*s.Chance)))
		}
		scale = append(scale, slices.Repeat([]float64{by}, len(split.h.MarginColumns(j)))...)
	}
	m := len(scale)
	stable := &splitCovariance{with: new(mat.Dense), own: mat.NewSymDense(m, nil), intercept: slices.Clone(c.intercept)}
	stable.with.Mul(c.with, mat.NewDiagDense(m, scale))
	floats.Mul(stable.intercept, scale)
	for i := range m {
		for l := i; l < m; l++ {
			stable.own.SetSym(i, l, scale[i]*scale[l]*c.own.At(i, l))
		}
	}
	c.stable = stable
	return nil
}

// tellChance says what terms with smoothed splits would share with their margins by chance: the mean variance over the
// rows of what regressions give to these.
func (d *Predictor) tellChance() error {
	if d.Hierarchy == nil || d.robust.splits == nil {
		return nil
	}
	split, err := d.split.get()
	if err != nil {
		return err
	}
	lo := 0
	for _, j := range split.order {
		hi := lo + len(split.h.MarginColumns(j))
		if s := d.Hierarchy.smoothed(d.Terms[j].Name); s != nil {
			if share := split.h.Given(j, d.robust.splits.own.SliceSym(lo, hi)) / d.Terms[j].After.Variance; share > 0 { // not NaN
				s.Chance = min(1, share)
			}
		}
		lo = hi
	}
	return nil
}

// finiteSym tells whether all entries are finite.
func finiteSym(s mat.Symmetric) error {
	if i, j, finite := linalg.FiniteSym(s); !finite {
		return fmt.Errorf("the covariance of columns %d and %d is %g", i+1, j+1, s.At(i, j))
	}
	return nil
}
