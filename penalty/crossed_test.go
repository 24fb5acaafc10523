package penalty

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// crossed is a problem of several factors of many levels, as random effects or with contrasts to the first level.
type crossed struct {
	name      string
	factors   int
	levels    int
	rows      int
	free      bool    // not penalised
	nested    bool    // each level of the second factor is in one of the first
	few       bool    // a factor of three levels and two lines beside them
	empty     bool    // the last level of each has no row
	weighted  bool    // rows have weights
	none      bool    // the third factor has no effect
	linked    bool    // one lambda for all
	responses int     // beside z
	noise     float64 // standard deviation
}

func (c crossed) problem() *Problem {
	rng := rand.New(rand.NewPCG(uint64(len(c.name)), 3))
	p := &Problem{Rows: int64(c.rows), Intercept: true}
	effects := make([][]float64, c.factors)
	dim := 0
	for f := range c.factors {
		t := Component{Name: string(rune('a' + f)), Start: dim, Dim: c.levels}
		if c.free {
			t.Dim--
		} else {
			t.S = []mat.Symmetric{Ridge(c.levels)}
			if c.linked {
				t.Link = []string{"all"}
			}
		}
		dim += t.Dim
		p.Terms = append(p.Terms, t)
		effects[f] = make([]float64, c.levels)
		for l := range effects[f] {
			if f != 2 || !c.none {
				effects[f][l] = rng.NormFloat64() * (1 + float64(f)) / 3
			}
		}
	}
	if c.few {
		p.Terms = append(p.Terms, Component{Name: "few", Start: dim, Dim: 2}, Component{Name: "lines", Start: dim + 2, Dim: 2})
		dim += 4
	}
	xx, mean := mat.NewSymDense(dim, nil), make([]float64, dim)
	xz, zz, zMean := make([][]float64, 1+c.responses), make([]float64, 1+c.responses), make([]float64, 1+c.responses)
	for r := range xz {
		xz[r] = make([]float64, dim)
	}
	for range c.rows {
		w, eta := 1.0, c.noise*rng.NormFloat64()
		if c.weighted {
			w = 0.3 + rng.Float64()
		}
		var at []int
		var x []float64
		last := 0
		for f, t := range p.Terms[:c.factors] {
			l := rng.IntN(c.levels)
			if c.empty {
				l = rng.IntN(c.levels - 1)
			}
			if c.nested && f == 1 { // two levels in each of half of the first's
				l = last/2*2 + rng.IntN(2)
			}
			last = l
			eta += effects[f][l]
			if l -= c.levels - t.Dim; l >= 0 {
				at, x = append(at, t.Start+l), append(x, 1)
			}
		}
		if c.few {
			l := rng.IntN(3)
			if eta += float64(l); l > 0 {
				at, x = append(at, dim-5+l), append(x, 1)
			}
			for j := range 2 {
				v := rng.NormFloat64()
				eta += v
				at, x = append(at, dim-2+j), append(x, v)
			}
		}
		p.SumW += w
		p.SumLogW += math.Log(w)
		for i, a := range at {
			mean[a] += w * x[i]
			for j, b := range at[i:] {
				xx.SetSym(a, b, xx.At(a, b)+w*x[i]*x[i+j])
			}
		}
		for r := range xz {
			z := eta*(1+float64(r)) + float64(r)*rng.NormFloat64()
			zz[r] += w * z * z
			zMean[r] += w * z
			for i, a := range at {
				xz[r][a] += w * x[i] * z
			}
		}
	}
	floats.Scale(1/p.SumW, mean)
	for i, m := range mean {
		for j := i; j < dim; j++ {
			xx.SetSym(i, j, xx.At(i, j)-p.SumW*m*mean[j])
		}
	}
	for r := range xz {
		zMean[r] /= p.SumW
		zz[r] -= p.SumW * zMean[r] * zMean[r]
		floats.AddScaled(xz[r], -p.SumW*zMean[r], mean)
	}
	p.XX, p.XMean, p.XZ, p.ZZ, p.ZMean = xx, mean, xz[0], zz[0], zMean[0]
	for r := range c.responses {
		p.Others = append(p.Others, Response{XZ: xz[r+1], ZZ: zz[r+1], ZMean: zMean[r+1]})
	}
	return p
}

