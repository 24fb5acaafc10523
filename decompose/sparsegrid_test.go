package decompose

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/pho-go/pho/design"
)

// manyLevels is the uncertainty of a factor of d levels beside q other columns, with a reference level that has no
// coefficient, and the levels themselves as a grid.
func manyLevels(d, q int) (u *uncertainty, x *design.Codes) {
	r := rand.New(rand.NewPCG(3, 4))
	u = &uncertainty{mean: make([]float64, d), intercept: make([]float64, d), variance: 0.3}
	left := mat.NewDense(d, q, nil)
	for i := range d {
		u.mean[i] = (1 + r.Float64()) / float64(2*d)
		for j := range q {
			left.Set(i, j, r.NormFloat64()/4)
		}
	}
	left.RowView(0).(*mat.VecDense).Zero()
	u.cov = mat.NewSymDense(d, nil)
	u.cov.(*mat.SymDense).SymOuterK(1, left)
	x = &design.Codes{D: d}
	for i := range d {
		if i > 0 {
			u.cov.(*mat.SymDense).SetSym(i, i, u.cov.At(i, i)+1+r.Float64())
			u.intercept[i] = left.At(i, 0) / 8
		}
		x.Code = append(x.Code, int32(i))
	}
	return u, x
}

// The bands of a factor's levels are those of dense rows: standard errors to rounding, simultaneous widths to what draws
// leave open, 1.5 % of each quantile.
func TestSparseGrid(t *testing.T) {
	const levels = 1000
	u, x := manyLevels(levels, 5)
	dense := mat.NewDense(levels, levels, nil)
	if err := design.ToDense(dense, x); err != nil {
		t.Fatal(err)
	}
	se, want := make([]float64, levels), make([]float64, levels)
	if err := u.standardErrorsAt(se, []design.Columns{x}); err != nil {
		t.Fatal(err)
	}
	if err := u.standardErrors(mat.NewDense(levels, 1, want), 0, 0, design.Dense{Dense: dense}); err != nil {
		t.Fatal(err)
	}
	for i, v := range se {
		if !(math.Abs(v-want[i]) <= 1e-10*want[i]) {
			t.Fatalf("standard error %g of level %d, want %g", v, i, want[i])
		}
	}
	for _, df := range []float64{0, 7} {
		sim, err := u.simultaneousAt([]design.Columns{x}, df, 1)
		if err != nil {
			t.Fatal(err)
		}
		again, _ := u.simultaneousAt([]design.Columns{x}, df, 1)
		judge := u.simultaneous(dense, df, 1)
		ratio := sim[0] / judge[0]
		if !(math.Abs(ratio-1) < 0.045) {
			t.Errorf("df %g: the band is %g of that by dense rows", df, ratio)
		}
		for i, v := range sim {
			if !(math.Abs(v-ratio*judge[i]) <= 1e-10*v) || v != again[i] {
				t.Fatalf("df %g: half width %g at level %d, again %g, want %g", df, v, i, again[i], ratio*judge[i])
			}
		}
	}
}

// Drawn coefficients have their covariance, U'U being it: of a singular one, too.
func TestCorrelated(t *testing.T) {
	const d = 150 // panels of 64, the last one short
	r := rand.New(rand.NewPCG(5, 6))
	x := mat.NewDense(d, d-20, nil)
	for i := range d {
		for j := range d - 20 {
			x.Set(i, j, r.NormFloat64())
		}
	}
	x.RowView(7).(*mat.VecDense).Zero()
	v := mat.NewSymDense(d, nil)
	v.SymOuterK(1, x)
	c := newCorrelated(v)
	n := len(c.columns)
	if n != d-1 {
		t.Fatalf("%d columns vary, want %d", n, d-1)
	}
	upper := mat.NewDense(n, n, nil)
	for i := range n {
		copy(upper.RawRowView(i)[i:], c.upper[i*n+i:(i+1)*n])
	}
	var back mat.Dense
	back.Mul(upper.T(), upper)
	for a, i := range c.columns {
		for b, j := range c.columns {
			if got := back.At(a, b) * c.sd[a] * c.sd[b]; math.Abs(got-v.At(i, j)) > 2*correlationRounding*c.sd[a]*c.sd[b] {
				t.Fatalf("%g at %d, %d, want %g", got, i, j, v.At(i, j))
			}
		}
	}
	// A draw is U'z, panel by panel.
	draws, random := c.draw(rand.New(rand.NewPCG(1, 1))), rand.New(rand.NewPCG(1, 1))
	z := mat.NewDense(n, drawBlock, nil)
	for i := range n {
		for b := range drawBlock {
			z.Set(i, b, random.NormFloat64())
		}
	}
	var want mat.Dense
	want.Mul(upper.T(), z)
	for a, j := range c.columns {
		for b := range drawBlock {
			if got := draws[j*drawBlock+b]; math.Abs(got-c.sd[a]*want.At(a, b)) > 1e-12*c.sd[a] {
				t.Fatalf("draw %d of coefficient %d is %g, want %g", b, j, got, c.sd[a]*want.At(a, b))
			}
		}
	}
}
