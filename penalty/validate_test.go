package penalty

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"
)

func TestBadInput(t *testing.T) {
	good := func() *Problem {
		return &Problem{Rows: 10, SumW: 10, Intercept: true, XX: Ridge(2), XZ: []float64{1, 1}, ZZ: 20,
			Terms: []Component{{Name: "s(x)", Dim: 2, S: []mat.Symmetric{Ridge(2)}}}}
	}
	if _, err := Select(good(), nil); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		change  func(*Problem)
		options *Options
		message string
	}{
		{func(p *Problem) { p.Rows = 0 }, nil, "penalty: 0 rows have positive weight: at least one is needed"},
		{func(p *Problem) { p.SumW = math.NaN() }, nil, "penalty: the sum of weights is NaN and that of their logs 0: they must be finite, the first positive"},
		{func(p *Problem) { p.ZZ = -1 }, nil, "penalty: z'Wz is -1: it must be finite and not negative"},
		{func(p *Problem) { p.XX = nil }, nil, "penalty: X'WX is missing for 2 columns"},
		{func(p *Problem) { p.XX = Ridge(3) }, nil, "penalty: X'WX is 3 x 3 but X'Wz has 2 entries"},
		{func(p *Problem) { p.XZ[1] = math.Inf(1) }, nil, "penalty: X'Wz of column 1 is +Inf"},
		{func(p *Problem) { p.Factor = mat.NewDense(5, 2, nil) }, nil, "penalty: the factor is 5 x 2: it must have 3 columns, [G, y], and at least 3 rows"},
		{func(p *Problem) { p.Factor = mat.NewDense(2, 3, nil) }, nil, "penalty: the factor is 2 x 3: it must have 3 columns, [G, y], and at least 3 rows"},
		{func(p *Problem) { p.Factor = mat.NewDense(3, 3, nil); p.Factor.Set(1, 2, math.NaN()) }, nil, "penalty: entry (1,2) of the factor is NaN"},
		{func(p *Problem) { p.XMean = []float64{1} }, nil, "penalty: there are 1 column means for 2 columns"},
		{func(p *Problem) { p.ZMean = math.NaN() }, nil, "penalty: a mean is NaN"},
		{func(p *Problem) { p.XX.(*mat.SymDense).SetSym(0, 1, math.NaN()) }, nil, "penalty: X'WX of columns 0 and 1 is NaN"},
		{func(p *Problem) { p.XX.(*mat.SymDense).SetSym(1, 1, -2) }, nil, "penalty: X'WX of column 1 with itself is -2: it cannot be negative"},
		{func(p *Problem) { p.Terms[0].Start = 1 }, nil,
			"penalty: term \"s(x)\" covers columns 1 to 3: terms must follow each other without gaps, this one from 0\npenalty: the terms cover 3 of 2 columns"},
		{func(p *Problem) { p.Terms = nil }, nil, "penalty: the terms cover 0 of 2 columns"},
		{func(p *Problem) { p.Terms[0].SP = []float64{1, 2} }, nil,
			"penalty: term \"s(x)\" has 2 smoothing parameters for 1 penalties: give one for each, negative to have it chosen"},
		{func(p *Problem) { p.Terms[0].SP = []float64{math.Inf(1)} }, nil,
			"penalty: term \"s(x)\": smoothing parameter 1 is +Inf: it must be finite; leave the curved part out for an infinite one"},
		{func(p *Problem) { p.Terms[0].S[0] = Ridge(3) }, nil, "penalty: term \"s(x)\", penalty 1: the matrix is not 2 x 2"},
		{func(p *Problem) { p.Terms[0].S[0] = nil }, nil, "penalty: term \"s(x)\", penalty 1: the matrix is not 2 x 2"},
		{func(p *Problem) { p.Terms[0].S[0].(*mat.SymDense).SetSym(0, 1, math.NaN()) }, nil, "penalty: term \"s(x)\", penalty 1: entry (0,1) is NaN"},
		{func(p *Problem) { p.Terms[0].S[0].(*mat.SymDense).SetSym(1, 1, -1) }, nil,
			"penalty: term \"s(x)\": a penalty matrix is not positive semi-definite (eigenvalue -10 next to 10)"},
		{func(*Problem) {}, &Options{Criterion: Fixed},
			"penalty: term \"s(x)\": smoothing parameters are fixed by the criterion but it has none for a penalty: give it one (sp=), or choose reml, ml or gcv"},
		{func(*Problem) {}, &Options{Criterion: 7}, "penalty: unknown smoothing criterion Criterion(7)"},
		{func(*Problem) {}, &Options{Gamma: -1}, "penalty: gamma is -1: it must be positive (1 is usual, 1.5 smoother)"},
		{func(*Problem) {}, &Options{Scale: -1}, "penalty: the known scale is -1: it must be positive, or 0 to be estimated"},
		{func(*Problem) {}, &Options{RankTolerance: 1e-9},
			"penalty: rank tolerance 1e-09: moments hold squares, so they resolve no less than 1e-6, and it must be below 1"},
		{func(*Problem) {}, &Options{MaxIterations: -1}, "penalty: -1 iterations: the limit must be positive"},
		{func(*Problem) {}, &Options{Tolerance: -1}, "penalty: tolerance -1 must be positive"},
		{func(p *Problem) { p.Rows, p.SumW = 3, 3 }, &Options{Gamma: 4},
			"penalty: gamma 4 times 1 unpenalised directions exceeds the 3 rows: lower gamma"},
		{func(p *Problem) { p.XX.(*mat.SymDense).SetSym(0, 1, 5) }, nil,
			"penalty: X'WX + S is not positive definite to rounding, or a fixed smoothing parameter is extreme: X'WX holds too few digits of some direction that decides"},
		{func(p *Problem) { p.XX.(*mat.SymDense).SetSym(0, 1, 5); p.Terms[0].S = nil }, nil,
			"penalty: X'WX is not positive semi-definite (eigenvalue -40 next to 60): X'WX holds too few digits of some direction that decides"},
	} {
		p := good()
		c.change(p)
		if _, err := Select(p, c.options); err == nil || err.Error() != c.message {
			t.Errorf("error is\n\t%v\nand should be\n\t%s", err, c.message)
		}
	}
	if _, err := Select(nil, nil); err == nil {
		t.Error("no problem should be an error")
	}
	for _, m := range []Criterion{REML, ML, GCV, DF, Fixed} {
		if got, err := ParseCriterion(m.String()); err != nil || got != m {
			t.Errorf("ParseCriterion(%q) is %v, %v", m, got, err)
		}
	}
	if _, err := ParseCriterion("aic"); err == nil || err.Error() != `penalty: unknown smoothing criterion "aic": known are reml, ml, gcv, df and fixed` {
		t.Errorf("unknown method: %v", err)
	}
	for s := Converged; s <= ZeroResidual; s++ {
		if s.String() == "" || s.String()[0] == 'S' {
			t.Errorf("status %d has no name: %q", s, s)
		}
	}
}
