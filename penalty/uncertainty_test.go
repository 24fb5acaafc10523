package penalty

import (
	"math"
	"testing"
)

// edf1 at mgcv's smoothing parameters to 1e-7; Vc and edf2, which rest on
// Hessians, to 1e-3.
func TestUncertaintyAgainstMgcv(t *testing.T) {
	compared := 0
	for _, name := range goldenNames(t) {
		g := readPieces(t, name)
		if g.VC == nil {
			continue
		}
		compared++
		t.Run(name, func(t *testing.T) {
			p := g.problem(t)
			fixed := mustSelect(t, p.at(g.Case.SP), g.options())
			f := mustSelect(t, p, g.options())
			first := len(f.EDF) - len(g.Smooths)
			for i, s := range g.Smooths {
				if d := math.Abs(fixed.EDF1[first+i]-g.EDF1[i]) / g.EDF1[i]; !(d <= 1e-6) {
					t.Errorf("edf1 of %s: got %.10g, mgcv has %.10g", s.Name, fixed.EDF1[first+i], g.EDF1[i])
				}
				if d := math.Abs(f.EDF2[first+i]-g.EDF2[i]) / g.EDF2[i]; !(d <= 1e-3) {
					t.Errorf("edf2 of %s: got %.10g, mgcv has %.10g", s.Name, f.EDF2[first+i], g.EDF2[i])
				}
			}
			apart, extra := 0.0, 0.0
			for i, row := range g.VC {
				for j, v := range row {
					size := math.Sqrt(g.VC[i][i] * g.VC[j][j])
					apart = math.Max(apart, math.Abs(f.Vc.At(i, j)-v)/size)
					extra = math.Max(extra, math.Abs(f.Vp.At(i, j)-v)/size)
				}
			}
			t.Logf("Vc differs by %.1e, Vp from Vc by %.1e", apart, extra)
			if !(apart <= 1e-3) {
				t.Errorf("Vc differs by %.1e", apart)
			}
		})
	}
	if compared < 10 {
		t.Errorf("only %d cases were compared", compared)
	}
}
