package main

import (
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/pho-go/pho/internal/resultdir"
)

func newReport(s streams) *cobra.Command {
	var model, maxMemory string
	cmd := &cobra.Command{
		Use:   "report DIR",
		Short: "Write DIR/report.html and DIR/effects.csv again",
		Long: `Write DIR/report.html and DIR/effects.csv again from DIR/decomposition.json,
DIR/moments.bin and the network.`,
		Example: `  pho report result
  pho report result --model moved/model.onnx`,
		Args: exactArgs("DIR"),
		RunE: func(cmd *cobra.Command, args []string) error {
			r, err := resultdir.Read(args[0])
			if err != nil {
				return err
			}
			opened, err := reopen(r, args[0], model, maxMemory, "")
			if err != nil {
				return err
			}
			path := func(name string) string { return filepath.Join(args[0], name) }
			var in sources
			in.addNetworks(opened)
			in.add("part of the decomposition", path(resultdir.Decomposition), path(resultdir.Moments))
			for _, name := range []string{resultdir.Effects, resultdir.Report} { // links, perhaps
				if err := in.spareFile("the report's file", path(name)); err != nil {
					return err
				}
			}
			return resultdir.WriteReport(cmd.Context(), s.unfinished(), path, opened.Model, r)
		},
	}
	cmd.Flags().StringVar(&model, "model", "", "the network's `FILE`, or the folder of several, if it is not where it was")
	cmd.Flags().StringVar(&maxMemory, "max-memory", "4GiB", "bound on a network's tensors")
	return cmd
}
