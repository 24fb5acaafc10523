package decompose_test

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/pho-go/pho/decompose"
)

// TestSimultaneous compares a smooth's band with draws of the curve at the grid, made from
// the covariances themselves; a line's is as wide as its pointwise band where that is
// widest against the level's. Seeds decide, and little.
func TestSimultaneous(t *testing.T) {
	tab := sandwichTable(t, 800)
	for _, o := range []decompose.Options{{}, {Bands: decompose.ProjectionBands}, {Columns: decompose.Columns{Weights: "w", Cluster: "g"}},
		{Projection: decompose.Projection{WithoutIntercept: []string{"eta"}}}} {
		m := formulaModel(t, `~ s(x0,bs="ps",k=9) + x1`, tab, 1)
		r := decomposed(t, m, tab, &o)
		b := all(t, tab, 12) // the grid
		d := &r.Predictors[0]
		cov, robust, cross, variance := r.Covariances(0)
		if robust == nil {
			sumW := float64(r.Rows)
			robust, cross, variance = cov, make([]float64, cov.SymmetricDim()), d.Scale/sumW
		}
		x, _, _ := rowsOfParts(t, r, m, tab, 0, "")
		from := 0
		for j := range d.Terms {
			n, p := b.Rows(), d.Terms[j].Term().Dim()
			e, err := mustApplier(t, r, m).SimultaneousEffect(context.Background(), 0, []int{j}, b, 5)
			must(t, err)
			rows := mat.NewDense(n, p, nil)
			level := make([]float64, n) // se(alpha_0 + f)
			for i := range n {
				for l := range p {
					rows.Set(i, l, x.At(i, from+l)-r.Means(0)[from+l])
					level[i] += 2 * rows.At(i, l) * cross[from+l]
				}
				v := rows.RowView(i)
				level[i] = math.Sqrt(level[i] + variance + mat.Inner(v, robust.SliceSym(from, from+p), v))
				near(t, "pointwise", e.SE[i], math.Sqrt(mat.Inner(v, robust.SliceSym(from, from+p), v)), 1e-9*e.SE[i])
				near(t, "shape", e.Simultaneous[i]/e.Simultaneous[0], level[i]/level[0], 1e-8*level[i]/level[0])
			}
			got := e.Simultaneous[0] / level[0]
			want := naiveQuantile(t, rows, robust.SliceSym(from, from+p).(*mat.SymDense), level, r.BandDF())
			if math.Abs(got-want) > 0.03*want { // Monte Carlo errors of 10,000 and 100,000 draws
				t.Errorf("bands %q, %s: critical value %g, want %g", r.Bands, d.Terms[j].Name, got, want)
			}
			widest := 0.0
			for i := range n {
				widest = math.Max(widest, decompose.PointwiseQuantile(r.BandDF())*e.SE[i]/level[i])
			}
			if got < widest*(1-1e-12) {
				t.Errorf("%s: critical value %g below %g of a single point", d.Terms[j].Name, got, widest)
			}
			if p == 1 && got > 1.03*widest {
				t.Errorf("%s: critical value %g, of a line it is %g", d.Terms[j].Name, got, widest)
			}
			again, err := mustApplier(t, r, m).SimultaneousEffect(context.Background(), 0, []int{j}, b, 5)
			must(t, err)
			other, err := mustApplier(t, r, m).SimultaneousEffect(context.Background(), 0, []int{j}, b, 6)
			must(t, err)
			if !slices.Equal(e.Simultaneous, again.Simultaneous) {
				t.Error("equal seeds give other bands")
			}
			if p > 1 && (other.Simultaneous[0] == e.Simultaneous[0] || math.Abs(other.Simultaneous[0]/e.Simultaneous[0]-1) > 0.04) {
				t.Errorf("another seed: %g and %g", e.Simultaneous[0], other.Simultaneous[0])
			}
			from += p
		}
	}
}

// naiveQuantile draws curves by the Cholesky factor of their coefficients.
func naiveQuantile(t *testing.T, rows *mat.Dense, v *mat.SymDense, level []float64, df float64) float64 {
	t.Helper()
	n, p := rows.Dims()
	ridge := mat.NewSymDense(p, nil)
	ridge.CopySym(v)
	for i := range p { // a constrained basis has a singular covariance
		ridge.SetSym(i, i, ridge.At(i, i)*(1+1e-10))
	}
	var chol mat.Cholesky
	if !chol.Factorize(ridge) {
		t.Fatal("the covariance is not positive")
	}
	var l mat.TriDense
	chol.LTo(&l)
	r := rand.New(rand.NewPCG(77, 1))
	most := make([]float64, 100_000)
	z, a, f := mat.NewVecDense(p, nil), mat.NewVecDense(p, nil), mat.NewVecDense(n, nil)
	for b := range most {
		for i := range p {
			z.SetVec(i, r.NormFloat64())
		}
		a.MulVec(&l, z)
		f.MulVec(rows, a)
		for i := range n {
			most[b] = math.Max(most[b], math.Abs(f.AtVec(i))/level[i])
		}
		if df > 0 {
			sum := 0.0
			for range int(df) {
				g := r.NormFloat64()
				sum += g * g
			}
			most[b] /= math.Sqrt(sum / df)
		}
	}
	slices.Sort(most)
	return most[95_000-1]
}

// Every place is that of sorted numbers, also among ties.
func TestOrdered(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for n := 1; n < 60; n++ {
		v := make([]float64, n)
		for i := range v {
			v[i] = float64(r.IntN(n))
		}
		sorted := slices.Sorted(slices.Values(v))
		for place, want := range sorted {
			if got := decompose.Ordered(v, place); got != want {
				t.Errorf("place %d of %v: %v", place, sorted, got)
			}
		}
	}
}
