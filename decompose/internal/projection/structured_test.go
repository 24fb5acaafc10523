package projection

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/pho-go/pho/decompose/internal/moments"
	"github.com/pho-go/pho/design"
	"github.com/pho-go/pho/internal/base/linalg"
	"github.com/pho-go/pho/penalty"
)

// leveledMoments are those of columns x, of levels, and of two more columns.
func leveledMoments(t *testing.T, levels, columns int) *moments.Sum {
	const rows = 4800
	l := moments.Layout{Bases: []moments.Basis{{Name: "x", Dim: columns}, {Name: "g", Dim: levels}, {Name: "z", Dim: 2}}, Predictors: [][]int{{0, 1, 2}}, Responses: 1}
	r := rand.New(rand.NewPCG(1, 2))
	g, x, z, zeta, w := &design.Codes{D: levels}, mat.NewDense(rows, columns, nil), mat.NewDense(rows, 2, nil), mat.NewDense(rows, 1, nil), make([]float64, rows)
	for i := range rows {
		level := r.IntN(levels)
		if i < levels {
			level = i // each has a row
		}
		g.Code, w[i] = append(g.Code, int32(level)), 0.5+r.Float64()
		for j := range columns {
			x.Set(i, j, r.NormFloat64()+float64(level%3))
		}
		z.SetRow(i, []float64{1e2 + r.NormFloat64(), r.NormFloat64()})
		zeta.Set(i, 0, math.Sin(float64(level))+x.At(i, 0)*z.At(i, 1)/3)
	}
	c := moments.NewChunk(l)
	if err := c.Add([]design.Columns{design.Dense{Dense: x}, g, design.Dense{Dense: z}}, w, zeta); err != nil {
		t.Fatal(err)
	}
	sum := moments.NewSum(l, 0)
	if err := sum.Append(c.MomentsInto(nil)); err != nil {
		t.Fatal(err)
	}
	return sum
}

// TestOrthogonalOfManyLevels: levels that are a combination of the others and the intercept are found in all products, by the
// same steps as of few: the eigenvectors of all columns take twenty times as long.
func TestOrthogonalOfManyLevels(t *testing.T) {
	sum := leveledMoments(t, 600, 3)
	var alpha [2][]float64
	for i := range alpha {
		own, err := Constrain(sum.Total(), 0, []Block{{Norm: 1}, {Norm: 1}, {Norm: 1}}, 1e-6)
		if err != nil {
			t.Fatal(err)
		}
		if i == 0 {
			own.view.XX = linalg.Dense(own.view.XX)
		}
		fit, err := own.Problem(true, false).Orthogonal()
		if err != nil {
			t.Fatal(err)
		}
		if alpha[i] = fit.Alpha(); len(fit.Aliases().Columns) != 1 {
			t.Errorf("%d columns are aliased", len(fit.Aliases().Columns))
		}
	}
	for j, v := range alpha[1] {
		if v != alpha[0][j] {
			t.Fatalf("coefficient %d differs by %.2g", j, v-alpha[0][j])
		}
	}
}

