package decompose

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/pho-go/pho/penalty"
)

func (s *solver) warn(format string, args ...any) {
	s.warnings = append(s.warnings, fmt.Sprintf(format, args...))
}

// warnRows is about what rows and columns leave to be explained.
func (s *solver) warnRows() {
	p, rows := &s.out, s.moments.Positive
	if len(p.Terms) == 0 {
		s.warn("there is no structured term to project on: everything stays in the deep part; give a formula")
	}
	switch {
	case s.columns.ConstantZeta() && p.VarianceBefore.Structured > 0:
		s.warn("the deep part is constant: the model is additive already, and nothing but a constant moves")
	case s.columns.ConstantZeta():
		s.warn("the predictor is constant on these rows")
	}
	switch {
	case len(p.Terms) == 0:
	case p.Status != "" && int64(p.Columns) >= rows:
		s.warn("%d structured columns on %d rows: without penalties they explain anything, so what is structured rests on the penalties alone; use fewer columns", p.Columns, rows)
	case int64(p.Rank) >= rows && p.Status == "":
		s.warn("the structured columns have rank %d on %d rows: they explain anything, and the unstructured part is zero by construction (paper, limitation 1); use fewer columns or a penalty", p.Rank, rows)
	}
}

// warnTerms is about columns and terms that others stand for.
func (s *solver) warnTerms() {
	p := &s.out
	if len(p.Aliased) > 0 {
		s.warn("%d of %d columns are spanned by others, to the rank tolerance of %g, and carry no information of their own: %s%s", len(p.Aliased), p.Columns, p.RankTolerance, listed(p.Aliased), s.inTheirTerms())
	}
	var texts []string
	for _, e := range p.Entangled {
		if !s.curveOf(e.Terms) {
			texts = append(texts, fmt.Sprintf("%s (%s)", strings.Join(e.Terms, " + "), e.Reason))
		}
	}
	if len(texts) > 0 {
		s.warn("only the sum of these terms is identified, not how it is split between them: %s", strings.Join(texts, "; "))
	}
}

// curveOf tells whether the terms are functions of one column, a learned one among them: nobody asks for these, but for their sum.
func (s *solver) curveOf(names []string) bool {
	own := false
	columns := map[string]bool{}
	for _, b := range s.d.blocks {
		if slices.Contains(names, b.Term.Name()) {
			own = own || b.Term.Kind() == Learned
			for _, c := range b.Term.Columns() {
				columns[c] = true
			}
		}
	}
	return own && len(columns) == 1
}

// inTheirTerms says that columns of learned terms which others span do not leave the terms
// open, where that is so: units of a network are often dead, or repeat one another.
func (s *solver) inTheirTerms() string {
	if !s.unitsOnly || len(s.out.Entangled) > 0 {
		return ""
	}
	return " (units of learned terms that are dead or repeat others; the terms' functions are told apart nevertheless)"
}

// warnSmoothing is about a choice of smoothing parameters that did not end well.
func (s *solver) warnSmoothing() {
	switch p := &s.out; p.Status {
	case penalty.IterationLimit.String(), penalty.StepFailed.String():
		s.warn("smoothing selection did not converge: %s after %d iterations", p.Status, p.Iterations)
	case penalty.ZeroResidual.String():
		if !s.columns.ConstantZeta() {
			s.warn("the bases reproduce the deep part exactly: there is no residual to choose the smoothing by, so it is as weak as allowed")
		}
	}
}

// warnOtherMinimum tells of a choice of smoothing parameters that is nearly as good as the one
// taken, where it is another one.
func (s *solver) warnOtherMinimum() {
	const likely = 3 // log-likelihoods: exp(3) is 20
	other := s.fit.Other
	if other == nil || other.Score-*s.fit.Score > likely {
		return
	}
	var differ []string
	for j, t := range s.out.Terms {
		if edf := other.EDF[j]; math.Abs(edf-t.EDF) > 0.05 {
			differ = append(differ, fmt.Sprintf("%s %.2f (%.2f)", t.Name, t.EDF, edf))
		}
	}
	s.warn("the smoothing criterion has two minima, %.6g, which was taken, and %.6g: the rows hardly tell these effective degrees of freedom from those in brackets: %s",
		*s.fit.Score, other.Score, listed(differ))
}

// listed names at most eight.
func listed(names []string) string {
	if len(names) > 8 {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:8], ", "), len(names)-8)
	}
	return strings.Join(names, ", ")
}
