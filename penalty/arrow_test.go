package penalty

import (
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// TestOrderOfLevels: names decide the order of columns, and nothing else.
func TestOrderOfLevels(t *testing.T) {
	for _, l := range levelledProblems {
		if l.first > 0 { // the first level has no column: that is another one
			continue
		}
		order := rand.New(rand.NewPCG(3, 9)).Perm(l.levels)
		p, q := l.problem(sequence(l.levels)), l.problem(order)
		at := sequence(len(p.XZ)) // where column i of p is in q
		for _, term := range p.Terms {
			for i := range term.Dim {
				if term.Name == "levels" {
					at[term.Start+i] = term.Start + order[i/l.width]*l.width + i%l.width
				}
			}
		}
		f, g := mustSelect(t, p, nil), mustSelect(t, q, nil)
		back := *g
		back.Alpha, back.Vp, back.Ve, back.Vc = permuted(g.Alpha, at), symmetricPermuted(g.Vp, at), symmetricPermuted(g.Ve, at), symmetricPermuted(g.Vc, at)
		for i, other := range g.Others {
			own := *other
			own.Alpha, own.Vc = permuted(own.Alpha, at), symmetricPermuted(own.Vc, at)
			back.Others = append(back.Others[:i:i], &own)
		}
		// The second-order part of Vc and EDF2 depends on the order (see Fit.Vc).
		f.Vc, f.EDF2, back.Vc, back.EDF2 = nil, nil, nil, nil
		for i := range f.Others {
			f.Others[i].Vc, back.Others[i].Vc = nil, nil
		}
		sameFit(t, l.name, &back, f, 1e-8)
	}
}

func symmetricPermuted(s *mat.SymDense, at []int) *mat.SymDense {
	if s == nil {
		return nil
	}
	x := mat.NewSymDense(len(at), nil)
	for i, a := range at {
		for j := i; j < len(at); j++ {
			x.SetSym(i, j, s.At(a, at[j]))
		}
	}
	return x
}

// TestNotEliminated: matrices of another structure, or not determined by a wide margin,
// stay with the dense path, which reports dropped directions.
func TestNotEliminated(t *testing.T) {
	factor := levelled{name: "factor", levels: 80, width: 1, first: 1, penalised: []int{-1}, effect: 1, wave: 1}
	random := levelled{name: "random", levels: 80, width: 1, penalised: []int{0}, penalties: 1, effect: 1, wave: 1}
	changed := func(l levelled, change func(l *levelled)) *Problem {
		change(&l)
		return l.problem(sequence(l.levels))
	}
	with := func(l levelled, change func(p *Problem, levels *Component)) *Problem {
		p := l.problem(sequence(l.levels))
		p.Terms = append([]Component(nil), p.Terms...)
		for i := range p.Terms {
			if p.Terms[i].Name == "levels" {
				change(p, &p.Terms[i])
			}
		}
		return p
	}
	for name, p := range map[string]*Problem{
		"all levels beside an intercept":  changed(factor, func(l *levelled) { l.first = 0 }),
		"a level without rows or penalty": changed(factor, func(l *levelled) { l.ends = true }),
		"few levels":                      changed(random, func(l *levelled) { l.levels = minEliminated - 1 }),
		"neighbours share a penalty": with(random, func(_ *Problem, levels *Component) {
			levels.S[0], _ = Difference(levels.Dim, 1)
		}),
		"a level without its penalty": with(random, func(_ *Problem, levels *Component) {
			levels.S[0].(*mat.SymDense).SetSym(3, 3, 0)
		}),
		"rows of several levels": with(random, func(p *Problem, levels *Component) {
			for i := range levels.Dim - 1 {
				at := levels.Start + i
				p.XX.(*mat.SymDense).SetSym(at, at+1, p.XX.At(at, at+1)+0.1)
			}
		}),
		"unknown means": with(random, func(p *Problem, _ *Component) { p.XMean = nil }),
	} {
		if eliminates(t, p) {
			t.Errorf("%s: columns are eliminated", name)
		}
		o, err := (*Options)(nil).withDefaults()
		if err != nil {
			t.Fatal(err)
		}
		got, err := Select(p, nil)
		want, wantErr := chooseUntilDone(t.Context(), p, &o, nil, true)
		if (err == nil) != (wantErr == nil) {
			t.Errorf("%s: %v, want %v", name, err, wantErr)
		}
		if err == nil {
			sameFit(t, name, got, want, 1e-12)
		}
	}
}

// TestEliminationWithoutResidual: what is in the span of the columns is found to be so, and
// projected without penalty.
func TestEliminationWithoutResidual(t *testing.T) {
	for _, l := range levelledProblems[:1] {
		p := l.problem(sequence(l.levels))
		b := mat.NewVecDense(len(p.XZ), nil)
		for i := range p.XZ {
			b.SetVec(i, float64(i%7)-3)
		}
		z := mat.NewVecDense(len(p.XZ), p.XZ)
		z.MulVec(p.XX, b)
		p.ZZ = mat.Dot(z, b)
		f := mustSelect(t, p, nil)
		if f.Status != ZeroResidual {
			t.Errorf("%s: status %v, want %v", l.name, f.Status, ZeroResidual)
		}
		sameFit(t, l.name, f, denseFit(t, p, Options{}), 1e-12)
	}
}
