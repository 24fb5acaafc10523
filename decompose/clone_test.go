package decompose_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"gonum.org/v1/gonum/mat"

	"github.com/pho-go/pho/decompose"
)

func TestCloneSharesNoNumbers(t *testing.T) {
	fresh := func() *decompose.Parts {
		return &decompose.Parts{Predictors: []decompose.PredictorParts{
			{Intercept: 1, Terms: mat.NewDense(1, 1, []float64{2}), SE: mat.NewDense(1, 1, []float64{3}), Unstructured: []float64{4}, Eta: []float64{7}},
			{Terms: &mat.Dense{}, Unstructured: []float64{5}, Eta: []float64{5}},
		}}
	}
	p := fresh()
	c := p.Clone()
	for k := range p.Predictors {
		d := &p.Predictors[k]
		d.Intercept, d.Unstructured[0], d.Eta[0] = -1, -1, -1
	}
	p.Predictors[0].Terms.Set(0, 0, -1)
	p.Predictors[0].SE.Set(0, 0, -1)
	equal := cmp.Comparer(func(a, b *mat.Dense) bool {
		return a == nil && b == nil || a != nil && b != nil && mat.Equal(a, b)
	})
	if diff := cmp.Diff(fresh().Predictors, c.Predictors, equal); diff != "" {
		t.Error(diff)
	}
}
