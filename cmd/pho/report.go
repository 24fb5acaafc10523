package main

import (
	"path/filepath"

	"github.com/spf13/cobra"
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
			r, err := readResult(args[0])
			if err != nil {
				return err
			}
			m, ref, err := reopen(r, args[0], model, maxMemory, "")
			if err != nil {
				return err
			}
			path := func(name string) string { return filepath.Join(args[0], name) }
			var in sources
			in.add("the model", ref.file)
			in.add("part of the decomposition", path(fileDecomposition), path(fileMoments))
			for _, name := range []string{fileEffects, fileReport} { // links, perhaps
				if err := in.spareFile("the report's file", path(name)); err != nil {
					return err
				}
			}
			return writeReport(cmd.Context(), s.unfinished(), path, m, r)
		},
	}
	cmd.Flags().StringVar(&model, "model", "", "the network's `FILE`, if it is not where it was")
	cmd.Flags().StringVar(&maxMemory, "max-memory", "4GiB", "bound on a network's tensors")
	return cmd
}
