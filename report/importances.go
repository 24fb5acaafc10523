package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/pho-go/pho/decompose"
)

// maxImportances is how many rows of importances are not folded away.
const maxImportances = 24

// importances is the section on importance.
type importances struct {
	Features, Terms, More []importanceRow // More, folded away: beyond maxImportances, or not identified
	Likelihood            bool            // else variance shares are all there is
	Measure               string          // what the bars show
	Validity              string          // of McFadden's figures, in words
	Deviance              bool            // some deviance R2 is there
	Joint                 bool            // several predictors: features are dropped from all
	Response              string
}

type importanceRow struct {
	Columns                                       string // the feature and the terms, one a line, for the script
	Name, Terms, Delta, Deviance, McFadden, Share string
	Invalid                                       bool   // McFadden
	Arbitrary                                     bool   // the split, and so the figures, are not identified
	X, W, Zero                                    string // the bar
	Negative                                      bool
	Likelihood, HasDeviance                       bool // as in importances
}

func newImportances(r *decompose.Result, d *decompose.Predictor) importances {
	out := importances{Joint: len(r.Predictors) > 1, Response: clip(r.Response, 60), Measure: "share of variance"}
	valid := 0
	for _, e := range d.Importance {
		out.Likelihood = out.Likelihood || e.DeltaLogLikPerRow != nil
		out.Deviance = out.Deviance || e.DevianceR2 != nil
		if e.McFaddenValid {
			valid++
		}
	}
	measure := func(e decompose.Importance) float64 { return e.VarianceShare }
	if out.Likelihood {
		out.Measure = "gain in log-likelihood per row"
		measure = func(e decompose.Importance) float64 {
			if e.DeltaLogLikPerRow == nil {
				return math.Inf(-1)
			}
			return *e.DeltaLogLikPerRow
		}
	}
	entries := slices.Clone(d.Importance)
	slices.SortStableFunc(entries, func(a, b decompose.Importance) int { return cmp.Compare(measure(b), measure(a)) })
	s := span{0, 0}
	for _, e := range entries {
		if !arbitrary(d, e.Terms) {
			s.add(measure(e))
		}
	}
	if s.size() == 0 {
		s.hi = 1
	}
	x := axis{s, 0, barWidth}
	for _, e := range entries {
		row := importanceRow{
			Columns: strings.Join(cleaned(append([]string{e.Feature}, e.Terms...)), "\n"), Name: clip(e.Feature, 60), Terms: list(e.Terms, 6), Likelihood: out.Likelihood, Zero: px(x.at(0)), HasDeviance: out.Deviance,
			Delta: maybe(e.DeltaLogLikPerRow), Deviance: maybePercent(e.DevianceR2), McFadden: maybe(e.McFadden),
			Share: percent(e.VarianceShare), Invalid: !e.McFaddenValid, Arbitrary: arbitrary(d, e.Terms),
		}
		if v := measure(e); !notFinite(v) && !row.Arbitrary {
			row.X, row.W = px(x.at(math.Min(v, 0))), px(math.Max(math.Abs(x.at(v)-x.at(0)), 1))
			row.Negative = v < 0
		}
		switch {
		case row.Arbitrary || len(out.Features)+len(out.Terms) == maxImportances:
			out.More = append(out.More, row)
		case e.Feature != "":
			out.Features = append(out.Features, row)
		default:
			out.Terms = append(out.Terms, row)
		}
	}
	out.Validity = validity(r, valid, len(entries), out.Deviance)
	return out
}

// arbitrary reports whether some of the terms are identified only in their sum with terms
// that are not among them. Then the data do not say what leaving out these alone would do.
func arbitrary(d *decompose.Predictor, terms []string) bool {
	for _, t := range d.Terms {
		if slices.Contains(terms, t.Name) && !separable(&t) && slices.ContainsFunc(inseparable(&t), func(other string) bool { return !slices.Contains(terms, other) }) {
			return true
		}
	}
	return false
}

// validity says in words whether McFadden's R2 means anything here.
func validity(r *decompose.Result, valid, all int, deviance bool) string {
	instead := "the log-likelihood per row"
	if deviance {
		instead += " or the deviance R²"
	}
	switch {
	case valid == all:
		return "McFadden's R² is valid here: the response has probability masses and the log-likelihoods are negative."
	case valid > 0:
		return fmt.Sprintf("McFadden's R² is valid for %d of %d lines; for the others a log-likelihood is not negative.", valid, all)
	default:
		return fmt.Sprintf("McFadden's R² is not valid here and is shown in brackets: the %s log-likelihood is that of a density, so the figure changes with the units of the response. Read %s instead.", clip(r.Family, 40), instead)
	}
}