// Of 600 levels, fits by few numbers of each are those by all products, to 1e-10 at the same smoothing parameters.
func TestManyLevels(t *testing.T) {
	const levels, columns = 600, 8
	sum := leveledMoments(t, levels, columns)
	difference, _ := penalty.Difference(columns, 2)
	smooth := Block{Norm: 10, Penalty: penalty.Penalty{S: []mat.Symmetric{difference}, SP: []float64{3}}}
	reference := make([]float64, levels)
	reference[0] = 1
	ones := make([]float64, levels)
	for i := range ones {
		ones[i] = 1
	}
	factor := Block{Norm: 1, Normal: reference}
	random := Block{Norm: 1, Penalty: penalty.Penalty{S: []mat.Symmetric{mat.NewDiagDense(levels, ones)}, SP: []float64{2}}}
	some := mat.NewDense(levels, levels-2, nil) // all but two, which are not neighbours
	for i, column := 0, 0; i < levels; i++ {
		if i != 3 && i != 77 {
			some.Set(i, column, 1)
			column++
		}
	}
	for name, of := range map[string]struct {
		Block
		whole bool // the covariance has all numbers
	}{
		"factor":               {Block: factor},
		"random effect":        {Block: random},
		"levels that sum to 0": {Block{Norm: 1, Normal: ones}, true},
		"some of the levels":   {Block{Norm: 1, Map: some}, true},
		"kept":                 {Block{Norm: 1, Kept: true}, true},
	} {
		blocks := []Block{smooth, of.Block, {Norm: 1}}
		for _, intercept := range []bool{true, false} {
			t.Run(fmt.Sprint(name, ", intercept ", intercept), func(t *testing.T) {
				fits := make([]*Fit, 2)
				for i := range fits {
					m := sum.Total()
					own, err := Constrain(m, 0, blocks, 1e-6)
					if err != nil {
						t.Fatal(err)
					}
					many, ok := own.view.XX.(*linalg.Structured)
					if !ok {
						t.Fatalf("the products are a %T", own.view.XX)
					}
					if i == 0 {
						own.view.XX = many.Dense()
					}
					if fits[i], err = own.Problem(intercept, false).Penalised(context.Background(), nil, penalty.Options{Criterion: penalty.Fixed}); err != nil {
						t.Fatal(err)
					}
				}
				near := func(what string, a, b []float64, within float64) {
					t.Helper()
					norm := 0.0
					for _, v := range b {
						norm = math.Max(norm, math.Abs(v))
					}
					for i, v := range a {
						if d := math.Abs(v - b[i]); !(d <= within*norm) {
							t.Fatalf("%s: %d differs by %.2g of %.2g", what, i, d, norm)
						}
					}
				}
				numbers := func(s mat.Symmetric) []float64 { return mat.DenseCopyOf(linalg.Dense(s)).RawMatrix().Data }
				want, got := fits[0], fits[1]
				if _, ok := got.Covariance().(*linalg.Structured); ok == of.whole {
					t.Fatalf("the covariance is a %T", got.Covariance())
				}
				near("alpha", got.Alpha(), want.Alpha(), 1e-10)
				near("degrees of freedom", got.EDF, want.EDF, 1e-10)
				near("covariance", numbers(got.Covariance()), numbers(want.Covariance()), 1e-10)
				near("what smoothing adds", numbers(got.SmoothingBias().Matrix()), numbers(want.SmoothingBias().Matrix()), 1e-10)
				if a, b := want.weakest, got.weakest; !(b <= 20*a && b >= a/20) { // bounds, of row sums and of the trace
					t.Errorf("the weakest direction has %g at least, or %g by the trace", a, b)
				}
				full, pairs, err := got.Concurvity(context.Background(), got.Alpha())
				if err != nil {
					t.Fatal(err)
				}
				wantFull, wantPairs, err := want.Concurvity(context.Background(), want.Alpha())
				if err != nil {
					t.Fatal(err)
				}
				for j, m := range wantFull { // shares; a ridge of 1e-10 is in both
					near("concurvity", []float64{full[j].Worst, full[j].Observed, full[j].Estimate, 1}, []float64{m.Worst, m.Observed, m.Estimate, 1}, 1e-7)
				}
				if len(pairs) != len(wantPairs) {
					t.Errorf("%d pairs, want %d", len(pairs), len(wantPairs))
				}
			})
		}
	}
}

