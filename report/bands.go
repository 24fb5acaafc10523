package report

import (
	"fmt"

	"github.com/pho-go/pho/decompose"
)

// widthOf is the half width of the pointwise band of r's effects in standard errors.
func widthOf(r *decompose.Result) float64 { return decompose.PointwiseQuantile(r.BandDF()) }

// half is the half width of the pointwise band at point i.
func (e *Effect) half(i int) float64 {
	if e.Networks != nil {
		return decompose.TotalHalf(e.Networks.SD[i], e.SE[i], len(e.Networks.After), 0.95)
	}
	return e.own(i)
}

// own is that of the projection of one network.
func (e *Effect) own(i int) float64 {
	if e.Width == 0 {
		return decompose.PointwiseQuantile(0) * e.SE[i]
	}
	return e.Width * e.SE[i]
}

// bandWords say what the bands of a result are: a name, and how to read it.
func bandWords(r *decompose.Result) (name, reading string) {
	const given = " The model is taken as given: the band does not say how much another training run of the model would change the curve."
	const inner = "The darker band holds the curve at a single point in 95 of 100 samples of rows, the lighter one, drawn where the feature has a curve, all of the curve at once."
	const flat = " Curvature that smoothing has taken out of a term altogether, for want of rows, no band knows of."
	if n := newNetworks(r); n != nil {
		return n.Band, "Round the mean curve, ± t √(B + P): B is the variance between the networks' curves at the point, P the mean of the variances of their own projections, and t the 97.5 % point with (B+P)²/(B²/(M−1)) degrees of freedom for M networks. The lighter band is of all of the curve at once: it is as much wider as the projection's own is. " + n.Promise
	}
	const target = " The curve meant is that of the projection over the population that the rows are a sample of, less its mean over these rows."
	switch {
	case r.Bands == decompose.NoBands:
		return "", ""
	case r.Bands.Robust() && r.Clusters > 0:
		return "Robust band", inner + fmt.Sprintf(" It allows for a remainder that is a function of the features and for rows of one %s that depend on each other (%s clusters; sandwich estimate, smoothing bias included, ± %s standard errors)."+flat,
			clip(r.Cluster, 60), count(r.Clusters), num(widthOf(r))) + target + given
	case r.Bands.Robust():
		return "Robust band", inner + " It allows for a remainder that is a function of the features, as a model's is, whose size differs from row to row (sandwich estimate HC3, smoothing bias included, ± 1.96 standard errors). The rows are taken to be independent." + flat + target + given
	}
	return "Projection band", inner + " ± 1.96 standard errors of the projection, which take the remainder for noise of equal variance. It is a function of the features instead, so that they are too small where it is large." + target + given
}
