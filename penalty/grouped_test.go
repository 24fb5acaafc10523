package penalty

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// grouped cuts rows into groups of unequal size and level and returns the
// problem of each.
func grouped(seed uint64, n, count int, weighted, intercept bool) (groups []*Problem, x *mat.Dense, z, w []float64, of []int) {
	p, x, z, w := randomProblem(seed, n, weighted, intercept)
	rng := rand.New(rand.NewPCG(seed, 99))
	of = make([]int, n)
	for i := range of {
		of[i] = int(float64(count) * math.Pow(rng.Float64(), 1.5))
		z[i] += 0.3 * float64(of[i]) // their means differ
		for j := range 5 {
			x.Set(i, j, x.At(i, j)+0.5*float64(of[i]))
		}
	}
	for g := range count {
		own, ownZ, ownW := rows(x, z, w, func(i int) bool { return of[i] == g })
		q := momentsOf(own, ownZ, ownW, intercept)
		q.Terms = p.Terms
		groups = append(groups, q)
	}
	return groups, x, z, w, of
}

func rows(x *mat.Dense, z, w []float64, in func(int) bool) (*mat.Dense, []float64, []float64) {
	var list []int
	var zs, ws []float64
	for i := range z {
		if in(i) {
			list, zs, ws = append(list, i), append(zs, z[i]), append(ws, w[i])
		}
	}
	return pick(x, list, nil), zs, ws
}

// bruteForce refits without each group and predicts it, row by row.
func bruteForce(groups []*Problem, x *mat.Dense, z, w []float64, of []int, lambda []float64) float64 {
	sum, weight := 0.0, 0.0
	for g := range groups {
		rest, restZ, restW := rows(x, z, w, func(i int) bool { return of[i] != g })
		p := momentsOf(rest, restZ, restW, groups[0].Intercept)
		p.Terms = groups[0].Terms
		dim := len(p.XZ)
		a := mat.NewSymDense(dim, nil)
		a.CopySym(p.XX)
		addPenalties(a, p, lambda)
		var chol mat.Cholesky
		chol.Factorize(a)
		alpha := mat.NewVecDense(dim, nil)
		_ = chol.SolveVecTo(alpha, mat.NewVecDense(dim, p.XZ))
		for i := range z {
			if of[i] != g {
				continue
			}
			e := z[i]
			if p.Intercept {
				e -= p.ZMean
			}
			for j := range dim {
				v := x.At(i, j)
				if p.Intercept {
					v -= p.XMean[j]
				}
				e -= v * alpha.AtVec(j)
			}
			sum, weight = sum+w[i]*e*e, weight+w[i]
		}
	}
	return sum / weight
}

func TestGroupedAgainstRefits(t *testing.T) {
	for seed := range uint64(4) {
		groups, x, z, w, of := grouped(seed, 160, 5, seed%2 == 1, seed != 2)
		lambda := []float64{3, 0.4, 2, 7}
		at := make([]*Problem, len(groups))
		for i, g := range groups {
			at[i] = g.at(lambda)
		}
		f, err := SelectGrouped(at, nil)
		if err != nil {
			t.Fatal(err)
		}
		if want := bruteForce(groups, x, z, w, of, lambda); !close(f.Score, want, 1e-10) {
			t.Errorf("seed %d: mean squared error %.12g, by refits %.12g", seed, f.Score, want)
		}
		// The fit to all rows is the usual one.
		whole := momentsOf(x, z, w, groups[0].Intercept)
		whole.Terms = groups[0].Terms
		g := mustSelect(t, whole.at(lambda), &Options{Criterion: Fixed})
		for j := range g.Alpha {
			if !close(f.Alpha[j], g.Alpha[j], 1e-9) {
				t.Errorf("seed %d: coefficient %d is %g, from all rows %g", seed, j, f.Alpha[j], g.Alpha[j])
			}
		}

		f, err = SelectGrouped(groups, nil)
		if err != nil {
			t.Fatal(err)
		}
		checkFinite(t, f)
		t.Logf("seed %d: %v after %d steps, score %g, lambda %.3g", seed, f.Status, len(f.Log)-1, f.Score, f.Lambda)
		if f.Status != Converged && f.Status != AtBound || len(f.Log) > 20 {
			t.Errorf("seed %d: %v after %d steps", seed, f.Status, len(f.Log)-1)
		}
		best := bruteForce(groups, x, z, w, of, f.Lambda)
		if !close(best, f.Score, 1e-8) {
			t.Errorf("seed %d: score %.12g, by refits %.12g", seed, f.Score, best)
		}
		for j := range f.Lambda {
			for _, by := range []float64{0.5, 0.9, 1.1, 2} {
				other := append([]float64(nil), f.Lambda...)
				other[j] *= by
				if v := bruteForce(groups, x, z, w, of, other); v < best*(1-1e-7) {
					t.Errorf("seed %d: %.12g, but %.12g with lambda %d times %g", seed, best, v, j, by)
				}
			}
		}
	}
}

