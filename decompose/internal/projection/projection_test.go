package projection_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/pho-go/pho/decompose/internal/moments"
	"github.com/pho-go/pho/decompose/internal/projection"
	"github.com/pho-go/pho/design"
	"github.com/pho-go/pho/penalty"
)

const n = 300

// rows are two bases of two and three columns, and a deep part with an intercept.
func rows(seed uint64) (x [2]*mat.Dense, z *mat.Dense) {
	r := rand.New(rand.NewPCG(seed, 1))
	x = [2]*mat.Dense{mat.NewDense(n, 2, nil), mat.NewDense(n, 3, nil)}
	z = mat.NewDense(n, 1, nil)
	for i := range n {
		for _, b := range x {
			_, d := b.Dims()
			for j := range d {
				b.Set(i, j, r.NormFloat64()+float64(j))
			}
		}
		z.Set(i, 0, 5+x[0].At(i, 0)-2*x[1].At(i, 2)+r.NormFloat64())
	}
	return x, z
}

func sums(t *testing.T, x [2]*mat.Dense, z *mat.Dense, factor bool) *moments.Moments {
	t.Helper()
	c := moments.NewChunk(moments.Layout{
		Bases:      []moments.Basis{{Name: "a", Dim: 2}, {Name: "b", Dim: 3}},
		Predictors: [][]int{{0, 1}}, Responses: 1, Factor: factor,
	})
	if err := c.Add([]design.Columns{design.Dense{Dense: x[0]}, design.Dense{Dense: x[1]}}, nil, z); err != nil {
		t.Fatal(err)
	}
	return c.Moments()
}

// solved is the whole way, without penalties.
func solved(t *testing.T, m *moments.Moments, blocks ...projection.Block) (*projection.Constrained, *projection.Fit) {
	t.Helper()
	c, err := projection.Constrain(m, 0, blocks, 1e-6)
	if err != nil {
		t.Fatal(err)
	}
	f, err := c.Problem(true, false).Orthogonal()
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Settle(); err != nil {
		t.Fatal(err)
	}
	return c, f
}

// centred is [x_0 x_1] about the means.
func centred(x [2]*mat.Dense) *mat.Dense {
	var all mat.Dense
	all.Augment(x[0], x[1])
	_, p := all.Dims()
	for j := range p {
		mean := mat.Sum(all.ColView(j)) / n
		for i := range n {
			all.Set(i, j, all.At(i, j)-mean)
		}
	}
	return &all
}

func byRoute(t *testing.T, test func(t *testing.T, factor bool)) {
	t.Run("products", func(t *testing.T) { test(t, false) })
	t.Run("factor", func(t *testing.T) { test(t, true) })
}

// Alpha solves the normal equations, of the coefficients that the constraint leaves.
func TestOrthogonalIsLeastSquares(t *testing.T) { byRoute(t, testOrthogonalIsLeastSquares) }

func testOrthogonalIsLeastSquares(t *testing.T, factor bool) {
	x, z := rows(1)
	normal := []float64{1, 2, -1}
	for _, v := range [][]float64{nil, normal} {
		c, f := solved(t, sums(t, x, z, factor), projection.Block{}, projection.Block{Normal: v})
		alpha := f.Alpha()
		if v != nil {
			if d := floats.Dot(v, alpha[2:]); math.Abs(d) > 1e-12 {
				t.Errorf("v'a = %g", d)
			}
		}
		all := centred(x)
		left := mat.NewVecDense(n, nil)
		left.MulVec(all, mat.NewVecDense(5, alpha))
		left.SubVec(z.ColView(0), left)
		var score mat.VecDense
		score.MulVec(all.T(), left) // 0, but along the normal
		out := score.RawVector().Data
		if v != nil {
			floats.AddScaled(out[2:], -floats.Dot(out[2:], v)/floats.Dot(v, v), v)
		}
		if worst := floats.Norm(out, math.Inf(1)); worst > 1e-9 {
			t.Errorf("normal %v: X'(z - X alpha) is %g", v, worst)
		}
		if f.Orthogonality() > 1e-10 {
			t.Errorf("orthogonality %g", f.Orthogonality())
		}
		want := 5
		if v != nil {
			want--
		}
		if f.Rank != want || c.Width() != want {
			t.Errorf("normal %v: rank %d, %d columns, want %d", v, f.Rank, c.Width(), want)
		}
		if edf := floats.Sum(f.EDF); math.Abs(edf-float64(want)) > 1e-12 || math.Abs(f.EDF[0]-2) > 1e-12 {
			t.Errorf("normal %v: degrees of freedom %v", v, f.EDF)
		}
	}
}

// Of a column that both bases have each ends up with the half, what the network's own
// coefficients hold of it counted; both are told of.
func TestSharedColumnIsSplitEvenly(t *testing.T) { byRoute(t, testSharedColumnIsSplitEvenly) }

