package importance

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/pho-go/pho/decompose"
	"github.com/pho-go/pho/family"
)

// With an offset the null model is a constant beside it, as glm(y ~ offset(o)) is: for
// Poisson its mean is known, log(sum y / sum exp(o)). Times that are censored are compared
// with the best constant, which for Weibull's at a known scale is known too.
func TestConstantBesideOffset(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(5, 5))
	d := decompose.Predictor{Intercept: 0.3, VarianceBefore: decompose.Variance{Total: 0.5}}
	var y, o []float64
	var sum, mass float64
	for range 300 {
		offset := 2 * random.NormFloat64()
		v := math.Floor(3 * random.Float64() * math.Exp(offset))
		y, o = append(y, v), append(o, offset)
		sum, mass = sum+v, mass+math.Exp(offset)
	}
	r := &decompose.Result{Offset: "o", Predictors: []decompose.Predictor{d}}
	v := &Visitor{family: family.Poisson{}, traits: family.TraitsOf(family.Poisson{}), result: r, phi: 1}
	c := new(sums).newConstant(v)
	want := 0.0
	for i := range y {
		c.add(v, v.family, y[i], 1, o[i])
		want += v.family.Deviance(y[i], 1, []float64{math.Log(sum/mass) + o[i]})
	}
	if got := c.best(false); math.Abs(got/want-1) > 1e-10 {
		t.Errorf("deviance %.15g of a constant, want %.15g", got, want)
	}
	r.Predictors[0].Intercept = 20 // so far off that the best constant is not in reach
	c = new(sums).newConstant(v)
	for i := range y {
		c.add(v, v.family, y[i], 1, o[i])
	}
	if got := c.best(false); !math.IsNaN(got) {
		t.Errorf("a constant out of reach has deviance %g", got)
	}
	r.Offset = ""
	if new(sums).newConstant(v) != nil {
		t.Error("without an offset sums over rows know it")
	}
}
