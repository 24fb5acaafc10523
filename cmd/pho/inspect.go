package main

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/pho-go/pho/adapters/onnx"
)

func newInspect(s streams) *cobra.Command {
	var network networkFlags
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "inspect MODEL.onnx",
		Short: "Show what a network holds: inputs, outputs, its additive structure and why",
		Long: `Show what a network holds, as decompose will see it: inputs, predictors (the
outputs, or the input of a final Sigmoid, Softmax, Exp or Softplus), and the
additive structure found in the graph, with reasons.`,
		Example: `  pho inspect model.onnx
  pho inspect model.onnx --predictor /fc/Add_output_0 --no-structure
  pho inspect model.onnx --json`,
		Args: exactArgs("MODEL.onnx"),
		RunE: func(_ *cobra.Command, args []string) error {
			n, err := loadNetwork(args[0], network.maxMemory)
			if err != nil {
				return err
			}
			structure, err := onnx.Discover(n.Graph, onnx.Unbound(n.Graph), network.options())
			if err != nil {
				return fmt.Errorf("model %q: %w", args[0], err)
			}
			var text strings.Builder
			if asJSON {
				if err := structure.WriteJSON(&text); err != nil {
					return err
				}
				_, err = io.WriteString(s.out, networkInFlags(text.String()))
				return err
			}
			if err := structure.WriteText(&text); err != nil {
				return err
			}
			if err := writeLabels(&text, n.Graph); err != nil {
				return err
			}
			_, err = io.WriteString(s.out, shortWords(networkInFlags(text.String())))
			return err
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "write JSON")
	network.add(cmd.Flags())
	cmd.Flags().StringVar(&network.maxMemory, "max-memory", "4GiB", "bound on a network's tensors, as 512MiB or 4GiB")
	return cmd
}

// writeLabels says which texts the numbers of a network stand for, if it was trained on
// text.
func writeLabels(w io.Writer, g *onnx.Graph) error {
	l, err := g.Labels()
	if err != nil || l == nil {
		return err
	}
	var text strings.Builder
	line := func(what, column string, levels []string) {
		fmt.Fprintf(&text, "%s %q is text:", what, column)
		for i, level := range levels {
			if i == 20 {
				fmt.Fprintf(&text, " ... %d in all", len(levels))
				break
			}
			fmt.Fprintf(&text, " %d = %q", i, level)
		}
		text.WriteString("\n")
	}
	for _, name := range slices.Sorted(maps.Keys(l.Columns)) {
		line("input", name, l.Columns[name])
	}
	if l.Response != "" {
		line("response", l.Response, l.Classes)
	}
	_, err = io.WriteString(w, text.String())
	return err
}
