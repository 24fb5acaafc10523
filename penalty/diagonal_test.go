package penalty

import (
	"fmt"
	"math"
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
		t.S, t.Diagonal = append([]*mat.SymDense(nil), t.S...), make([][]float64, len(t.S))
		for j, s := range t.S {
			if diag, ok := diagonalOf(s); ok {
				t.S[j], t.Diagonal[j] = nil, diag
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
		s        *mat.SymDense
		diagonal [][]float64
		message  string
	}{
		{nil, nil, `penalty 1: the matrix is not 2 x 2`},
		{nil, [][]float64{{1, 2}, nil}, `has 2 diagonals for 1 penalties`},
		{Ridge(2), [][]float64{{1, 1}}, `it has a matrix and a diagonal`},
		{nil, [][]float64{{1}}, `the latter does not have 2 entries`},
		{nil, [][]float64{{1, math.Inf(1)}}, `entry (1,1) is +Inf`},
	} {
		p := &Problem{Rows: 10, SumW: 10, Intercept: true, XX: Ridge(2), XZ: []float64{1, 1}, ZZ: 20,
			Terms: []Component{{Name: "re", Dim: 2, S: []*mat.SymDense{c.s}, Diagonal: c.diagonal}}}
		if _, err := Select(p, nil); err == nil || !strings.Contains(err.Error(), c.message) {
			t.Errorf("%v: %v", c.diagonal, err)
		}
	}
}

func TestScaleDiagonal(t *testing.T) {
	s := matrixOf([]float64{0, 3, 2, 0})
	diag, factor, ok := ScaleDiagonal(s, 4)
	var want mat.SymDense
	want.ScaleSym(16/oneNorm(s), s)
	if !ok || factor != 16/oneNorm(s) || !mat.Equal(matrixOf(diag), &want) {
		t.Errorf("factor %g, diagonal %g", factor, diag)
	}
	s.SetSym(1, 3, 1e-300)
	if _, _, ok := ScaleDiagonal(s, 4); ok {
		t.Error("a number off the diagonal is not seen")
	}
}
