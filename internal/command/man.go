package command

import (
	"fmt"
	"os"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"

	"github.com/pho-go/pho/internal/base/revision"
)

// newMan writes manual pages: for those who package the command, so it is hidden.
func newMan() *cobra.Command {
	var date string
	cmd := &cobra.Command{
		Use:    "man DIR",
		Short:  "Write manual pages to DIR",
		Long:   "Write a manual page for pho, and one for each of its commands, to the directory DIR.",
		Hidden: true,
		Args:   exactArgs("DIR"),
		RunE: func(cmd *cobra.Command, args []string) error {
			at, err := time.Parse(time.DateOnly, date)
			if err != nil {
				return usagef("--date %q: it is a date as 2026-01-31", date)
			}
			if err := os.MkdirAll(args[0], 0o755); err != nil {
				return fmt.Errorf("%q cannot be made: %w", args[0], err)
			}
			root := cmd.Root()
			root.DisableAutoGenTag = true
			return doc.GenManTree(root, &doc.GenManHeader{Title: "PHO", Section: "1", Date: &at, Source: revision.Maker, Manual: "pho"}, args[0])
		},
	}
	// The day of today would make equal builds differ.
	cmd.Flags().StringVar(&date, "date", "1970-01-01", "`DATE` that the pages bear: that of the release")
	return cmd
}
