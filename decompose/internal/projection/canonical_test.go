package projection_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"github.com/pho-go/pho/decompose/internal/moments"
	"github.com/pho-go/pho/decompose/internal/projection"
	"github.com/pho-go/pho/design"
)

// compared are weighted rows of bases of X, of two and three columns of which one repeats others, and of U, of which one
// column is a function of X's first up to noise, one does not vary and one is another's double.
type compared struct {
	x, y, u *mat.Dense
	w       []float64
}

func newCompared(seed uint64) compared {
	r := rand.New(rand.NewPCG(seed, 3))
	c := compared{mat.NewDense(n, 2, nil), mat.NewDense(n, 3, nil), mat.NewDense(n, 6, nil), make([]float64, n)}
	for i := range n {
		a, b, z, other := r.NormFloat64(), r.NormFloat64(), r.NormFloat64(), r.NormFloat64()
		c.x.SetRow(i, []float64{a, 3 + a*a})
		c.y.SetRow(i, []float64{b, z, b + z})
		c.u.SetRow(i, []float64{100 + a + 0.2*r.NormFloat64(), other, 2 * other, 7, z + 3*r.NormFloat64(), other + r.NormFloat64()})
		c.w[i] = 0.5 + r.Float64()
	}
	return c
}

func (c compared) moments(t *testing.T, factor bool) *moments.Moments {
	t.Helper()
	chunk := moments.NewChunk(moments.Layout{
		Bases:      []moments.Basis{{Name: "x", Dim: 2}, {Name: "y", Dim: 3}, {Name: "u", Dim: 6}},
		Predictors: [][]int{{0, 1}, {0, 1, 2}}, Responses: 1, Factor: factor,
	})
	if err := chunk.Add([]design.Columns{design.Dense{Dense: c.x}, design.Dense{Dense: c.y}, design.Dense{Dense: c.u}}, c.w, mat.NewDense(n, 1, nil)); err != nil {
		t.Fatal(err)
	}
	return chunk.Moments()
}

// basis is an orthonormal basis of columns of a, about their weighted means and times the roots of weights, by QR.
func (c compared) basis(a mat.Matrix, columns ...int) *mat.Dense {
	own := c.centred(a, columns...)
	var qr mat.QR
	qr.Factorize(own)
	var q mat.Dense
	qr.QTo(&q)
	return q.Slice(0, n, 0, len(columns)).(*mat.Dense)
}

func (c compared) centred(a mat.Matrix, columns ...int) *mat.Dense {
	own := mat.NewDense(n, len(columns), nil)
	for l, j := range columns {
		x := mat.Col(nil, j, a)
		mean := stat.Mean(x, c.w)
		for i, v := range x {
			own.Set(i, l, (v-mean)*math.Sqrt(c.w[i]))
		}
	}
	return own
}

