package wiring

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/pho-go/pho/data/files"
	"github.com/pho-go/pho/decompose"
)

// maxName is how many characters of a name a warning shows.
const maxName = 40

// readsResponse warns of a network with the response among its inputs: it predicts what
// it was told.
func (q *Request) readsResponse(m decompose.Model) string {
	response := q.Options.Response
	switch {
	case response == "" || !slices.Contains(m.Columns(), response):
		return ""
	case q.Network != nil && q.Network.inColumns():
		return fmt.Sprintf("the predictions of column %q are the response itself: how well they fit says nothing, and neither do importances; name the column that holds what the model predicts", response)
	}
	return fmt.Sprintf("the model reads column %q, which is the response: how well it fits says nothing, and neither do importances; bind its inputs to other columns", response)
}

// guessed tells of inputs whose columns nobody named.
func (ref *Reference) guessed() []string {
	var out []string
	for _, name := range ref.ByPosition() {
		columns := slices.Clone(ref.Inputs[name])
		for i := range columns {
			columns[i] = strconv.Quote(Shorten(columns[i], maxName))
		}
		if len(columns) > 6 {
			columns = slices.Concat(columns[:3], []string{"..."}, columns[len(columns)-2:])
		}
		out = append(out, fmt.Sprintf("input %q took its columns by position, in the order of the data (%s), since the network does not name them: check the order, or name them",
			Shorten(name, maxName), strings.Join(columns, ", ")))
	}
	return out
}

// disorder warns of columns bound by position whose numbers are not in order: x2 before
// x1. That is how a file shuffled since training looks, or one that is sorted by name.
func (ref *Reference) disorder() []string {
	var out []string
	for _, name := range ref.ByPosition() {
		columns := ref.Inputs[name]
		for j := 1; j < len(columns); j++ {
			before, after := columns[j-1], columns[j]
			prefix, a, okA := numberedName(before)
			other, b, okB := numberedName(after)
			if okA && okB && prefix == other && b < a {
				out = append(out, fmt.Sprintf("input %q takes its columns by position, and %q comes before %q: if the network was trained on them in the order of their numbers, effects are given to the wrong columns; name them in order",
					Shorten(name, maxName), Shorten(before, maxName), Shorten(after, maxName)))
				break
			}
		}
	}
	return out
}

// numberedName splits x12 into x and 12.
func numberedName(name string) (prefix string, number int, ok bool) {
	prefix = strings.TrimRight(name, "0123456789")
	number, err := strconv.Atoi(name[len(prefix):])
	return prefix, number, err == nil
}

// worseThanMean warns of a network that is of no use on these rows, which most often
// means that it was given other columns than in training; "" if it is.
func worseThanMean(r *decompose.Result, ref *Reference) string {
	p := r.Prediction
	if p == nil || !p.Worse {
		return ""
	}
	who, check := "the model", "that each input has the columns it was trained on"
	if ref.Kind == Columns {
		check = fmt.Sprintf("that the predictions are of these rows, and on the scale that the link %s takes", ref.Link)
	}
	figure := "its deviance is not finite"
	switch {
	case p.LogLikGain != nil && !r.Hazards():
		return fmt.Sprintf("%s predicts the times %q worse than a constant does (its log-likelihood is %.4g a row lower), and a decomposition explains %[1]s, not the data: family %[4]s takes its output as the location of the logarithm of times; check that, and %[5]s",
			who, Shorten(r.Response, maxName), -*p.LogLikGain, r.Family, check)
	case p.LogLikGain != nil:
		return fmt.Sprintf("%s predicts the times %q worse than no predictor does (its log-likelihood is %.4g a row lower), and a decomposition explains %[1]s, not the data: family %[4]s takes its output as the logarithm of a hazard ratio, which is larger where times are shorter; check that, and %[5]s",
			who, Shorten(r.Response, maxName), -*p.LogLikGain, r.Family, check)
	case p.DevianceExplained != nil:
		figure = fmt.Sprintf("deviance explained %s", Percent(*p.DevianceExplained))
	case p.R2 != nil:
		figure = fmt.Sprintf("R2 %.4g", *p.R2)
	}
	if names := ref.ByPosition(); len(names) > 0 {
		check = fmt.Sprintf("the order of the columns (input %q took them by position)", Shorten(names[0], maxName))
	}
	if ref.Kind != Columns {
		check += ", and that they and the response are scaled as in training"
	}
	than := "its mean does"
	if p.Accuracy != nil {
		than = "the frequencies of its classes do"
	}
	return fmt.Sprintf("%s predicts %q worse than %s (%s), and a decomposition explains %[1]s, not the data: check %[5]s",
		who, Shorten(r.Response, maxName), than, figure, check)
}

// Dropped says how many rows of the last pass were left out for missing cells, "" if
// none. how, which may be "", follows "left out".
func Dropped(src files.Source, how string) string {
	total, dropped := src.Rows()
	if dropped == 0 {
		return ""
	}
	return fmt.Sprintf("%d of %d rows hold missing cells and were left out%s; their cells are empty in the contributions", dropped, total, how)
}

// rowDiagnostics counts where rows went.
func rowDiagnostics(src files.Source, used int64) (json.RawMessage, error) {
	total, dropped := src.Rows()
	return json.Marshal(map[string]any{"rows": map[string]int64{
		"read": total, "with_missing_cells": dropped, "without_weight": total - dropped - used, "used": used,
	}})
}

// Shorten cuts the middle out of a name of more than width characters.
func Shorten(name string, width int) string {
	r := []rune(name)
	if len(r) <= width {
		return name
	}
	half := (width - 3) / 2
	return string(r[:width-3-half]) + "..." + string(r[len(r)-half:])
}

// Percent writes a share; a rounded zero has no sign.
func Percent(share float64) string {
	text := fmt.Sprintf("%.1f %%", 100*share)
	if text == "-0.0 %" {
		return "0.0 %"
	}
	return text
}
