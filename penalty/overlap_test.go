package penalty

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// nullSpace is the penalty of the null space of s, U U' (mgcv's select).
func nullSpace(s *mat.SymDense) *mat.SymDense {
	values, vectors, _ := eigenDescending(s)
	rank := 0
	for rank < len(values) && values[rank] > 1e-10*values[0] {
		rank++
	}
	n := len(values)
	var product mat.Dense
	u := vectors.Slice(0, n, rank, n)
	product.Mul(u, u.T())
	return symmetric(&product)
}

// overlapping are terms with several penalties each.
func overlapping() map[string][]mat.Symmetric {
	d2, _ := Difference(5, 2)
	d1, _ := Difference(4, 1)
	d3, _ := Difference(3, 1)
	s, _ := Difference(9, 2)
	level := []*mat.SymDense{d2}
	for i := range 2 { // fs: a penalty for each null direction
		values, vectors, _ := eigenDescending(d2)
		u := mat.DenseCopyOf(vectors.Slice(0, 5, 3+i, 4+i))
		var product mat.Dense
		product.Mul(u, u.T())
		_ = values
		level = append(level, symmetric(&product))
	}
	var fs []mat.Symmetric
	for _, x := range level {
		fs = append(fs, kronecker(Ridge(4), x))
	}
	return map[string][]mat.Symmetric{
		"te2":    {kronecker(d2, Ridge(4)), kronecker(Ridge(5), d1)},
		"te3":    {kronecker(kronecker(d1, Ridge(3)), Ridge(3)), kronecker(kronecker(Ridge(4), d3), Ridge(3)), kronecker(kronecker(Ridge(4), Ridge(3)), d3)},
		"fs":     fs,
		"select": {s, nullSpace(s)},
	}
}

func overlapProblem(name string, penalties []mat.Symmetric) *Problem {
	rng := rand.New(rand.NewPCG(uint64(len(name)), uint64(len(penalties))))
	dim := penalties[0].SymmetricDim()
	n := 300
	d1, _ := Difference(5, 1)
	x := mat.NewDense(n, dim+5, nil)
	z, w := make([]float64, n), make([]float64, n)
	for i := range n {
		for j := range dim + 5 {
			x.Set(i, j, (rng.NormFloat64()+0.3)*math.Exp(float64(j%3-1)))
			z[i] += x.At(i, j) * math.Cos(float64(3*j)) * 0.3
		}
		z[i], w[i] = z[i]+rng.NormFloat64(), 0.5+rng.Float64()
	}
	p := momentsOf(x, z, w, true)
	p.Terms = []Component{{Name: name, Dim: dim, S: penalties}, {Name: "other", Start: dim, Dim: 5, S: []mat.Symmetric{d1}}}
	return p
}

// However far the lambdas of one term are apart, e^40 here, score and
// derivatives belong together.
func TestOverlapAtExtremes(t *testing.T) {
	for name, penalties := range overlapping() {
		p := overlapProblem(name, penalties)
		for _, o := range []Options{{}, {Criterion: ML}, {Criterion: GCV}} {
			opts, _ := o.withDefaults()
			c := mustCriterion(t, p, &opts)
			s := newSearch(c, 1e-9, make([]bool, len(penalties)+1))
			for corner := range 1 << len(penalties) {
				t.Run(fmt.Sprintf("%s %v corner %d", name, o.Criterion, corner), func(t *testing.T) {
					rho := append([]float64(nil), s.start...)
					for j := range penalties {
						rho[j] += 20
						if corner>>j&1 == 1 {
							rho[j] -= 40
						}
					}
					at := c.eval(rho, true)
					if math.IsInf(at.objective, 0) {
						t.Fatal("no value")
					}
					againstDifferences(t, c, rho, 1e-6)
				})
			}
		}
	}
}

// The selection for each, from starts that are far apart, ends in one place.
func TestOverlapSelection(t *testing.T) {
	for name, penalties := range overlapping() {
		p := overlapProblem(name, penalties)
		for _, m := range []Criterion{REML, ML, GCV} {
			f := mustSelect(t, p, &Options{Criterion: m})
			if f.Status != Converged && f.Status != AtBound || len(f.Log) > 21 {
				t.Errorf("%s, %v: %v after %d steps", name, m, f.Status, len(f.Log)-1)
			}
			opts, _ := (&Options{Criterion: m}).withDefaults()
			for corner := range 1 << len(penalties) {
				c := mustCriterion(t, p, &opts)
				s := newSearch(c, 1e-9, make([]bool, len(penalties)+1))
				rho := append([]float64(nil), s.start...)
				for j := range penalties {
					rho[j] += 6 - 12*float64(corner>>j&1)
				}
				best, status, err := s.run(rho, 100)
				if err != nil {
					t.Fatal(err)
				}
				if best.score < f.Score-1e-6*math.Abs(f.Score) || status != Converged && status != AtBound {
					t.Errorf("%s, %v: from corner %d %v with %.10g, selected %.10g", name, m, corner, status, best.score, f.Score)
				}
			}
		}
	}
}

// A term of many levels with two penalties, both diagonal (fs in mgcv's
// parametrisation): as if they were two terms.
func TestDisjointDiagonalPenalties(t *testing.T) {
	one, two := mat.NewSymDense(3, nil), mat.NewSymDense(3, nil)
	one.SetSym(0, 0, 2)
	one.SetSym(1, 1, 0.5)
	two.SetSym(2, 2, 1)
	p := overlapProblem("fs", []mat.Symmetric{kronecker(Ridge(4), one), kronecker(Ridge(4), two)})
	q := *p
	var order []int // columns of the first penalty, then of the second, then the rest
	for level := range 4 {
		order = append(order, 3*level, 3*level+1)
	}
	for level := range 4 {
		order = append(order, 3*level+2)
	}
	order = append(order, 12, 13, 14, 15, 16)
	q.XX = symmetric(pick(full(p.dense()), order, order))
	q.XZ, q.XMean = make([]float64, 17), make([]float64, 17)
	for a, i := range order {
		q.XZ[a], q.XMean[a] = p.XZ[i], p.XMean[i]
	}
	q.Terms = []Component{
		{Name: "a", Dim: 8, S: []mat.Symmetric{kronecker(Ridge(4), symmetric(pick(full(one), []int{0, 1}, []int{0, 1})))}},
		{Name: "b", Start: 8, Dim: 4, S: []mat.Symmetric{Ridge(4)}},
		{Name: "other", Start: 12, Dim: 5, S: p.Terms[1].S},
	}
	for _, m := range []Criterion{REML, ML, GCV} {
		f, g := mustSelect(t, p, &Options{Criterion: m}), mustSelect(t, &q, &Options{Criterion: m})
		if !close(f.Score, g.Score, 1e-10) || !close(f.EDF[0], g.EDF[0]+g.EDF[1], 1e-6) {
			t.Errorf("%v: score %.12g edf %g; as two terms %.12g, %g", m, f.Score, f.EDF[0], g.Score, g.EDF[0]+g.EDF[1])
		}
	}
	if s := mustReduce(t, p); !s.diagonal() || len(s.blocks) != 3 {
		t.Errorf("%d blocks, should be 3 with diagonal roots", len(s.blocks))
	}
	p.Terms[0].DF = 5.5
	if f := mustSelect(t, p, nil); !close(f.EDF[0], 5.5, 1e-6) {
		t.Errorf("edf %g, asked for 5.5", f.EDF[0])
	}
}
