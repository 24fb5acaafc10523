package decompose

import (
	"fmt"
	"strings"

	"github.com/pho-go/pho/label"
)

// Reason is why the rows do not determine a term, as data and in words.
type Reason struct {
	// Kind says what it is. "": Text alone does, as in results of versions without reasons.
	Kind ReasonKind `json:"kind"`
	// Text is a clause: "its split with x:z depends on where the numbers that it is a product of are 0".
	Text string `json:"text"`
	// With are the terms that Text speaks of, beside the one whose reason it is; of the kinds of
	// a sum all its terms, or the two that overlap, the richer first.
	With []string `json:"with,omitempty"`
	// Rule is how ReasonSplit shares functions out between the term and With; "": another kind.
	Rule Rule `json:"rule,omitempty"`
	// Value is the number that Text has: single rows, the standard error in standard deviations
	// of the term (at most 1000), the share that is missed, or the concurvity; 0: it has none.
	Value float64 `json:"value,omitempty"`
}

// ReasonKind tells reasons apart.
type ReasonKind string

// The kinds of reasons, by the verdict that they lead to.
const (
	// Sum: first the terms of the sum, then why each two of them overlap.
	ReasonSum          ReasonKind = "sum"           // only the sum of With is determined
	ReasonLinearEffect ReasonKind = "linear-effect" // a smooth contains the line of its column
	ReasonLevels       ReasonKind = "levels"        // the levels of a column span any function of it
	ReasonMargin       ReasonKind = "margin"        // a term of several columns contains one of some of these
	ReasonSameColumns  ReasonKind = "same-columns"  // both are functions of the same columns
	ReasonDependent    ReasonKind = "dependent"     // their columns are linearly dependent on these rows
	// ReasonNearlyDependent: they are but for so little that terms by themselves have standard errors above the predictor's sd.
	ReasonNearlyDependent ReasonKind = "nearly-dependent"

	// Weak.
	ReasonNoRowsLeft    ReasonKind = "no-rows-left"   // there are as many columns as rows
	ReasonSingleRows    ReasonKind = "single-rows"    // the term passes through single rows, Value of them
	ReasonStandardError ReasonKind = "standard-error" // it is Value times the term's standard deviation
	ReasonLackOfFit     ReasonKind = "lack-of-fit"    // the remainder still depends on the term's column: Value is TermResult.LackOfFit's Share
	ReasonNearCopy      ReasonKind = "near-copy"      // a part of it is nearly one of With (nil: of the others together), of concurvity Value

	// Convention.
	ReasonPredictor ReasonKind = "predictor-convention" // the predictor is unique by convention: Predictor.Uniqueness
	ReasonSplit     ReasonKind = "split"                // Rule shares out what the term and With can both hold
	ReasonAsNetwork ReasonKind = "as-network"           // the term is the network's own, and the deep part holds some of it too
)

// verdict is the one that a reason leads to.
func (k ReasonKind) verdict() Verdict {
	switch k {
	case ReasonNoRowsLeft, ReasonSingleRows, ReasonStandardError, ReasonLackOfFit, ReasonNearCopy:
		return Weak
	case ReasonPredictor, ReasonSplit, ReasonAsNetwork:
		return Convention
	}
	return Sum
}

// Rule is a convention by which functions that two terms can both hold are shared out.
type Rule string

// The rules.
const (
	ByHierarchy  Rule = "hierarchy"   // an interaction is orthogonal to its margins
	ByOwnBases   Rule = "own-bases"   // the same as far as the network's bases go
	ByNetwork    Rule = "network"     // as the network has it
	ByMargins    Rule = "margins"     // margins are centred one by one
	ByFewer      Rule = "fewer"       // the term of fewer features has it
	ByOrder      Rule = "order"       // the earlier term has it
	ByTreatment  Rule = "treatment"   // contrasts with the first level
	BySumToZero  Rule = "sum-to-zero" // contrasts that sum to zero
	ByZero       Rule = "zero"        // where the numbers of a product are 0
	ByCentring   Rule = "centring"    // curves by level are centred over all rows
	ByShrinkage  Rule = "shrinkage"   // penalised functions, as far as that costs less
	ByTheirBases Rule = "bases"       // as the bases happen to be
)

// words stand behind "its split with x".
func (r Rule) words() string {
	switch r {
	case ByHierarchy:
		return "is hierarchical: an interaction is orthogonal to its margins as far as these rows tell"
	case ByOwnBases:
		return "is hierarchical as far as the model's bases go, else the model's own"
	case ByNetwork:
		return "is the model's own: either can hold what the other does"
	case ByMargins:
		return "is that of margins centred one by one, not orthogonal to them over these rows"
	case ByFewer:
		return "leaves to the term of fewer features what both can hold"
	case ByOrder:
		return "leaves to the earlier term what both can hold"
	case ByTreatment:
		return "is by contrasts with the first level of each factor"
	case BySumToZero:
		return "is by contrasts that sum to zero over the levels"
	case ByZero:
		return "depends on where the numbers that it is a product of are 0"
	case ByCentring:
		return "is that of curves centred over all rows, not within a level"
	case ByShrinkage:
		return "is by penalty: what both can hold goes where that costs less"
	}
	return "is by their bases: both can hold functions of the same features"
}

// told are reasons with their Text, in the predictor l.raw and by the names that l gives.
func (l labelling) told(reasons []Reason) (out []Reason) {
	for _, r := range reasons {
		r.Text = l.words(r)
		if l.terms != nil {
			r.With = label.Each(r.With, l.term)
		}
		out = append(out, r)
	}
	return out
}