func testSharedColumnIsSplitEvenly(t *testing.T, factor bool) {
	x, _ := rows(2)
	x[1].SetCol(0, mat.Col(nil, 0, x[0]))
	z := mat.NewDense(n, 1, mat.Col(nil, 0, x[0]))
	_, f := solved(t, sums(t, x, z, factor), projection.Block{Beta: []float64{3, 0}}, projection.Block{})
	if want := []float64{-1, 0, 2, 0, 0}; floats.Distance(f.Alpha(), want, math.Inf(1)) > 1e-9 {
		t.Errorf("alpha %v, want %v", f.Alpha(), want)
	}
	a := f.Aliases()
	if len(a.Columns) != 1 || a.Columns[0] != (projection.Column{Block: 1, At: 0}) || len(a.With[0]) != 1 || len(a.Groups()) != 1 {
		t.Errorf("aliases %+v", a)
	}
	if want := []float64{1.5, 2.5}; floats.Distance(f.EDF, want, 2) > 1e-9 || f.Rank != 4 {
		t.Errorf("degrees of freedom %v of rank %d, want %v: one column counts for a half in each", f.EDF, f.Rank, want)
	}
	full, pairs, err := f.Concurvity(t.Context(), f.Alpha())
	if err != nil || full[0].Worst < 0.999 || len(pairs) != 2 {
		t.Errorf("concurvity %+v, pairs %+v, %v", full, pairs, err)
	}
}

// A kept block gets nothing under a penalty on the other, and does not count.
func TestKeptBlock(t *testing.T) { byRoute(t, testKeptBlock) }

func testKeptBlock(t *testing.T, factor bool) {
	x, z := rows(3)
	ridge := penalty.Penalty{S: []mat.Symmetric{penalty.Ridge(3)}, SP: []float64{2}}
	c, err := projection.Constrain(sums(t, x, z, factor), 0, []projection.Block{{Kept: true, Norm: 1}, {Penalty: ridge, Norm: 1}}, 1e-6)
	if err != nil {
		t.Fatal(err)
	}
	f, err := c.Problem(true, false).Penalised(t.Context(), nil, penalty.Options{})
	if err != nil {
		t.Fatal(err)
	}
	alpha := f.Alpha()
	if alpha[0] != 0 || alpha[1] != 0 || alpha[4] == 0 || math.Abs(f.EDF[0]) > 1e-12 || f.Rank != 3 || c.Width() != 3 || f.Lambda[0] != nil {
		t.Errorf("alpha %v, edf %v, rank %d, %d columns, lambda %v", alpha, f.EDF, f.Rank, c.Width(), f.Lambda)
	}
	// (X'X + 2 S) alpha = X'z, S scaled by the squared norm of the basis.
	scaled, _ := penalty.Scale(ridge.S[0], 1)
	all := centred(x)
	b := all.Slice(0, n, 2, 5)
	var a, xz mat.Dense
	a.Mul(b.T(), b)
	for i := range 3 {
		a.Set(i, i, a.At(i, i)+2*scaled.At(i, i))
	}
	xz.Mul(b.T(), z)
	var want mat.VecDense
	if err := want.SolveVec(&a, xz.ColView(0)); err != nil {
		t.Fatal(err)
	}
	if d := floats.Distance(alpha[2:], want.RawVector().Data, 2); d > 1e-10 {
		t.Errorf("alpha %v, want %v", alpha[2:], want.RawVector().Data)
	}
	// edf = tr (X'X + 2 S)^-1 X'X, and the covariance is its share of the variance that is left.
	var inverse, xx, hat mat.Dense
	xx.Mul(b.T(), b)
	if inverse.Inverse(&a) != nil {
		t.Fatal("singular")
	}
	hat.Mul(&inverse, &xx)
	if edf := mat.Trace(&hat); math.Abs(f.EDF[1]-edf) > 1e-10 {
		t.Errorf("%g degrees of freedom, want %g", f.EDF[1], edf)
	}
	left := mat.NewVecDense(n, nil)
	left.MulVec(b, mat.NewVecDense(3, alpha[2:]))
	left.SubVec(z.ColView(0), left)
	mean := mat.Sum(left) / n
	worst := 0.0
	for i := range n {
		left.SetVec(i, left.AtVec(i)-mean)
	}
	scale := mat.Dot(left, left) / (n - f.EDFTotal)
	if math.Abs(f.EDFTotal-f.EDF[1]-1) > 1e-10 || math.Abs(f.Scale-scale) > 1e-10 {
		t.Errorf("residual variance %g, want %g on %g degrees of freedom", f.Scale, scale, f.EDFTotal)
	}
	for i := range 3 {
		if got, want := f.Covariance().At(2+i, 2+i), scale*inverse.At(i, i); math.Abs(got-want) > 1e-10 {
			t.Errorf("variance %g of coefficient %d, want %g", got, i, want)
		}
	}
	for j := range 3 {
		column := all.ColView(2 + j)
		worst = math.Max(worst, math.Abs(mat.Dot(column, left))/(mat.Norm(column, 2)*mat.Norm(left, 2)))
	}
	if got := f.Orthogonality(); math.Abs(got-worst) > 1e-10 {
		t.Errorf("largest correlation with what is left %g, want %g", got, worst)
	}
}