var crossedProblems = []crossed{
	{name: "random effects", factors: 10, levels: 102, rows: 8000, noise: 1},
	{name: "beside others, weighted", factors: 10, levels: 102, rows: 8000, noise: 1, few: true, weighted: true, empty: true},
	{name: "nested", factors: 8, levels: 140, rows: 8000, noise: 1, nested: true},
	{name: "no effect", factors: 9, levels: 120, rows: 8000, noise: 2, none: true},
	{name: "linked", factors: 9, levels: 120, rows: 8000, noise: 1, linked: true},
	{name: "two responses", factors: 9, levels: 120, rows: 8000, noise: 1, responses: 1},
	{name: "fixed effects beside smooths", factors: 8, levels: 140, rows: 8000, noise: 1, few: true, free: true},
}

// Of crossed factors none is eliminated, and the search begins near the minimum: its outcome is that of a search from where others begin,
// with fewer steps, and the criterion there that with the columns of a factor eliminated.
func TestCrossedFactors(t *testing.T) {
	if testing.Short() {
		t.Skip("some seconds each")
	}
	for _, c := range crossedProblems {
		t.Run(c.name, func(t *testing.T) {
			p := c.problem()
			o, err := (&Options{WithoutVe: true, WithoutVc: true}).withDefaults()
			if err != nil {
				t.Fatal(err)
			}
			got, err := choose(t.Context(), p, &o, nil)
			if err != nil {
				t.Fatal(err)
			}
			if got.schur != nil {
				t.Fatal("columns are eliminated")
			}
			want, err := chooseUntilDone(t.Context(), p, &o, nil, true)
			if err != nil {
				t.Fatal(err)
			}
			if len(p.Terms[0].S) > 0 && 2*len(got.Log) > len(want.Log)+1 && !c.none {
				t.Errorf("%d steps, %d from where other searches begin", len(got.Log), len(want.Log))
			}
			for j, l := range want.Lambda {
				if got.AtInfinity[j] != want.AtInfinity[j] || !want.AtInfinity[j] && math.Abs(math.Log(got.Lambda[j]/l)) > 1e-6 {
					t.Errorf("lambda %d is %g, %g from where other searches begin", j, got.Lambda[j], l)
				}
			}
			near(t, "alpha", got.Alpha, want.Alpha, 1e-7)
			near(t, "degrees of freedom", got.EDF, want.EDF, 1e-7)
			near(t, "covariance", triangle(got.Vp), triangle(want.Vp), 1e-7)
			atTheSameLambda(t, p, &o, got)
		})
	}
}

// atTheSameLambda compares a fit with the one of its lambdas with a factor eliminated.
func atTheSameLambda(t *testing.T, p *Problem, o *Options, f *Fit) {
	t.Helper()
	_, _, live := p.given()
	d, varies := p.scales()
	levels := p.eliminate(live, d, varies)
	if levels == nil {
		t.Fatal("no factor can be eliminated")
	}
	c := levels.first(t.Context(), p, live, o, varies)
	if c == nil {
		t.Fatal("no factor is eliminated")
	}
	rho := make([]float64, c.params)
	for j := range c.penalties { // linked ones have the same
		rho[c.set[j]] = math.Log(f.Lambda[c.penalties[j].index])
	}
	c.eval(rho, true)
	alpha := make([]float64, len(f.Alpha))
	c.coefficients(alpha, 0)
	near(t, "alpha", f.Alpha, alpha, 1e-10)
	vp := c.schur.vp()
	vp.ScaleSym(f.Scale, vp)
	near(t, "covariance", triangle(f.Vp), triangle(vp), 1e-10)
}

// triangle are the numbers of s on and above the diagonal.
func triangle(s *mat.SymDense) (out []float64) {
	raw := s.RawSymmetric()
	for i := range raw.N {
		out = append(out, raw.Data[i*raw.Stride+i:i*raw.Stride+raw.N]...)
	}
	return out
}

// near compares with the largest of what is wanted.
func near(t *testing.T, name string, got, want []float64, tolerance float64) {
	t.Helper()
	if d := floats.Distance(got, want, math.Inf(1)); !(d <= tolerance*floats.Norm(want, math.Inf(1))) {
		t.Errorf("%s differs by %g", name, d/floats.Norm(want, math.Inf(1)))
	}
}
