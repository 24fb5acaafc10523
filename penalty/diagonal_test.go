package penalty

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// compact is p with penalties that are diagonal given so, and how many there are.
func compact(p *Problem) (*Problem, int) {
	q, found := *p, 0
	q.Terms = append([]Component(nil), p.Terms...)
	for i := range q.Terms {
		t := &q.Terms[i]
		t.S = slices.Clone(t.S)
		for j, s := range t.S {
			if diag, ok := diagonalOf(s); ok {
				t.S[j] = mat.NewDiagDense(len(diag), diag)
				found++
			}
		}
	}
	return &q, found
}

// TestDiagonalGivesTheFitOfTheMatrix, by every criterion, whether columns are eliminated or not.
func TestDiagonalGivesTheFitOfTheMatrix(t *testing.T) {
	all := 0
	for _, l := range levelledProblems {
		p := l.problem(sequence(l.levels))
		q, found := compact(p)
		all += found
		for _, criterion := range []Criterion{REML, ML, GCV} {
			if criterion == ML && p.Intercept && p.XMean == nil {
				continue
			}
			o := Options{Criterion: criterion}
			name := fmt.Sprintf("%s, %v", l.name, criterion)
			sameFit(t, name, mustSelect(t, q, &o), mustSelect(t, p, &o), 0)
			if criterion == REML {
				o.Gamma = 1
				sameFit(t, name+", dense", denseFit(t, q, o), denseFit(t, p, o), 0)
			}
		}
	}
	if all < 5 {
		t.Errorf("%d penalties are diagonal", all)
	}
}

func TestBadDiagonals(t *testing.T) {
	for _, c := range []struct {
		s       mat.Symmetric
		message string
	}{
		{nil, `penalty 1: the matrix is not 2 x 2`},
		{(*mat.SymDense)(nil), `penalty 1: the matrix is not 2 x 2`},
		{mat.NewDiagDense(1, []float64{1}), `penalty 1: the matrix is not 2 x 2`},
		{mat.NewDiagDense(2, []float64{1, math.Inf(1)}), `entry (1,1) is +Inf`},
	} {
		p := &Problem{Rows: 10, SumW: 10, Intercept: true, XX: Ridge(2), XZ: []float64{1, 1}, ZZ: 20,
			Terms: []Component{{Name: "re", Dim: 2, S: []mat.Symmetric{c.s}}}}
		if _, err := Select(p, nil); err == nil || !strings.Contains(err.Error(), c.message) {
			t.Errorf("%v: %v", c.s, err)
		}
	}
}

func TestScaleDiagonal(t *testing.T) {
	s := mat.NewSymDense(4, nil)
	s.SetSym(1, 1, 3)
	s.SetSym(2, 2, 2)
	scaled, factor := Scale(s, 4)
	var want mat.SymDense
	want.ScaleSym(16/oneNorm(s), s)
	if _, ok := scaled.(*mat.DiagDense); !ok || factor != 16/oneNorm(s) || !mat.Equal(scaled, &want) {
		t.Errorf("factor %g, %T of %g", factor, scaled, mat.Formatted(scaled))
	}
	again, _ := Scale(mat.NewDiagDense(4, []float64{0, 3, 2, 0}), 4)
	if !mat.Equal(again, scaled) {
		t.Errorf("of a diagonal: %g", mat.Formatted(again))
	}
	s.SetSym(1, 3, 1e-300)
	if scaled, _ := Scale(s, 4); scaled.At(1, 3) == 0 {
		t.Error("a number off the diagonal is not seen")
	}
}

// TestPenaltyEqual: the numbers count, and not how they are held.
func TestPenaltyEqual(t *testing.T) {
	diagonal := func(v ...float64) mat.Symmetric { return mat.NewDiagDense(len(v), v) }
	for i, c := range []struct {
		a, b Penalty
		want bool
	}{
		{Penalty{}, Penalty{}, true},
		{Penalty{S: []mat.Symmetric{Ridge(2)}}, Penalty{S: []mat.Symmetric{diagonal(1, 1)}}, true},
		{Penalty{S: []mat.Symmetric{diagonal(1, 2)}}, Penalty{S: []mat.Symmetric{diagonal(1, 2)}}, true},
		{Penalty{S: []mat.Symmetric{diagonal(1, 2)}}, Penalty{S: []mat.Symmetric{diagonal(1, 1)}}, false},
		{Penalty{S: []mat.Symmetric{diagonal(1)}}, Penalty{S: []mat.Symmetric{diagonal(1, 1)}}, false},
		{Penalty{S: []mat.Symmetric{nil}}, Penalty{S: []mat.Symmetric{Ridge(2)}}, false},
		{Penalty{S: []mat.Symmetric{Ridge(2)}, SP: []float64{1}}, Penalty{S: []mat.Symmetric{Ridge(2)}}, false},
		{Penalty{S: []mat.Symmetric{Ridge(2)}, Link: []string{"a"}}, Penalty{S: []mat.Symmetric{Ridge(2)}}, false},
	} {
		if c.a.Equal(c.b) != c.want || c.b.Equal(c.a) != c.want {
			t.Errorf("case %d: %t", i, !c.want)
		}
	}
}
