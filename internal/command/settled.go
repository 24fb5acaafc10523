package command

import (
	"fmt"
	"slices"
	"strings"

	"github.com/pho-go/pho/adapters/onnx"
	"github.com/pho-go/pho/decompose"
	"github.com/pho-go/pho/internal/app/recipe"
	"github.com/pho-go/pho/internal/app/wiring"
)

// settled says what was decided for the user: family, events, terms.
func (d *decomposeFlags) settled(made *recipe.Made) []string {
	var out []string
	if made.TrainedFor != "" {
		out = append(out, fmt.Sprintf("family %s: that is what the network's file says it was trained for; --family takes another", made.TrainedFor))
	}
	if made.Event != "" {
		out = append(out, fmt.Sprintf("events %q: the column that the network's file says tells censored times; --event takes another", made.Event))
	}
	var formulas []string
	for _, f := range made.Chosen {
		formulas = append(formulas, quoteFormula(f))
	}
	them, all := "it", "the formula"
	if len(formulas) > 1 { // terms of single predictors come to the terms of all
		them, all = "them", "all formulas"
	}
	chosen := "terms chosen by the columns; to change them, copy " + all
	if len(made.Added) > 0 {
		out = append(out, "added for what was left: "+strings.Join(counted(made.Added), ", "))
		chosen = "the formula with what was added; to change " + them + ", copy " + all
		if len(d.formulas) == 0 {
			chosen = "terms chosen by the columns, and what was added; to change them, copy " + all
		}
	}
	if len(formulas) > 0 {
		out = append(out, chosen+": --formula "+strings.Join(formulas, " --formula "))
	}
	out = append(out, made.Stopped...)
	for _, c := range made.LeftOut {
		out = append(out, "without a term: "+c)
	}
	return out
}

// counted are the different ones of terms, with the number of predictors that have them where there are several.
func counted(terms []string) (out []string) {
	times := map[string]int{}
	for _, t := range terms {
		times[t]++
		if times[t] == 1 {
			out = append(out, t)
		}
	}
	for i, t := range out {
		if n := times[t]; n > 1 {
			out[i] = fmt.Sprintf("%s (%d predictors)", t, n)
		}
	}
	return out
}

// muchLeft is the share of a predictor from which on it matters that columns have no term.
const muchLeft = 0.05

// bareColumns says which columns that the network reads, but for arrays, have no term of their own, where nobody wrote a
// formula, the network's own structure is all there is, and much is left; "" otherwise.
func bareColumns(r *decompose.Result, m *onnx.Model) string {
	arrays := m.Tensors()
	columns := slices.DeleteFunc(m.Columns(), func(c string) bool { return arrays[c] > 0 })
	var with []string
	left := 0.0
	for i := range r.Predictors {
		p := &r.Predictors[i]
		if p.Variance.Total > 0 {
			left = max(left, p.Variance.Unstructured/p.Variance.Total)
		}
		for j := range p.Terms {
			if f := p.Terms[j].Features; len(f) == 1 {
				with = append(with, f[0])
			}
		}
	}
	var bare []string
	for _, c := range columns {
		if !slices.Contains(with, c) && !slices.Contains(bare, c) {
			bare = append(bare, wiring.Shorten(shown(c), summaryName))
		}
	}
	if left < muchLeft || len(bare) == 0 || len(r.Formulas) > 0 {
		return ""
	}
	return fmt.Sprintf("the structure found in the model has no term for %d of its %d columns alone (%s), and %s of the variance is left; --formula '~ .' adds terms of them, chosen by what they hold",
		len(bare), len(columns), listed(bare, 6), wiring.Percent(left))
}