// Canonical correlations are those of orthonormal bases of the rows themselves (QR and singular values), of columns that
// neither repeat nor stand still; what X tells of a unit is least squares on the rows.
func TestCanonical(t *testing.T) {
	byRoute(t, func(t *testing.T, factor bool) {
		c := newCompared(1)
		m := c.moments(t, factor)
		before := m.Clone()
		got := projection.CanonicalOf(m.Predictor(1), []bool{false, false, true}, []int{0, 1}, 1e-6, 1e-4)
		if !mat.Equal(m.XX, before.XX) {
			t.Error("the moments have changed")
		}
		var all mat.Dense
		all.Augment(c.x, c.y)
		qx, qu := c.basis(&all, 0, 1, 2, 3), c.basis(c.u, 0, 1, 4, 5)
		if got.RankX != 4 || got.RankU != 4 {
			t.Fatalf("ranks %d and %d, want 4 and 4", got.RankX, got.RankU)
		}
		var cross mat.Dense
		cross.Mul(qx.T(), qu)
		var svd mat.SVD
		svd.Factorize(&cross, mat.SVDThin)
		for i, rho := range svd.Values(nil) {
			if d := got.Functions[i].R2 - rho*rho; math.Abs(d) > 1e-9 {
				t.Errorf("R2 %d is %.12f, by rows %.12f", i, got.Functions[i].R2, rho*rho)
			}
		}
		want := 0.0 // of the five columns that vary
		for _, j := range []int{0, 1, 2, 4, 5} {
			u := c.centred(c.u, j)
			var told mat.Dense
			told.Mul(qx.T(), u)
			want += math.Pow(mat.Norm(&told, 2)/mat.Norm(u, 2), 2) / 5
		}
		if math.Abs(got.Explained-want) > 1e-9 {
			t.Errorf("explained %.12f, by rows %.12f", got.Explained, want)
		}
		sum := 0.0
		for _, f := range got.Functions {
			sum += f.Share
		}
		for g, columns := range [][]int{{0, 1}, {2, 3}} { // the prediction of the first function, by each group's rows
			var f, left, alone mat.Dense
			svd.UTo(&left)
			f.Mul(qx, left.ColView(0))
			alone.Mul(c.basis(&all, columns...).T(), &f)
			if r2 := math.Pow(mat.Norm(&alone, 2), 2); math.Abs(got.Functions[0].Groups[g]-r2) > 1e-9 {
				t.Errorf("group %d alone tells %.12f, by rows %.12f", g, got.Functions[0].Groups[g], r2)
			}
		}
		if math.Abs(sum-want) > 1e-9 {
			t.Errorf("shares add up to %.12f, explained is %.12f", sum, want)
		}
		if f := got.Functions[0]; f.R2 < 0.95 || f.R2 > 0.975 || f.Groups[0] < 0.9 || math.Abs(f.Share-f.R2/5) > 0.01 {
			t.Errorf("the first is %+v: the unit that is a + noise of sd 0.2 has R2 %.3f", f, 1/1.04)
		}
	})
}

// Nothing is told where X or U stand still.
func TestCanonicalOfConstants(t *testing.T) {
	c := newCompared(1)
	c.u.Zero()
	got := projection.CanonicalOf(c.moments(t, false).Predictor(1), []bool{false, false, true}, []int{0, 1}, 1e-6, 1e-4)
	if got.Explained != 0 || got.RankU != 0 || got.Functions != nil {
		t.Errorf("%+v", got)
	}
}

// The bound by chance is exceeded by 1 of 100 samples of columns that have nothing to do with each other, about.
func TestChanceR2(t *testing.T) {
	const samples, rows = 600, 120
	r := rand.New(rand.NewPCG(5, 5))
	for _, c := range []struct{ p, q int }{{3, 4}, {8, 30}, {40, 50}} {
		bound, above := projection.ChanceR2(c.p, c.q, rows), 0
		for range samples {
			if largestR2(r, rows, c.p, c.q) > bound {
				above++
			}
		}
		if above > 15 || bound > 0.999 {
			t.Errorf("%d and %d columns: %d of %d samples exceed %.3f", c.p, c.q, above, samples, bound)
		}
	}
	if got := []float64{projection.ChanceR2(60, 59, rows), projection.ChanceR2(0, 3, rows)}; !slices.Equal(got, []float64{1, 1}) {
		t.Errorf("columns that take up all rows, or none: %g, want 1", got)
	}
}

func largestR2(r *rand.Rand, rows, p, q int) float64 {
	orthonormal := func(d int) *mat.Dense {
		a := mat.NewDense(rows, d+1, nil)
		for i := range rows {
			a.Set(i, 0, 1)
			for j := 1; j <= d; j++ {
				a.Set(i, j, r.NormFloat64())
			}
		}
		var qr mat.QR
		qr.Factorize(a)
		var out mat.Dense
		qr.QTo(&out)
		return out.Slice(0, rows, 1, d+1).(*mat.Dense)
	}
	var cross mat.Dense
	cross.Mul(orthonormal(p).T(), orthonormal(q))
	var svd mat.SVD
	svd.Factorize(&cross, mat.SVDNone)
	rho := svd.Values(nil)[0]
	return rho * rho
}