// Of two crossed factors the covariance of the fit serves in place of the inverse of all correlations.
func TestConcurvityByCovariance(t *testing.T) {
	const rows, levels = 15000, FewColumns/2 + 10
	l := moments.Layout{Bases: []moments.Basis{{Name: "a", Dim: levels}, {Name: "b", Dim: levels}}, Predictors: [][]int{{0, 1}}, Responses: 1}
	r := rand.New(rand.NewPCG(3, 4))
	a, b, zeta := &design.Codes{D: levels}, &design.Codes{D: levels}, mat.NewDense(rows, 1, nil)
	for i := range rows {
		level := r.IntN(levels)
		a.Code, b.Code = append(a.Code, int32(level)), append(b.Code, int32((level+r.IntN(60))%levels))
		zeta.Set(i, 0, math.Sin(float64(level))+r.NormFloat64())
	}
	c := moments.NewChunk(l)
	if err := c.Add([]design.Columns{a, b}, nil, zeta); err != nil {
		t.Fatal(err)
	}
	first := make([]float64, levels)
	first[0] = 1
	columns, err := Constrain(c.Moments(), 0, []Block{{Norm: 1, Normal: first}, {Norm: 1, Normal: first}}, 1e-6)
	if err != nil {
		t.Fatal(err)
	}
	f, err := columns.Problem(true, false).Orthogonal()
	if err != nil {
		t.Fatal(err)
	}
	if f.inverseCorrelations() == nil {
		t.Fatal("the covariance is not used")
	}
	got, _, err := f.Concurvity(t.Context(), f.Alpha())
	if err != nil {
		t.Fatal(err)
	}
	f.weakest = 0
	want, _, err := f.Concurvity(t.Context(), f.Alpha())
	if err != nil {
		t.Fatal(err)
	}
	for j, w := range want {
		for _, v := range [][2]float64{{got[j].Worst, w.Worst}, {got[j].Observed, w.Observed}, {got[j].Estimate, w.Estimate}} {
			if !(v[1] > 0.01) || math.Abs(v[0]-v[1]) > 1e-7 {
				t.Errorf("term %d: %v, want %v", j, got[j], w)
			}
		}
	}
}

// Of pairs of factors of many levels those that are shown are measured both ways.
func TestConcurvityOfManyAndMany(t *testing.T) {
	const rows, levels = 9000, manyColumns + 10
	r := rand.New(rand.NewPCG(7, 4))
	x := mat.NewDense(rows, 3*levels, nil)
	for i := range rows {
		level := r.IntN(levels + 1) // the last has no column
		for f, l := range []int{level, (level + r.IntN(3)) % (levels + 1), r.IntN(levels + 1)} {
			if l < levels {
				x.Set(i, f*levels+l, 1)
			}
		}
	}
	sd, theta := make([]float64, 3*levels), make([]float64, 3*levels)
	for j := range sd {
		column := x.ColView(j).(*mat.VecDense)
		mean := mat.Sum(column) / rows
		for i := range rows {
			column.SetVec(i, column.AtVec(i)-mean)
		}
		sd[j], theta[j] = mat.Norm(column, 2)/math.Sqrt(rows), r.NormFloat64()
		column.ScaleVec(1/mat.Norm(column, 2), column)
	}
	corr := mat.NewSymDense(3*levels, nil)
	corr.SymOuterK(1, x.T())
	s, err := newSpans(t.Context(), corr, sd, theta, []int{0, levels, 2 * levels, 3 * levels}, 1e-6)
	if err != nil {
		t.Fatal(err)
	}
	pairs, err := s.pairs(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(pairs) != 2 {
		t.Fatalf("%d pairs are shown", len(pairs))
	}
	for _, p := range pairs {
		if p.Block+p.With != 1 {
			t.Errorf("terms %d and %d are shown", p.Block, p.With)
		}
		own, err := ridgeInverse(linalg.Dense(s.terms[p.Block].corr), ridge(1e-6))
		if err != nil {
			t.Fatal(err)
		}
		other, err := ridgeInverse(linalg.Dense(s.terms[p.With].corr), ridge(1e-6))
		if err != nil {
			t.Fatal(err)
		}
		want := s.terms[p.Block].after(congruence(mat.DenseCopyOf(s.between(p.With, p.Block)), other), own)
		for _, v := range [][2]float64{{p.Worst, want.Worst}, {p.Observed, want.Observed}, {p.Estimate, want.Estimate}} {
			if math.Abs(v[0]-v[1]) > 1e-9 {
				t.Errorf("terms %d and %d: %v, want %v", p.Block, p.With, p.Concurvity, want)
			}
		}
	}
}
