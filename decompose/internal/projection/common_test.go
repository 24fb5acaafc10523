package projection_test

import (
	"context"
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/pho-go/pho/decompose/internal/moments"
	"github.com/pho-go/pho/decompose/internal/projection"
	"github.com/pho-go/pho/design"
	"github.com/pho-go/pho/penalty"
)

// TestFitsOfOneInverse: the covariances of fits that share smoothing parameters, and what smoothing adds to them, are those of each
// fitted alone, and multiples of one matrix by their residual variances.
func TestFitsOfOneInverse(t *testing.T) {
	x, z := rows(3)
	all := mat.NewDense(n, 3, nil)
	for i := range n {
		all.SetRow(i, []float64{z.At(i, 0), math.Sin(3 * x[1].At(i, 0)), 7 * x[0].At(i, 1) * x[1].At(i, 1)})
	}
	c := moments.NewChunk(moments.Layout{
		Bases:      []moments.Basis{{Name: "a", Dim: 2}, {Name: "b", Dim: 3}},
		Predictors: [][]int{{0, 1}, {0, 1}, {0, 1}}, Responses: 3,
	})
	if err := c.Add([]design.Columns{design.Dense{Dense: x[0]}, design.Dense{Dense: x[1]}}, nil, all); err != nil {
		t.Fatal(err)
	}
	m := c.Moments()
	o := penalty.Options{Criterion: penalty.Fixed}
	var problems []*projection.Problem
	var alone []*projection.Fit
	for k := range 3 {
		blocks := []projection.Block{{}, {Normal: []float64{1, 2, -1}, Norm: 1, Penalty: penalty.Penalty{S: []mat.Symmetric{penalty.Ridge(3)}, SP: []float64{20}}}}
		columns, err := projection.Constrain(m, k, blocks, 1e-6)
		if err != nil {
			t.Fatal(err)
		}
		problems = append(problems, columns.Problem(true, false))
		own, err := columns.Problem(true, false).Penalised(context.Background(), nil, o)
		if err != nil {
			t.Fatal(err)
		}
		alone = append(alone, own)
	}
	fits, err := projection.Shared{Problems: problems}.Penalised(context.Background(), nil, o)
	if err != nil {
		t.Fatal(err)
	}
	var first [2]mat.Symmetric
	for k, f := range fits {
		own := alone[k]
		of := [2]mat.Symmetric{f.SmoothingBias().Matrix(), f.TakeCovariance()}
		for i, want := range []mat.Symmetric{own.SmoothingBias().Matrix(), own.TakeCovariance()} {
			if k == 0 {
				first[i] = of[i]
			}
			for a := range 5 {
				for b := range 5 {
					v, multiple := of[i].At(a, b), f.Scale/fits[0].Scale*first[i].At(a, b)
					if most := math.Sqrt(want.At(a, a) * want.At(b, b)); !(math.Abs(v-want.At(a, b)) <= 1e-12*most) {
						t.Errorf("fit %d, matrix %d: %g at %d, %d, alone %g", k, i, v, a, b, want.At(a, b))
					}
					if v != multiple {
						t.Errorf("fit %d, matrix %d: %g at %d, %d, the first one's is %g", k, i, v, a, b, multiple)
					}
				}
			}
		}
	}
}
