package command

import (
	"os"
	"path/filepath"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/pho-go/pho/internal/app/resultdir"
	"github.com/pho-go/pho/internal/app/wiring"
	"github.com/pho-go/pho/internal/base/durable"
)

func newReport(s streams) *cobra.Command {
	var model, maxMemory, labels, title string
	cmd := &cobra.Command{
		Use:   "report DIR",
		Short: "Write DIR/report.html and DIR/effects.csv again",
		Long: `Write DIR/report.html and DIR/effects.csv again from DIR/decomposition.json,
DIR/moments.bin and the network.

--labels replaces the labels in DIR/decomposition.json, or adds some, and --title what the
report is called; nothing else in it changes, and nothing is computed anew. A file that holds {}
removes the labels, an empty title the title.`,
		Example: `  pho report result
  pho report result --labels labels.json --title 'What moves rents'
  pho report result --model moved/model.onnx`,
		Args: exactArgs("DIR"),
		RunE: func(cmd *cobra.Command, args []string) error {
			r, err := readResult(args[0], labels)
			if err != nil {
				return err
			}
			opened, err := reopen(r, args[0], model, maxMemory, computing{engine: wiring.Own})
			if err != nil {
				return err
			}
			titled := cmd.Flags().Changed("title")
			if titled {
				r.Title = title
			}
			path := func(name string) string { return filepath.Join(args[0], name) }
			var in sources
			in.addNetworks(opened)
			in.add("the labels", labels)
			if labels != "" || titled {
				if err := in.spareFile("the decomposition", path(resultdir.Decomposition)); err != nil {
					return err
				}
			}
			in.add("part of the decomposition", path(resultdir.Decomposition), path(resultdir.Moments))
			for _, name := range []string{resultdir.Effects, resultdir.Report} { // links, perhaps
				if err := in.spareFile("the report's file", path(name)); err != nil {
					return err
				}
			}
			var further []durable.File
			if labels != "" || titled {
				further = []durable.File{{Path: path(resultdir.Decomposition), Write: func(f *os.File) error { return r.Encode(f) }}}
			}
			return resultdir.WriteReport(cmd.Context(), s.unfinished(), path, opened.Model, r, further...)
		},
	}
	cmd.Flags().StringVar(&model, "model", "", "the network's `FILE`, or the folder of several, if it is not where it was")
	addLabels(cmd.Flags(), &labels, ", kept in DIR in place of those that are there")
	addTitle(cmd.Flags(), &title, ", kept in DIR")
	cmd.Flags().StringVar(&maxMemory, "max-memory", "4GiB", "bound on a network's tensors")
	return cmd
}

// addTitle is the flag of the report's title; how says what becomes of it.
func addTitle(f *pflag.FlagSet, title *string, how string) {
	f.StringVar(title, "title", "", "what the report is called, a line of `TEXT`"+how+" (default: what is predicted, and by which model)")
}
