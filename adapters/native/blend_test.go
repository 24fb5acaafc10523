package native

import (
	"context"
	"math"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/pho-go/pho/decompose"
	"github.com/pho-go/pho/decompose/decomposetest"
	"github.com/pho-go/pho/family"
)

// TestBlend: a weighted sum of unlike models keeps the laws of decompose.Model, is
// the sum of their predictions, and is split exactly.
func TestBlend(t *testing.T) {
	tab := simulated(t, 400, 10)
	gam, _ := mustTrain(t, Config{Architecture: GAM, Structured: Structured{Formulas: []string{`y ~ g + s(x2, k=8)`}}}, tab)
	nam, _ := mustTrain(t, Config{Architecture: NAM, Response: "y", FeatureNetworks: FeatureNetworks{Columns: []string{"x1", "x3"}, Hidden: []int{8, 4}}, Training: Training{Epochs: 3}}, tab)
	m, err := Blend([]decompose.Model{gam, nam}, []float64{0.7, 0.2})
	if err != nil {
		t.Fatal(err)
	}
	b := whole(t, tab)
	if err := decomposetest.Model(m, b.Slice(0, 150), 1e-9); err != nil {
		t.Error(err)
	}
	var want mat.Dense
	want.Scale(0.7, etaOf(t, gam, b))
	var other mat.Dense
	other.Scale(0.2, etaOf(t, nam, b))
	want.Add(&want, &other)
	if got := etaOf(t, m, b); !mat.EqualApprox(got, &want, 1e-12) {
		t.Error("a blend is not the weighted sum of its models")
	}
	with, err := decompose.With(m, map[string][]decompose.Block{"": {{Term: &decompose.LinearTerm{Column: "x1"}}}})
	if err != nil {
		t.Fatal(err)
	}
	r, err := decompose.Decompose(context.Background(), with, tab, nil)
	if err != nil {
		t.Fatal(err)
	}
	if p := r.Predictors[0]; !(*p.ReconstructionError < 1e-12 && p.Variance.Structured > 0 && p.Orthogonality < 1e-9) {
		t.Errorf("reconstruction error %g, structured variance %g, orthogonality %g", *p.ReconstructionError, p.Variance.Structured, p.Orthogonality)
	}
	mean, err := Blend([]decompose.Model{gam, gam, gam}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if !mat.EqualApprox(etaOf(t, mean, b), etaOf(t, gam, b), 1e-12) {
		t.Error("the mean of equal models is another model")
	}
}

func TestBlendRefuses(t *testing.T) {
	tab := simulated(t, 200, 11)
	one, _ := mustTrain(t, Config{Architecture: GAM, Structured: Structured{Formulas: []string{`y ~ x1`}}}, tab)
	two, _ := mustTrain(t, Config{Family: family.GaussianLS{}, Structured: Structured{Formulas: []string{`mu = h ~ x1`}}, Training: Training{Epochs: 1}}, tab)
	for want, c := range map[string]struct {
		models  []decompose.Model
		weights []float64
	}{
		"a blend of no models":              {nil, nil},
		"2 weights for a blend of 1 models": {[]decompose.Model{one}, []float64{1, 2}},
		"weight 1 of a blend is NaN":        {[]decompose.Model{one}, []float64{math.NaN()}},
		`different predictors: ["eta"] of the first, ["mu" "sigma"] of number 2`: {[]decompose.Model{one, two}, nil},
	} {
		if _, err := Blend(c.models, c.weights); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
}
