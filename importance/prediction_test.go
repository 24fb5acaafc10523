package importance_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/pho-go/pho/decompose"
	"github.com/pho-go/pho/family"
)

// predicted computes R2 and the deviance explained from their definitions, in two
// passes; link gives the predictor of a mean, nil: there is no deviance.
func predicted(r *decompose.Result, parts []*decompose.Parts, fam family.Family, offset, identity bool, link func(float64) float64) (r2, explained float64) {
	type row struct{ y, w, off, mean, deviance, beside float64 }
	var all []row
	var sum, w float64
	for _, p := range parts {
		y, _ := p.Batch.Numeric("y")
		weight, _ := p.Batch.Numeric("w")
		off := make([]float64, len(y))
		if offset {
			off, _ = p.Batch.Numeric("off")
		}
		for i := range y {
			if weight[i] == 0 {
				continue
			}
			eta := make([]float64, len(r.Predictors))
			for k := range eta {
				eta[k] = p.Predictors[k].Eta[i]
			}
			eta[0] += off[i]
			a := row{y[i], weight[i], off[i], fam.Mean(eta), fam.Deviance(y[i], weight[i], eta), off[i]}
			if !identity {
				a.off = 0
			}
			all = append(all, a)
			sum, w = sum+a.w*(a.y-a.off), w+a.w
		}
	}
	var miss, total, d, null float64
	for _, a := range all {
		miss += a.w * (a.y - a.mean) * (a.y - a.mean)
		total += a.w * (a.y - a.off - sum/w) * (a.y - a.off - sum/w)
		d += a.deviance
		if link != nil {
			null += fam.Deviance(a.y, a.w, []float64{link(sum / w)})
		}
	}
	if link != nil && offset {
		null = smallest(func(constant float64) (sum float64) {
			for _, a := range all {
				sum += fam.Deviance(a.y, a.w, []float64{constant + a.beside})
			}
			return sum
		})
	}
	return 1 - miss/total, 1 - d/null
}

// smallest is the least value of a function of one minimum between -10 and 10.
func smallest(f func(float64) float64) float64 {
	lo, hi := -10.0, 10.0
	for hi-lo > 1e-7 {
		a, b := lo+0.382*(hi-lo), hi-0.382*(hi-lo)
		if f(a) < f(b) {
			hi = b
		} else {
			lo = a
		}
	}
	return f((lo + hi) / 2)
}

// TestPrediction: how well the network predicts, by the definitions; worse than the
// mean where it is.
func TestPrediction(t *testing.T) {
	logit := func(p float64) float64 { return math.Log(p / (1 - p)) }
	coin := func(r *rand.Rand, eta []float64) float64 {
		if r.Float64() < 1/(1+math.Exp(-eta[0])) {
			return 1
		}
		return 0
	}
	for name, c := range map[string]struct {
		fam      family.Family
		draw     func(*rand.Rand, []float64) float64
		link     func(float64) float64
		identity bool
	}{
		"gaussian":          {family.Gaussian{}, func(r *rand.Rand, eta []float64) float64 { return 1e6 + eta[0] + r.NormFloat64() }, nil, true},
		"student t":         {mustParse("student-t(sigma=0.8,df=4)"), gaussianNoise, nil, true},
		"binomial":          {family.Binomial{}, coin, logit, false},
		"poisson":           {family.Poisson{}, poissonDraw, math.Log, false},
		"negative binomial": {mustParse("negative-binomial(theta=2)"), poissonDraw, math.Log, false},
		"gamma":             {family.Gamma{}, func(r *rand.Rand, eta []float64) float64 { return math.Exp(eta[0]) * r.ExpFloat64() }, math.Log, false},
	} {
		for _, offset := range []bool{false, true} {
			for _, contrary := range []bool{false, true} {
				m, data := oneHead(), oneHead()
				if name == "gaussian" {
					m.zeta = func(k int, x map[string]float64) float64 { return 1e6 + curved(k, x) }
				}
				if contrary { // as if the columns had been bound to the wrong inputs
					data.coef[0] = map[string]float64{"a": -0.7, "b": 0.4}
					data.zeta = func(k int, x map[string]float64) float64 { return -curved(k, x) }
				}
				src := rows(t, data, 6000, 11, c.draw)
				o := options(c.fam)
				if !offset {
					o.Offset = ""
				}
				r, parts := measure(t, m, src, o)
				p := r.Prediction
				if p == nil {
					t.Fatalf("%s: no figures", name)
				}
				r2, explained := predicted(r, parts, c.fam, offset, c.identity, c.link)
				near(t, name+" R2", p.R2, r2, 1e-8)
				worse := r2 < 0
				if c.link != nil {
					near(t, name+" deviance explained", p.DevianceExplained, explained, 1e-10)
					worse = explained < 0
				} else if p.DevianceExplained != nil {
					t.Errorf("%s: a deviance explained of %g", name, *p.DevianceExplained)
				}
				if p.Worse != worse || p.Worse != contrary {
					t.Errorf("%s, offset %v: worse than the mean is %v, contrary %v (R2 %g, deviance %g)", name, offset, p.Worse, contrary, r2, explained)
				}
			}
		}
	}
}
