package decompose_test

import (
	"context"
	"errors"
	"math"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/decompose"
)

// ratio is y/x.
type ratio struct{}

func (ratio) Eta(_ context.Context, dst *mat.Dense, b *data.Batch) error {
	x, errX := b.Numeric("x")
	y, errY := b.Numeric("y")
	for i := range x {
		dst.Set(i, 0, y[i]/x[i])
	}
	return errors.Join(errX, errY)
}

// All of a black box is deep, and a value that no sum of terms can be is an error that names the row.
func TestBlackBoxIsDeep(t *testing.T) {
	m, err := decompose.NewBlackBox(ratio{}, []string{"x", "y"})
	if err != nil {
		t.Fatal(err)
	}
	b := data.NewBatch(3, 40)
	for name, v := range map[string][]float64{"x": {1, 2, 4}, "y": {3, 3, 3}} {
		if err := b.SetNumeric(name, v); err != nil {
			t.Fatal(err)
		}
	}
	out := &decompose.Outputs{Zeta: mat.NewDense(3, 1, []float64{math.NaN(), 1, 1}), Eta: mat.NewDense(3, 1, nil)}
	if err := m.Forward(t.Context(), out, b); err != nil {
		t.Fatal(err)
	}
	if !mat.Equal(out.Zeta, mat.NewDense(3, 1, []float64{3, 1.5, 0.75})) || !mat.Equal(out.Eta, out.Zeta) {
		t.Errorf("zeta %v, eta %v", out.Zeta, out.Eta)
	}
	if err := b.SetNumeric("x", []float64{1, 0, 4}); err != nil {
		t.Fatal(err)
	}
	if err := m.Forward(t.Context(), out, b); err == nil || !strings.Contains(err.Error(), "data row 42") {
		t.Errorf("an infinite value: %v", err)
	}
}

func TestBlackBoxFaults(t *testing.T) {
	for _, c := range []struct {
		columns, predictors []string
	}{{nil, nil}, {[]string{"x", "x"}, nil}, {[]string{""}, nil}, {[]string{"x"}, []string{"mu", "mu"}}} {
		if m, err := decompose.NewBlackBox(ratio{}, c.columns, c.predictors...); err == nil {
			t.Errorf("%q, %q: %v is no error", c.columns, c.predictors, m)
		}
	}
}