func (l labelling) words(r Reason) string {
	switch with := label.Each(r.With, l.term); r.Kind {
	case ReasonSum:
		return fmt.Sprintf("only %s is determined", added(with))
	case ReasonLinearEffect:
		return fmt.Sprintf("%s contains the linear effect of %s", with[0], with[1])
	case ReasonLevels:
		return fmt.Sprintf("the levels of %s span any function of %s, and so %s", with[0], l.columns(r.With[0]), with[1])
	case ReasonMargin:
		if l.raw.named(r.With[0]).Kind == Factor {
			return fmt.Sprintf("the combinations of %s span the levels of %s", with[0], with[1])
		}
		return fmt.Sprintf("%s contains the margin %s", with[0], with[1])
	case ReasonSameColumns:
		return fmt.Sprintf("%s and %s are both %s of %s", with[1], with[0], l.raw.bothAre(r.With), l.columns(r.With[1]))
	case ReasonDependent:
		return "on these rows their columns are linearly dependent"
	case ReasonNearlyDependent:
		return "on these rows their columns are so nearly dependent that single terms could be larger than the whole predictor"
	case ReasonNoRowsLeft:
		return "there are as many columns as rows: nothing is left to judge them by"
	case ReasonSingleRows:
		return fmt.Sprintf("it rests on single rows (%.0f, of leverage above 0.99)", r.Value)
	case ReasonStandardError:
		return fmt.Sprintf("its standard error is %s its own standard deviation", times(r.Value))
	case ReasonLackOfFit:
		return fmt.Sprintf("its basis misses %.2g %% of what it should hold: the remainder still depends on the term's own column", 100*r.Value)
	case ReasonNearCopy:
		of := "what the other terms make together"
		if len(with) > 0 {
			of = with[0]
		}
		return fmt.Sprintf("part of it can hardly be told from %s (concurvity %s)", of, nines(r.Value))
	case ReasonPredictor:
		return "the predictor's convention: " + l.raw.Uniqueness.called(l.labels.Predictor).Convention
	case ReasonSplit:
		return fmt.Sprintf("its split with %s %s", listed(with), r.Rule.words())
	case ReasonAsNetwork:
		return "it is as the model has it: what the deep part holds of it was not moved"
	}
	return r.Text
}

// columns are those of a term of l.raw.
func (l labelling) columns(term string) string {
	return strings.Join(l.labels.Features(l.raw.named(term).Features), ", ")
}

// bothAre is what terms of the same columns all are: bases if one of them is the network's.
func (d *Predictor) bothAre(terms []string) string {
	out := "functions"
	for _, name := range terms {
		switch d.named(name).Kind {
		case Learned:
			return "bases"
		case Random:
			out = "effects"
		}
	}
	return out
}

// because are reasons in one text: a sum and why, or why a term is weak and the conventions
// that it rests on as well.
func because(reasons []Reason) string {
	var b strings.Builder
	for i, r := range reasons {
		switch {
		case i == 0:
		case reasons[i-1].Kind == ReasonSum:
			b.WriteString(": ")
		case r.Kind.verdict() != reasons[i-1].Kind.verdict():
			b.WriteString("; besides, ")
		default:
			b.WriteString("; ")
		}
		b.WriteString(r.Text)
	}
	return b.String()
}

// atMost is the largest ratio that is told.
const atMost = 1000

// ratio is a/b, at most 1000.
func ratio(a, b float64) float64 {
	if r := a / b; r < atMost {
		return r
	}
	return atMost // NaN too
}

// times writes a ratio before what it is of: "80 % of", "17 times".
func times(ratio float64) string {
	switch {
	case ratio >= atMost:
		return fmt.Sprintf("more than %d times", atMost)
	case ratio >= 2:
		return fmt.Sprintf("%.0f times", ratio)
	default:
		return fmt.Sprintf("%.0f %% of", 100*ratio)
	}
}

// nines writes a share near 1 with as many digits as tell it from 1.
func nines(v float64) string {
	for digits := 3; digits < 8; digits++ {
		if s := fmt.Sprintf("%.*f", digits, v); s != fmt.Sprintf("%.*f", digits, 1.0) {
			return s
		}
	}
	return "1"
}

// added is "a + b + c" of at most six names.
func added(names []string) string {
	const most = 6
	if len(names) > most {
		return fmt.Sprintf("%s + %d more", strings.Join(names[:most], " + "), len(names)-most)
	}
	return strings.Join(names, " + ")
}

// checkReasons refuses reasons that cannot be told by other names.
func (r *Result) checkReasons() error {
	for k := range r.Predictors {
		d, known := &r.Predictors[k], map[string]bool{}
		for _, t := range d.Terms {
			known[t.Name] = true
		}
		for _, t := range d.Terms {
			if err := checkReasons(t.Because, known); err != nil {
				return fmt.Errorf("decompose: predictor %q: term %q: %w", d.Name, t.Name, err)
			}
		}
		for _, e := range d.Entangled {
			if err := checkReasons(e.Because, known); err != nil {
				return fmt.Errorf("decompose: predictor %q: the sum of %q: %w", d.Name, e.Terms, err)
			}
		}
	}
	return nil
}

func checkReasons(reasons []Reason, known map[string]bool) error {
	for _, r := range reasons {
		switch r.Kind {
		case ReasonLinearEffect, ReasonLevels, ReasonMargin, ReasonSameColumns:
			if len(r.With) != 2 {
				return fmt.Errorf("a reason of kind %q is of %d terms, not of two", r.Kind, len(r.With))
			}
		}
		for _, name := range r.With {
			if !known[name] {
				return fmt.Errorf("a reason of kind %q names the term %q, which is not there", r.Kind, name)
			}
		}
	}
	return nil
}
