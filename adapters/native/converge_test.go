package native

import (
	"math"
	"testing"

	"github.com/pho-go/pho/family"
)

// TestSolvedForEveryFamily: at the solution of linear terms the score of the log-likelihood is
// orthogonal to the columns, for every family and each of its predictors; what is estimated
// besides makes no difference to that, for it is at its own maximum.
func TestSolvedForEveryFamily(t *testing.T) {
	t.Parallel()
	tab := withShares(t, simulated(t, 300, 8))
	b := whole(t, tab)
	column := func(name string) []float64 {
		x, err := b.Numeric(name)
		if err != nil {
			t.Fatal(err)
		}
		return x
	}
	for _, c := range []struct {
		response, family string
		predictors       int
		offset           string
	}{
		{"c", "poisson", 1, "o"}, {"c", "poisson", 1, ""}, {"b", "binomial", 1, ""}, {"c", "negative-binomial", 1, "o"}, {"h", "gaussian", 2, ""},
		{"h", "student-t", 1, ""}, {"p", "beta", 1, ""}, {"p", "beta", 2, ""}, {"c", "zip", 2, ""}, {"c", "tweedie(p=1.5)", 1, ""},
		{"p", "gamma", 1, ""}, {"p", "inverse-gaussian", 1, ""}, {"p", "lognormal", 1, ""}, {"p", "weibull", 1, ""}, {"p", "log-logistic", 2, ""}, {"y", "gaussian", 1, "o"},
		{"d", "ordinal", 1, ""}, {"p", "cox", 1, ""}, {"d", "categorical", 4, ""},
	} {
		cfg := Config{Architecture: GAM, Response: c.response, Offset: c.offset, Structured: Structured{Formulas: []string{"~ x1 + x2"}}}
		if cfg.Family = (family.Categorical{}); c.family != "categorical" {
			cfg.Family = parsed(c.family, c.predictors)
		}
		m, fit := mustTrain(t, cfg, tab)
		if fit.Status != Solved || len(fit.Warnings) > 0 {
			t.Errorf("%s: %s, %q", c.family, fit.Status, fit.Warnings)
		}
		eta, y := etaOf(t, m, b), column(c.response)
		f := m.Family()
		n, k := eta.Dims()
		grad, info := make([]float64, k), make([]float64, k)
		for _, x := range []string{"", "x1", "x2"} {
			sum, size := make([]float64, k), make([]float64, k)
			for i := range n {
				at := append([]float64{}, eta.RawRowView(i)...)
				if c.offset != "" {
					at[0] += column(c.offset)[i]
				}
				v := 1.0
				if x != "" {
					v = column(x)[i]
				}
				f.Score(grad, info, y[i], 1, at, 1)
				for j := range k {
					sum[j] += grad[j] * v
					size[j] += math.Abs(grad[j] * v)
				}
			}
			for j := range k {
				// A round that changes the likelihood by 1e-8 leaves the score, its root, at 1e-4.
				if !(math.Abs(sum[j]) < 3e-4*size[j]) {
					t.Errorf("%s, %d predictors, offset %q: the score of predictor %d times %q is %g of %g", c.family, k, c.offset, j, x, sum[j], size[j])
				}
			}
		}
	}
}
