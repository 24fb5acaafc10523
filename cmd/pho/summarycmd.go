package main

import (
	"fmt"

	"github.com/spf13/cobra"
)

func newSummary(s streams) *cobra.Command {
	var labels string
	cmd := &cobra.Command{
		Use:     "summary DIR",
		Short:   "Print what a decomposition found",
		Long:    "Print what the decomposition in DIR found: what 'pho decompose' printed at its end.",
		Example: `  pho summary result`,
		Args:    exactArgs("DIR"),
		RunE: func(cmd *cobra.Command, args []string) error {
			r, err := readResult(args[0], labels)
			if err != nil {
				return err
			}
			fmt.Fprintf(s.out, "rows: %d; method %s\n", r.Rows, r.Method)
			summarise(s.out, r)
			return nil
		},
	}
	addLabels(cmd.Flags(), &labels, ", in place of the decomposition's own")
	return cmd
}
