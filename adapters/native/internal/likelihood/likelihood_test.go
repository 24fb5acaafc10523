package likelihood

import (
	"math"
	"testing"

	"github.com/pho-go/pho/family"
)

func near(t *testing.T, what string, got, want float64) {
	t.Helper()
	if !(math.Abs(got-want) <= 1e-9*(1+math.Abs(want))) {
		t.Errorf("%s is %v, want %v", what, got, want)
	}
}

// counts have weights and an offset.
var counts = Target{Y: []float64{3, 0, 5, 1}, W: []float64{1, 2, 0.5, 0}, Offset: []float64{0.2, -0.1, 0.4, 9}, SumW: 3.5}

// TestIntercepts: with an offset the intercept of counts is log(sum w y/sum w exp(offset)), and of
// gaussian responses the weighted mean of y - offset.
func TestIntercepts(t *testing.T) {
	var wy, we, left float64
	for i, w := range counts.W {
		wy, we, left = wy+w*counts.Y[i], we+w*math.Exp(counts.Offset[i]), left+w*(counts.Y[i]-counts.Offset[i])
	}
	near(t, "poisson", counts.Intercepts(family.Poisson{}, []bool{true})[0], math.Log(wy/we))
	near(t, "gaussian", counts.Intercepts(family.Gaussian{}, []bool{true})[0], left/counts.SumW)
	near(t, "an intercept that is held", counts.Intercepts(family.Poisson{}, []bool{false})[0], 0)
}

// TestWorking: one least squares step from the intercept stays there, and the working
// response of gaussian rows is the response less its offset.
func TestWorking(t *testing.T) {
	b := counts.Intercepts(family.Poisson{}, []bool{true})
	z, w := counts.Working(family.Poisson{}, b, 0)
	var sum, total float64
	for i := range z {
		sum, total = sum+w[i]*z[i], total+w[i]
	}
	near(t, "the mean of the working response", sum/total, b[0])
	z, _ = counts.Working(family.Gaussian{}, []float64{1}, 0)
	near(t, "a gaussian working response", z[2], counts.Y[2]-counts.Offset[2])
}

// TestUnits: in standard units mean and variance are 0 and 1 and the predictors lead back;
// counts have no other units.
func TestUnits(t *testing.T) {
	u := counts.Standard(family.Gaussian{}, true)
	mean, variance := counts.In(u).Moments(true)
	near(t, "mean", mean, 0)
	near(t, "variance", variance, 1)
	scale, shift := u.Of(0)
	near(t, "y, there and back", shift+scale*counts.In(u).Y[0], counts.Y[0])
	scale, shift = u.Of(1)
	near(t, "a log scale", shift+scale*0, math.Log(u.Scale))
	if u := counts.Standard(family.Poisson{}, true); u != (Units{Scale: 1}) || counts.In(u) != &counts {
		t.Errorf("counts in units %+v", u)
	}
}

// TestLoss: gradients are difference quotients of the loss, offset and weights included.
func TestLoss(t *testing.T) {
	l := Loss[float64]{Family: family.Poisson{}, Workers: 1}
	eta := []float64{0.5, -0.2, 1, 0}
	l.Of(&counts, eta, true, 7)
	grad := append([]float64(nil), l.Grad...)
	for i := range eta {
		const h = 1e-5
		at := func(v float64) float64 {
			old := eta[i]
			eta[i] = v
			defer func() { eta[i] = old }()
			return l.Of(&counts, eta, false, 1)
		}
		if q := (at(eta[i]+h) - at(eta[i]-h)) / (2 * h) / 7; math.Abs(q-grad[i]) > 1e-8*(1+math.Abs(q)) {
			t.Errorf("row %d: gradient %v, difference quotient %v", i, grad[i], q)
		}
	}
}
