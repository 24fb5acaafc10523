package penalty

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// TestMiddleOfOverlaps: M_jk = sqrt(lambda_j lambda_k) root_j A^-1 root_k', element by element,
// where two penalties share a term and others do not.
func TestMiddleOfOverlaps(t *testing.T) {
	r := rand.New(rand.NewPCG(6, 7))
	const n, q = 200, 14
	x := mat.NewDense(n, q, nil)
	for i := range x.RawMatrix().Data {
		x.RawMatrix().Data[i] = r.NormFloat64()
	}
	z := make([]float64, n)
	for i := range z {
		z[i] = r.NormFloat64() + x.At(i, 3)
	}
	p := &Problem{Rows: n, SumW: n, XX: mat.NewSymDense(q, nil), XZ: make([]float64, q)}
	p.XX.(*mat.SymDense).SymOuterK(1, x.T())
	mat.NewVecDense(q, p.XZ).MulVec(x.T(), mat.NewVecDense(n, z))
	p.ZZ = mat.Dot(mat.NewVecDense(n, z), mat.NewVecDense(n, z))
	some := func(dim, rank int) *mat.SymDense {
		a := mat.NewDense(rank, dim, nil)
		for i := range a.RawMatrix().Data {
			a.RawMatrix().Data[i] = r.NormFloat64()
		}
		s := mat.NewSymDense(dim, nil)
		s.SymOuterK(1, a.T())
		return s
	}
	p.Terms = []Component{
		{Name: "one", Start: 0, Dim: 4, S: []mat.Symmetric{some(4, 3)}},
		{Name: "two", Start: 4, Dim: 6, S: []mat.Symmetric{some(6, 3), some(6, 4)}},
	}
	c := newCriterion(mustReduce(t, p), &Options{Gamma: 1}, nil)
	rho := []float64{0.3, -1, 2}
	if _, ok := c.solve(rho); !ok {
		t.Fatal("not positive definite")
	}
	c.invertAll(rho)
	for j := range c.penalties {
		for k := range c.penalties {
			pj, pk := &c.penalties[j], &c.penalties[k]
			for a := range pj.rank {
				for b := range pk.rank {
					want := 0.0
					for u, ru := range rowOfRoot(c, j, a, rho) {
						for v, rv := range rowOfRoot(c, k, b, rho) {
							want += ru * rv * c.inverse.At(c.blocks[pj.block].lo+u, c.blocks[pk.block].lo+v)
						}
					}
					if got := c.m.At(pj.lo+a, pk.lo+b); math.Abs(got-want) > 1e-12 {
						t.Fatalf("M_%d%d at %d, %d is %v, want %v", j, k, a, b, got, want)
					}
				}
			}
		}
	}
}

// TestRestoreInverse: what middle made of the inverse in its memory is undone, also where lambdas
// are too far apart for it; and what is at hand is not made again.
func TestRestoreInverse(t *testing.T) {
	p, _, _, _ := randomProblem(1, 150, true, false)
	for _, rho := range [][]float64{{0.3, -1}, {500, -1}, {-1400, 30}} {
		for j := range p.Terms {
			p.Terms[j].S = p.Terms[j].S[:min(1, len(p.Terms[j].S))]
		}
		c := newCriterion(mustReduce(t, p), &Options{Gamma: 1}, nil)
		for len(rho) < c.params {
			rho = append(rho, 1)
		}
		if c.half != nil || !c.solveAll(rho) {
			t.Fatal("not positive definite, or not diagonal")
		}
		factor := c.chol.LogDet()
		c.invert()
		want := mat.NewSymDense(c.q, nil)
		want.CopySym(c.inverse)
		c.solved = nil
		if !c.invertAt(rho) || c.chol.LogDet() != factor {
			t.Fatal("not positive definite")
		}
		at := &c.solved[0]
		if !c.invertAt(rho) || &c.solved[0] != at {
			t.Error("what was at hand was made again")
		}
		c.restoreInverse(rho)
		if c.solved != nil && !c.inverted {
			t.Error("an inverse is taken for a factor")
		}
		for i := range c.q {
			for j := i; j < c.q; j++ {
				got, w := c.inverse.At(i, j), want.At(i, j)
				if size := math.Sqrt(want.At(i, i) * want.At(j, j)); !(math.Abs(got-w) <= 1e-14*size) {
					t.Fatalf("rho %v: A^-1 at %d, %d is %v, want %v", rho, i, j, got, w)
				}
			}
		}
	}
}

// rowOfRoot is row a of sqrt(lambda_j) root_j.
func rowOfRoot(c *criterion, j, a int, rho []float64) []float64 {
	diag, root := c.scaledRoot(j, rho)
	if diag == nil {
		return root.RawRowView(a)
	}
	row := make([]float64, c.blocks[c.penalties[j].block].dim)
	row[a] = diag[a]
	return row
}
