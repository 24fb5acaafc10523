package penalty

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// Fewer rows than unpenalised columns, or none of positive weight.
func TestTooFewRows(t *testing.T) {
	for _, o := range append(criteria[:len(criteria):len(criteria)], Options{Criterion: DF}) {
		p := smoothProblem(2, 8, 0.3, func(x float64) float64 { return x })
		if o.Criterion == DF { // an intercept and a slope are all that two rows have
			p.Terms[0].DF = 1
		}
		f := mustSelect(t, p, &o)
		if o.Scale == 0 && f.Status != ZeroResidual {
			t.Errorf("%v: two rows: %v", o.Criterion, f.Status)
		}
		p.Rows, p.SumW, p.SumLogW = 0, 0, 0
		if _, err := Select(p, &o); err == nil {
			t.Errorf("%v: no weights: no error", o.Criterion)
		}
	}
}

// A known scale far from the data's pushes lambda to an end of its range.
func TestKnownScaleAtTheEnds(t *testing.T) {
	p := smoothProblem(300, 10, 0.5, func(x float64) float64 { return math.Sin(4 * x) })
	for _, m := range []Criterion{REML, ML, GCV} {
		for _, scale := range []float64{1e-12, 1e-6, 1e6, 1e12} {
			f := mustSelect(t, p, &Options{Criterion: m, Scale: scale})
			if f.Status != Converged && f.Status != AtBound || len(f.Log) > 31 {
				t.Errorf("%v, scale %g: %v after %d steps", m, scale, f.Status, len(f.Log)-1)
			}
			if scale > 1 != f.AtInfinity[0] {
				t.Errorf("%v, scale %g: at infinity %v, edf %g", m, scale, f.AtInfinity[0], f.EDF[0])
			}
		}
	}
}

// Columns that differ by less than the tolerance are one, though X'WX has a
// Cholesky factor; those that differ by more are two.
func TestNearlyAliasedColumns(t *testing.T) {
	for _, c := range []struct {
		apart float64
		rank  int
	}{{1e-7, 2}, {1e-4, 3}} {
		rng := rand.New(rand.NewPCG(13, 13))
		n := 400
		x := mat.NewDense(n, 3, nil)
		z, w := make([]float64, n), make([]float64, n)
		for i := range n {
			x.Set(i, 0, rng.NormFloat64())
			x.Set(i, 1, rng.NormFloat64())
			x.Set(i, 2, x.At(i, 0)+c.apart*rng.NormFloat64())
			z[i], w[i] = x.At(i, 0)+rng.NormFloat64(), 1
		}
		p := momentsOf(x, z, w, true)
		p.Terms = []Component{{Name: "a", Dim: 3}}
		if f := mustSelect(t, p, nil); f.Rank != c.rank {
			t.Errorf("columns %g apart: rank %d, should be %d", c.apart, f.Rank, c.rank)
		}
	}
}

// Ten terms of which eight have nothing curved to find: the flat directions must
// not hold up the others.
func TestManyTermsAtInfinity(t *testing.T) {
	rng := rand.New(rand.NewPCG(11, 11))
	const n, k, terms = 400, 9, 10
	x := mat.NewDense(n, k*terms, nil)
	z, w := make([]float64, n), make([]float64, n)
	for i := range n {
		for term := range terms {
			u := 2*rng.Float64() - 1
			for j := range k {
				x.Set(i, term*k+j, math.Cos(float64(j+1)*math.Acos(u)))
			}
			switch term {
			case 0:
				z[i] += math.Sin(4 * u)
			case 1:
				z[i] += math.Exp(u)
			default:
				z[i] += u
			}
		}
		z[i] += 0.4 * rng.NormFloat64()
		w[i] = 1
	}
	p := momentsOf(x, z, w, true)
	for term := range terms {
		s := mat.NewSymDense(k, nil)
		for j := 1; j < k; j++ {
			s.SetSym(j, j, math.Pow(float64(j), 4))
		}
		p.Terms = append(p.Terms, Component{Name: "s", Start: term * k, Dim: k, S: []mat.Symmetric{s}})
	}
	for _, o := range []Options{{}, {Criterion: GCV}, {Gamma: 1.5}, {Criterion: ML}} {
		f := mustSelect(t, p, &o)
		infinite := 0
		for j, at := range f.AtInfinity {
			if at {
				infinite++
				if f.EDF[j]-1 > 1e-6 {
					t.Errorf("term %d at infinity has edf %g", j, f.EDF[j])
				}
			}
		}
		t.Logf("%v: %d terms at infinity after %d steps, %v, edf %.4g", o.Criterion, infinite, len(f.Log)-1, f.Status, f.EDFTotal)
		if f.Status != AtBound || infinite < 2 || f.AtInfinity[0] || f.AtInfinity[1] || len(f.Log) > 20 {
			t.Errorf("%v: status %v, %d at infinity, %d steps", o.Criterion, f.Status, infinite, len(f.Log)-1)
		}
	}
}

// A weak signal in what is penalised most gives criteria with a minimum at
// infinity and another at a small lambda: the better one counts.
func TestBetterOfTwoMinima(t *testing.T) {
	for _, k := range []int{9, 12, 20} {
		for _, size := range []float64{0.1, 0.15, 0.2, 0.3, 0.4, 0.7} {
			p := smoothProblem(150, k, 0.5, func(x float64) float64 { return x + size*math.Cos(float64(k)*math.Acos(x)) })
			for _, m := range []Criterion{REML, ML, GCV} {
				f := mustSelect(t, p, &Options{Criterion: m})
				for rho := -25.0; rho < 25; rho += 0.5 {
					g := mustSelect(t, p.at([]float64{math.Exp(rho)}), &Options{Criterion: m})
					if g.Score < f.Score-1e-6*math.Abs(f.Score) {
						t.Errorf("%v, %d columns, signal %g: score %.10g at log lambda %g, but %.10g at %g",
							m, k, size, f.Score, math.Log(f.Lambda[0]), g.Score, rho)
						break
					}
				}
			}
		}
	}
}

// The deep predictor is a deterministic function: residuals may be tiny.
func TestSmallResiduals(t *testing.T) {
	for _, m := range []Criterion{REML, ML, GCV} {
		for e := 0; e <= 8; e++ {
			noise := math.Pow(10, -float64(e))
			f := mustSelect(t, smoothProblem(2000, 15, noise, func(x float64) float64 { return math.Sin(2 * x) }), &Options{Criterion: m})
			t.Logf("%v noise %g: %v after %d steps, edf %.6g, scale %.4g", m, noise, f.Status, len(f.Log)-1, f.EDFTotal, f.Scale)
			if noise*noise < 0.3*zeroResidual {
				if f.Status != ZeroResidual {
					t.Errorf("%v, noise %g: %v", m, noise, f.Status)
				}
				continue
			}
			if f.Status != Converged && f.Status != AtBound || len(f.Log) > 20 || math.Abs(math.Log(f.Scale/(noise*noise))) > 0.2 {
				t.Errorf("%v, noise %g: %v after %d steps, scale %g", m, noise, f.Status, len(f.Log)-1, f.Scale)
			}
		}
	}
}
