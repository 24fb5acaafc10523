package decompose

import (
	"math"

	"gonum.org/v1/gonum/stat/distuv"
)

// NetworkEffects are the centred curves of M networks at n rows.
type NetworkEffects struct {
	Before, After [][]float64 // M x n
	// SDBefore and SD are the standard deviations between networks, sqrt(B) with
	// B = sum_m (f_m - mean f)^2/(M-1), at each row.
	SDBefore, SD []float64
}

func newNetworkEffects(networks, rows int) *NetworkEffects {
	e := &NetworkEffects{SDBefore: make([]float64, rows), SD: make([]float64, rows)}
	for range networks {
		e.Before, e.After = append(e.Before, make([]float64, rows)), append(e.After, make([]float64, rows))
	}
	return e
}

// spread finds the standard deviations between networks.
func (e *NetworkEffects) spread() {
	if e == nil {
		return
	}
	between(e.SDBefore, e.Before)
	between(e.SD, e.After)
}

// between sets sd to the standard deviation of the curves at each row.
func between(sd []float64, curves [][]float64) {
	m := float64(len(curves))
	for i := range sd {
		var mean, squares float64
		for _, f := range curves {
			mean += f[i] / m
		}
		for _, f := range curves {
			squares += (f[i] - mean) * (f[i] - mean)
		}
		sd[i] = math.Sqrt(squares / (m - 1))
	}
}

// Half is half the width of the pointwise band of After at the given level (0.95), at each
// row; NaN where there is no standard error. For one network that is SE times the normal
// quantile. For several it is t_nu sqrt(B + P), with B the variance between networks,
// P = SE^2 the mean of their own variances, and Satterthwaite's
// nu = (B+P)^2 / (B^2/(M-1)) degrees of freedom: M networks know B from M-1.
func (e *Effect) Half(level float64) []float64 {
	out := make([]float64, len(e.SE))
	for i, se := range e.SE {
		out[i] = se * normalQuantile(level)
		if e.Networks != nil {
			sd := e.Networks.SD[i]
			out[i] = TotalHalf(sd, se, len(e.Networks.After), level)
		}
	}
	return out
}

// TotalHalf is Half at one row: sd between that many networks, se of each.
func TotalHalf(sd, se float64, networks int, level float64) float64 {
	b, p := sd*sd, se*se
	total := b + p
	if !(b > 0) {
		return se * normalQuantile(level)
	}
	nu := total / b * (total / b) * float64(networks-1)
	return math.Sqrt(total) * tQuantile(level, nu)
}

// normalQuantile and tQuantile are the two-sided quantiles of a level.
func normalQuantile(level float64) float64 { return distuv.UnitNormal.Quantile((1 + level) / 2) }

func tQuantile(level, nu float64) float64 {
	const normal = 1e8 // from so many degrees of freedom on t is the normal distribution
	if !(nu < normal) {
		return normalQuantile(level)
	}
	return distuv.StudentsT{Sigma: 1, Nu: nu}.Quantile((1 + level) / 2)
}
