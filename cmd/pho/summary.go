package main

import (
	"fmt"
	"io"
	"math"
	"text/tabwriter"

	"github.com/pho-go/pho/decompose"
	"github.com/pho-go/pho/importance"
)

// summarise prints what was found: the headline of each predictor, its terms,
// the warnings.
func summarise(w io.Writer, r *decompose.Result) {
	for _, p := range r.Predictors {
		before, after := importance.ExplainedVariance(p.VarianceBefore), importance.ExplainedVariance(p.Variance)
		fmt.Fprintf(w, "%s: the structured part explains %.1f %% of the model's variance (%.1f %% before); unstructured %.1f %%, twice their covariance %.1f %%\n",
			p.Name, 100*after.Structured, 100*before.Structured, 100*after.Unstructured, 100*after.TwiceCovariance)
		t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
		fmt.Fprintln(t, "term\tkind\tcolumns\tedf\tsd before\tsd after\tidentified\t")
		for _, term := range p.Terms {
			identified := "yes"
			if !term.Identified {
				identified = "no"
			}
			fmt.Fprintf(t, "%s\t%s\t%d\t%.2f\t%.3f\t%.3f\t%s\t\n", term.Name, term.Kind, term.Columns, term.EDF,
				sd(term.Before.Variance), sd(term.After.Variance), identified)
		}
		_ = t.Flush()
	}
	for _, warning := range r.Warnings {
		fmt.Fprintf(w, "warning: %s\n", warning)
	}
}

func sd(variance float64) float64 { return math.Sqrt(max(variance, 0)) }
