package command

import (
	"encoding/json"
	"io"
	"math"

	"github.com/spf13/cobra"

	"github.com/pho-go/pho/decompose"
)

func newSummary(s streams) *cobra.Command {
	var full, asJSON bool
	var labels string
	cmd := &cobra.Command{
		Use:   "summary DIR",
		Short: "Print what a decomposition found, in the layout of mgcv's summary",
		Long: `Print what the decomposition in DIR found, where users of mgcv's summary.gam look for it:
family and formula, parametric coefficients with standard errors, terms with their
degrees of freedom, their share of the network's variance and whether the rows determine
them, how well the network predicts, and what is left.

Coefficients, shares and standard errors are of the network, given its training. There
are no p-values and no stars: they would test the response, which the network has seen
already.

--json has the parametric coefficients and their covariance, by predictor, for programs; what else is
told is in DIR/decomposition.json.`,
		Example: `  pho summary result
  pho summary result --full`,
		Args: exactArgs("DIR"),
		RunE: func(cmd *cobra.Command, args []string) error {
			r, err := readResult(args[0], labels)
			if err != nil {
				return err
			}
			if asJSON {
				return writeCoefficients(s.out, r)
			}
			return writePage(s.out, r, full)
		},
	}
	cmd.Flags().BoolVar(&full, "full", false, "all predictors, terms, reasons and warnings, however many they are")
	cmd.Flags().BoolVar(&asJSON, "json", false, "the parametric coefficients and their covariance as JSON, with names in place of labels")
	addLabels(cmd.Flags(), &labels, ", in place of the decomposition's own")
	return cmd
}

// coefficientsJSON is the parametric part of a predictor. Covariance is that of Coefficients, in their order; null
// without standard errors.
type coefficientsJSON struct {
	Predictor    string            `json:"predictor"`
	Coefficients []coefficientJSON `json:"coefficients"`
	Covariance   [][]float64       `json:"covariance"`
	DF           *float64          `json:"df"` // of the t distribution of intervals; null: the normal distribution
}

// coefficientJSON is one of them; Term is "" for the intercept.
type coefficientJSON struct {
	Term     string   `json:"term"`
	Level    string   `json:"level,omitempty"`
	Column   string   `json:"column,omitempty"`
	Estimate float64  `json:"estimate"`
	SE       *float64 `json:"se"`
	Before   float64  `json:"before"`
}

// writeCoefficients writes the parametric part of each predictor, with full precision.
func writeCoefficients(w io.Writer, r *decompose.Result) error {
	out := []coefficientsJSON{}
	for k := range r.Predictors {
		all, err := r.Coefficients(k)
		if err != nil {
			return err
		}
		own := coefficientsJSON{Predictor: r.Predictors[k].Name}
		for _, c := range all {
			j := coefficientJSON{Term: c.Term, Level: c.Level, Column: c.Column, Estimate: c.Estimate, Before: c.Before}
			if !math.IsNaN(c.SE) {
				j.SE = &c.SE
			}
			own.Coefficients = append(own.Coefficients, j)
		}
		if own.Covariance, err = r.CoefficientCovariance(k); err != nil {
			return err
		}
		if df := r.BandDF(); df > 0 {
			own.DF = &df
		}
		out = append(out, own)
	}
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", " ")
	return e.Encode(out)
}