func TestGroupedDerivatives(t *testing.T) {
	for seed := range uint64(3) {
		groups, _, _, _, _ := grouped(seed, 160, 4, true, seed < 2)
		p := merge(groups)
		opts, _ := (&Options{Criterion: GCV}).withDefaults()
		c := newCriterion(mustReduce(t, p), &opts, nil)
		c.kind = groupedCV
		if err := c.withFolds(p, groups, 1e-6); err != nil {
			t.Fatal(err)
		}
		againstDifferences(t, c, []float64{1, -1, 3, 2}, 1e-7)
	}
}

// A level that one group alone has: the fit without that group leaves it out.
func TestGroupedLevelOfOneGroup(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 3))
	var groups []*Problem
	s, _ := Difference(6, 2)
	for g := range 3 {
		x := mat.NewDense(30, 7, nil)
		z, w := make([]float64, 30), make([]float64, 30)
		for i := range 30 {
			if g == 1 && i%2 == 0 {
				x.Set(i, 0, 1)
			}
			for j := 1; j < 7; j++ {
				x.Set(i, j, rng.NormFloat64())
			}
			z[i], w[i] = x.At(i, 1)+5*x.At(i, 0)+0.1*rng.NormFloat64(), 1
		}
		p := momentsOf(x, z, w, true)
		p.Terms = []Component{{Name: "level", Dim: 1}, {Name: "s", Start: 1, Dim: 6, S: []mat.Symmetric{s}}}
		groups = append(groups, p)
	}
	f, err := SelectGrouped(groups, nil)
	if err != nil {
		t.Fatal(err)
	}
	checkFinite(t, f)
	if math.Abs(f.Alpha[0]-5) > 0.1 || f.Rank != 7 {
		t.Errorf("the level's coefficient is %g, should be 5; rank %d", f.Alpha[0], f.Rank)
	}
	// 15 rows are predicted without their effect of 5.
	if want := 15 * 25.0 / 90; math.Abs(f.Score-want) > 0.2*want {
		t.Errorf("score %g, should be near %g", f.Score, want)
	}
}

func TestGroupedBadInput(t *testing.T) {
	groups, _, _, _, _ := grouped(1, 80, 3, false, true)
	for _, c := range []struct {
		change  func([]*Problem) []*Problem
		message string
	}{
		{func(g []*Problem) []*Problem { return g[:1] }, "penalty: grouped cross validation needs at least two groups"},
		{func(g []*Problem) []*Problem { return []*Problem{g[0], {Intercept: true}} }, "penalty: grouped cross validation needs at least two groups"},
		{func(g []*Problem) []*Problem { return []*Problem{g[0], nil} }, "penalty: group 1 is missing"},
		{func(g []*Problem) []*Problem { q := *g[1]; q.XMean = nil; return []*Problem{g[0], &q} }, "penalty: group 1: with an intercept the columns' means (XMean) are needed"},
		{func(g []*Problem) []*Problem { q := *g[1]; q.Intercept = false; return []*Problem{g[0], &q} }, "penalty: group 1 has other columns than the first"},
		{func(g []*Problem) []*Problem { q := *g[1]; q.ZZ = math.NaN(); return []*Problem{g[0], &q} }, "penalty: group 1: penalty: z'Wz is NaN"},
	} {
		if _, err := SelectGrouped(c.change(groups), nil); err == nil || !strings.HasPrefix(err.Error(), c.message) {
			t.Errorf("error is\n\t%v\nand should begin\n\t%s", err, c.message)
		}
	}
	// A group without rows changes nothing.
	f, err := SelectGrouped(groups, nil)
	if err != nil {
		t.Fatal(err)
	}
	g, err := SelectGrouped(append(groups[:3:3], &Problem{Intercept: true}), nil)
	if err != nil {
		t.Fatal(err)
	}
	if f.Score != g.Score {
		t.Errorf("score %g, with an empty group %g", f.Score, g.Score)
	}
}
