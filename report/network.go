package report

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/pho-go/pho/decompose"
)

// bound is an input of the network whose numbers are not matched to data columns by name,
// with the columns that fill them.
type bound struct {
	Input, How string
	Cells      []fact // a number of the input, and its column
	Long       bool   // folded away
}

// maxListed is how many columns of an input are listed without being folded away.
const maxListed = 40

// bounds reads from Result.Model, where the command writes it, how columns were bound.
func bounds(r *decompose.Result) []bound {
	var m struct {
		Inputs  map[string][]string
		BoundBy map[string]string `json:"bound_by"`
	}
	if json.Unmarshal(r.Model, &m) != nil {
		return nil
	}
	var out []bound
	for _, name := range slices.Sorted(maps.Keys(m.BoundBy)) {
		b := bound{Input: clip(name, 60), How: "as they were listed when this was made", Long: len(m.Inputs[name]) > maxListed}
		if m.BoundBy[name] == "position" {
			b.How = "by position, in the order of the data: the network does not name its columns, and this report is right only if that is the order it was trained on"
		}
		for j, c := range m.Inputs[name] {
			b.Cells = append(b.Cells, fact{Name: strconv.Itoa(j), Value: clip(c, 60)})
		}
		out = append(out, b)
	}
	return out
}

// predictionWords says how well the network predicts the response; nothing without one.
func predictionWords(r *decompose.Result) []string {
	p := r.Prediction
	if p == nil {
		return nil
	}
	y := clip(r.Response, 60)
	who := "The model"
	if r.Networks != nil {
		who = "The mean of the networks' predictors"
	}
	var lead string
	switch {
	case p.LogLikGain == nil && p.Concordance != nil:
		lead = fmt.Sprintf("The concordance (Harrell's C) of %s (%s) is %s.", y, clip(r.Family, 40), maybe(p.Concordance))
	case p.LogLikGain != nil && !r.Hazards():
		lead = fmt.Sprintf("With the model's predictor as the location of log times, the log-likelihood of %s (%s) is %s a row higher than with the best constant.", y, clip(r.Family, 40), maybe(p.LogLikGain))
	case p.LogLikGain != nil:
		lead = fmt.Sprintf("With the model's predictor as the logarithm of the hazard ratio, the log-likelihood of %s (%s) is %s a row higher than without a predictor.", y, clip(r.Family, 40), maybe(p.LogLikGain))
		if p.Worse {
			return []string{lead, "That is worse than no predictor: it may be the logarithm of a time, which falls where the hazard grows, or the columns may be at the wrong places. What follows explains the model, not the data."}
		}
	case p.Accuracy != nil && p.DevianceExplained != nil:
		lead = fmt.Sprintf("%s explains %s of the deviance of %s (%s). Its most probable class is right in %s of the rows; the most frequent class would be in %s.",
			who, percent(*p.DevianceExplained), y, clip(r.Family, 40), percent(*p.Accuracy), maybePercent(p.Frequent))
	case p.Accuracy != nil:
		lead = fmt.Sprintf("The most probable class of %s (%s) is right in %s of the rows; the most frequent class would be in %s.", y, clip(r.Family, 40), percent(*p.Accuracy), maybePercent(p.Frequent))
	case p.DevianceExplained != nil:
		lead = fmt.Sprintf("%s explains %s of the deviance of %s (%s). On the scale of the response its R² is %s and its root mean square error %s.",
			who, percent(*p.DevianceExplained), y, clip(r.Family, 40), maybe(p.R2), maybe(p.RMSE))
	default:
		lead = fmt.Sprintf("%s predicts %s (%s) with an R² of %s and a root mean square error of %s.", who, y, clip(r.Family, 40), maybe(p.R2), maybe(p.RMSE))
	}
	if p.LogLikGain != nil && p.Concordance != nil {
		lead += fmt.Sprintf(" The concordance (Harrell's C) is %s.", maybe(p.Concordance))
	}
	if p.Worse {
		than := "the mean of the response"
		if p.Accuracy != nil {
			than = "the frequencies of the classes"
		}
		if p.LogLikGain != nil {
			than = "the best constant"
		}
		return []string{lead, "That is worse than " + than + ": the columns may be at the wrong places, or scaled otherwise than in training. What follows explains the model, not the data."}
	}
	return []string{lead, "These are the rows of the decomposition, which may be those of training. What follows explains the model's predictions, as good as they are."}
}

// columnsRead counts the columns that the network reads; 0: the caller does not say.
func columnsRead(r *decompose.Result) int {
	var m struct{ Inputs map[string][]string }
	if json.Unmarshal(r.Model, &m) != nil {
		return 0
	}
	columns := map[string]bool{}
	for _, input := range m.Inputs {
		for _, c := range input {
			columns[c] = true
		}
	}
	return len(columns)
}

// readsWords say what columns the network reads, and how they were found; "" where the
// caller does not say.
func readsWords(r *decompose.Result) string {
	var m struct {
		Inputs  map[string][]string
		BoundBy map[string]string `json:"bound_by"`
	}
	if json.Unmarshal(r.Model, &m) != nil || len(m.Inputs) == 0 {
		return ""
	}
	var columns []string
	how := "by their names"
	for _, input := range slices.Sorted(maps.Keys(m.Inputs)) {
		columns = append(columns, m.Inputs[input]...)
		if by := m.BoundBy[input]; by == "position" {
			how = "by their position in the data, which nothing confirms (see below)"
		} else if by != "" && how == "by their names" {
			how = "in the order in which they were listed (see below)"
		}
	}
	columns = r.Labels.Features(columns)
	if len(columns) == 1 {
		return "one column, " + list(columns, 1) + ", found " + how
	}
	return fmt.Sprintf("%d columns, found %s: %s", len(columns), how, list(columns, 12))
}
