package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/pho-go/pho/decompose"
)

// DeepWords say what a deep part that reads arrays tells beyond the table, and what the table tells of it; "" of another
// one, and where nothing was asked of the table.
func DeepWords(d *decompose.Predictor) string {
	before, after := d.VarianceBefore.Unstructured, d.Variance.Unstructured
	if d.Deep == nil || len(d.Terms) == 0 || constant(d) || !(before > 0) {
		return ""
	}
	left, told := rough(after/d.Variance.Total), math.Max(0, 1-after/before)
	whole, it, tell := arrayWords(d.Deep.Arrays), "them", "tell"
	if len(d.Deep.Arrays) == 1 {
		it, tell = "the "+clip(d.Deep.Arrays[0].Kind, 20), "tells"
	}
	if n := len(d.Deep.Columns); n > 0 {
		return fmt.Sprintf("Beyond the curves of the table, %s of what makes predictions differ is of %s together with %s, which the network's deep part reads as well: how much %s alone would tell is not known. Of all that the deep part held, %s can be told from the table alone, and has moved to its columns.%s",
			left, whole, inWords(d.Deep.Columns, 6), it, rough(told), sameWords(told))
	}
	return fmt.Sprintf("Beyond the table, %s %s %s of what makes predictions differ. Of what the network took from %s, %s can be told from the table as well, and has moved to its columns.%s",
		whole, tell, left, it, rough(told), sameWords(told))
}

// sameWords judge the share of a deep part that the table tells, its concurvity with the terms.
func sameWords(told float64) string {
	switch {
	case told >= 0.9:
		return " The two tell nearly the same."
	case told < 0.01:
		return " The two tell different things."
	}
	return ""
}

// arrayWords name arrays: the picture img and the sequence text.
func arrayWords(arrays []decompose.Array) string {
	var names []string
	for _, a := range arrays {
		names = append(names, "the "+clip(a.Kind, 20)+" "+clip(a.Column, 40))
	}
	return inWords(names, 4)
}

// RemainderWords are what the unstructured part of d is called where a row is split, and what it is.
func RemainderWords(d *decompose.Predictor) (name, what string) {
	if d.Deep == nil {
		return "unstructured", "the deep remainder: all columns at once"
	}
	var arrays []string
	for _, a := range d.Deep.Arrays {
		arrays = append(arrays, a.Column)
	}
	name = list(arrays, 3)
	if len(d.Deep.Columns) > 0 {
		return name + " with " + list(d.Deep.Columns, 3), "the deep remainder: both at once, which no curve tells"
	}
	return name + ", beyond the table", "the deep remainder: what the table does not tell of " + arrayWords(d.Deep.Arrays)
}

// DeepFeatures is what the terms tell of features of the deep part, in words.
type DeepFeatures struct {
	Title, Words, Functions string
	Rows                    []DeepFunction
}

// DeepFunction is a linear function of the features.
type DeepFunction struct{ R2, Share, With string }

// NewDeepFeatures has those of r.
func NewDeepFeatures(r *decompose.Result) (all []DeepFeatures) {
	for _, f := range r.DeepFeatures {
		out := DeepFeatures{
			Title: "What the table tells of " + featuresOf(r, f.Columns),
			Words: fmt.Sprintf("The network makes %d numbers of it, the features that its last layer reads. The terms tell %s of how these differ from row to row (their mean R²; as many columns that have nothing to do with them would tell %s).",
				f.Width, percent(f.Explained), percent(f.ExplainedByChance)),
		}
		switch bound := digits(f.R2ByChance, 2); {
		case f.R2ByChance == 1:
			out.Functions = "Which of their linear functions are told best, so few rows cannot say."
		case len(f.Functions) == 0:
			out.Functions = fmt.Sprintf("No linear function of them is told beyond chance, which gives the best of them an R² of %s.", bound)
		default:
			out.Functions = fmt.Sprintf("The linear functions of them that are told best, and how much of what is told each column tells alone (an R² above %s is beyond chance):", bound)
		}
		for _, g := range f.Functions {
			out.Rows = append(out.Rows, DeepFunction{digits(g.R2, 2), percent(g.Share), withWords(g.With)})
		}
		all = append(all, out)
	}
	return all
}

// featuresOf names what features depend on: the picture img, with age.
func featuresOf(r *decompose.Result, columns []string) string {
	var arrays []decompose.Array
	var others []string
	for _, c := range columns {
		kind := ""
		for _, d := range r.Predictors {
			if d.Deep == nil {
				continue
			}
			for _, a := range d.Deep.Arrays {
				if a.Column == c {
					kind = a.Kind
				}
			}
		}
		if kind == "" {
			others = append(others, c)
		} else {
			arrays = append(arrays, decompose.Array{Column: c, Kind: kind})
		}
	}
	words := arrayWords(arrays)
	if len(others) > 0 {
		words = strings.TrimPrefix(words+", with "+inWords(others, 4), ", with ")
	}
	return cmp.Or(words, "the deep part")
}

// withWords name the columns that tell most of a function, each alone, three at most: age 98 %, bmi 16 %. Of several columns
// such are told that tell more than one of them alone.
func withWords(with []decompose.ColumnsShare) string {
	const hardly, more = 0.05, 0.02
	var parts []string
	for i, w := range with {
		within := 0.0
		for _, o := range with[:i] {
			if !slices.ContainsFunc(o.Columns, func(c string) bool { return !slices.Contains(w.Columns, c) }) {
				within = math.Max(within, o.Share)
			}
		}
		if w.Share >= hardly && w.Share >= within+more && len(parts) < 3 {
			parts = append(parts, list(w.Columns, 3)+" "+percent(w.Share))
		}
	}
	return cmp.Or(strings.Join(parts, "; "), "many together")
}
