package decompose_test

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/pho-go/pho/basis"
	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/decompose"
)

// TestCoefficients: if lines and factors are the only terms of a predictor, its coefficients
// equal those of least squares on a design matrix with treatment contrasts, the intercept's
// included, and its standard errors equal the sandwich HC3 or, on request, the classical
// ones.
func TestCoefficients(t *testing.T) {
	t.Parallel()
	const n = 300
	random := rand.New(rand.NewPCG(3, 1))
	x, z, y, g := make([]float64, n), make([]float64, n), make([]float64, n), make([]string, n)
	design, response := mat.NewDense(n, 5, nil), mat.NewDense(n, 1, nil)
	for i := range n {
		level := random.IntN(3)
		x[i], z[i], g[i] = 5+random.NormFloat64(), random.ExpFloat64(), []string{"a", "b", "c"}[level]
		y[i] = 2*x[i] - math.Sin(3*z[i]) + float64(level*level) + x[i]*z[i]
		row := []float64{1, x[i], 0, 0, z[i]}
		if level > 0 {
			row[1+level] = 1
		}
		design.SetRow(i, row)
		response.Set(i, 0, y[i])
	}
	tab := data.NewTable(n)
	must(t, tab.AddNumeric("x", x))
	must(t, tab.AddNumeric("z", z))
	must(t, tab.AddNumeric("y", y))
	must(t, tab.AddTexts("g", g))
	for _, bands := range []decompose.Bands{decompose.RobustBands, decompose.ProjectionBands} {
		r := projected(t, tab, "~ x + g + z", bands)
		beta, cov := regression(design, response, bands == decompose.RobustBands)
		found, err := r.Coefficients(0)
		must(t, err)
		want := []decompose.Coefficient{{}, {Term: "x"}, {Term: "g", Level: "b"}, {Term: "g", Level: "c"}, {Term: "z"}}
		if len(found) != len(want) {
			t.Fatalf("%+v", found)
		}
		for i, c := range found {
			if c.Term != want[i].Term || c.Level != want[i].Level || c.Before != 0 && i > 0 {
				t.Errorf("coefficient %d is %+v", i, c)
			}
			near(t, c.Term+c.Level, c.Estimate, beta[i], 1e-9)
			near(t, "se of "+c.Term+c.Level, c.SE, math.Sqrt(cov.At(i, i)), 1e-9)
		}
		nearCovariance(t, r, cov, 1e-9)
	}
	// Products share columns with their margins; the variances of sums and differences hold their covariances.
	for _, bands := range []decompose.Bands{decompose.RobustBands, decompose.RowsBands, decompose.ProjectionBands} {
		nearCovariance(t, projected(t, tab, "~ x + g + z + x:g + x:z", bands), nil, 0)
	}
	// A line beside its spline is no coefficient; the product's slope is one, and is not
	// among what the intercept is taken off.
	r := projected(t, tab, "~ z + s(z) + x + x:g", decompose.RobustBands)
	found, err := r.Coefficients(0)
	must(t, err)
	for _, c := range found {
		if c.Term == "z" || math.IsNaN(c.Estimate) {
			t.Errorf("%+v", c)
		}
	}
	r = projected(t, tab, "~ x", decompose.NoBands)
	if found, err := r.Coefficients(0); err != nil || len(found) != 2 || !math.IsNaN(found[1].SE) {
		t.Errorf("without bands: %+v, %v", found, err)
	}
	if cov, err := r.CoefficientCovariance(0); cov != nil || err != nil {
		t.Errorf("without bands: %v, %v", cov, err)
	}
}

// nearCovariance checks that the covariance of r's coefficients is want (nil: anything symmetric and positive semidefinite) and has
// the squares of their standard errors on its diagonal.
func nearCovariance(t *testing.T, r *decompose.Result, want *mat.Dense, most float64) {
	t.Helper()
	found, err := r.Coefficients(0)
	must(t, err)
	cov, err := r.CoefficientCovariance(0)
	must(t, err)
	if len(cov) != len(found) {
		t.Fatalf("%d coefficients, a covariance of %d", len(found), len(cov))
	}
	correlations := mat.NewSymDense(len(cov), nil)
	for i, row := range cov {
		near(t, "variance of "+found[i].Term+found[i].Level, row[i], found[i].SE*found[i].SE, 1e-12*row[i])
		for j, v := range row {
			if want != nil {
				near(t, "covariance", v, want.At(i, j), most)
			}
			if v != cov[j][i] {
				t.Errorf("covariance of %d and %d is %g and %g", i, j, v, cov[j][i])
			}
			if v != 0 { // of the first level of a product it is 0, as the coefficient
				correlations.SetSym(i, j, v/math.Sqrt(row[i]*cov[j][j]))
			}
		}
	}
	var e mat.EigenSym
	if !e.Factorize(correlations, false) || e.Values(nil)[0] < -1e-9 {
		t.Errorf("eigenvalues of the correlations: %g", e.Values(nil))
	}
}

// projected is y of the table projected on a formula's terms.
func projected(t *testing.T, tab *data.Table, formula string, bands decompose.Bands) *decompose.Result {
	t.Helper()
	f, err := basis.Parse(formula, &basis.Options{Schema: tab.Schema()})
	must(t, err)
	blocks, err := decompose.Prepare(context.Background(), tab, f.Specs, nil)
	must(t, err)
	m, err := decompose.With(&responses{[]string{"eta"}, []string{"y"}}, map[string][]decompose.Block{"": blocks})
	must(t, err)
	return decomposed(t, m, tab, &decompose.Options{Bands: bands, Projection: decompose.Projection{Method: decompose.PHO}})
}

// regression gives coefficients and standard errors: HC3, or of equal variances.
func regression(x, y *mat.Dense, robust bool) (beta []float64, _ *mat.Dense) {
	n, p := x.Dims()
	var inverse, xy, b, fitted, half, cov mat.Dense
	inverse.Mul(x.T(), x)
	if err := inverse.Inverse(&inverse); err != nil {
		panic(err)
	}
	xy.Mul(x.T(), y)
	b.Mul(&inverse, &xy)
	fitted.Mul(x, &b)
	half.Mul(x, &inverse)
	weighted, rss := mat.NewDense(n, p, nil), 0.0
	for i := range n {
		e := y.At(i, 0) - fitted.At(i, 0)
		rss += e * e
		h := mat.Dot(half.RowView(i), x.RowView(i))
		for j := range p {
			weighted.Set(i, j, half.At(i, j)*e/(1-h))
		}
	}
	cov.Mul(weighted.T(), weighted)
	if !robust {
		cov.Scale(rss/float64(n-p), &inverse)
	}
	for j := range p {
		beta = append(beta, b.At(j, 0))
	}
	return beta, &cov
}
