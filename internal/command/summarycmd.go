package command

import (
	"github.com/spf13/cobra"
)

func newSummary(s streams) *cobra.Command {
	var full, asJSON, asLaTeX bool
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
already.`,
		Example: `  pho summary result
  pho summary result --full
  pho summary result --json
  pho summary result --latex > tables.tex`,
		Args: exactArgs("DIR"),
		RunE: func(cmd *cobra.Command, args []string) error {
			r, err := readResult(args[0], labels)
			if err != nil {
				return err
			}
			switch {
			case asJSON && asLaTeX:
				return usagef("--json and --latex are two forms of the summary: give one")
			case asJSON:
				return writeSummaryJSON(s.data, r)
			case asLaTeX:
				return writeSummaryLaTeX(s.data, r)
			}
			return writePage(s.out, r, full)
		},
	}
	cmd.Flags().BoolVar(&full, "full", false, "all predictors, terms, reasons and warnings, however many they are")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON, all of it; names are those of the data")
	cmd.Flags().BoolVar(&asLaTeX, "latex", false, "print the coefficients and terms, all of them, as tables for LaTeX with the rules of booktabs")
	addLabels(cmd.Flags(), &labels, ", in place of the decomposition's own")
	return cmd
}
