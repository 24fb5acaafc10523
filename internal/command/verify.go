package command

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/pho-go/pho/decompose"
	"github.com/pho-go/pho/internal/app/resultdir"
	"github.com/pho-go/pho/internal/app/wiring"
)

func newVerify(s streams) *cobra.Command {
	var model, maxMemory string
	var sign bool
	cmd := &cobra.Command{
		Use:   "verify DIR",
		Short: "Check that a decomposition is as it was written and fits its network",
		Long: `Check that DIR/decomposition.json and DIR/moments.bin are as they were written (by
the SHA-256 digests in the former), that they can be read, that the network is the
one they were made of, and that contributions are as they were written (by run.json). --sign accepts a decomposition.json that was edited on purpose:
it gets a new digest, if all the rest holds.`,
		Example: `  pho verify result
  pho verify result --sign`,
		Args: exactArgs("DIR"),
		RunE: func(_ *cobra.Command, args []string) error {
			dir := args[0]
			path := filepath.Join(dir, resultdir.Decomposition)
			doc, err := resultdir.ReadFile(dir, resultdir.Decomposition)
			if err != nil {
				return err
			}
			written := doc
			if sign {
				if doc, err = decompose.Sign(doc); err != nil {
					return fmt.Errorf("decomposition %q: %w", dir, err)
				}
			}
			r, err := resultdir.Decode(dir, doc)
			if err != nil {
				return err
			}
			opened, err := reopen(r, dir, model, maxMemory, computing{engine: wiring.Own})
			if err != nil {
				return err
			}
			if _, err := r.Applier(opened.Model); err != nil {
				return err
			}
			fits := resultdir.Moments
			if known, err := resultdir.CheckContributions(dir); err != nil {
				return err
			} else if known {
				fits += ", the contributions"
			}
			what := "as written"
			if !bytes.Equal(doc, written) {
				what = "signed"
				err := s.unfinished().WriteFile(path, func(f *os.File) error { _, err := f.Write(doc); return err })
				if err != nil {
					return err
				}
			}
			of := "the predictions, which the data hold"
			if opened.Kind != wiring.Columns {
				var paths []string
				for _, n := range opened.Files {
					paths = append(paths, n.Path)
				}
				of = "the network" + plural(len(paths)) + " " + shown(strings.Join(paths, ", "))
			}
			fmt.Fprintf(s.out, "%s: %s; it fits %s and %s\n", shown(path), what, fits, of)
			return nil
		},
	}
	cmd.Flags().BoolVar(&sign, "sign", false, "write a new digest into a decomposition.json that was edited on purpose")
	cmd.Flags().StringVar(&model, "model", "", "the network's `FILE`, or the folder of several, if it is not where it was")
	cmd.Flags().StringVar(&maxMemory, "max-memory", "4GiB", "bound on a network's tensors")
	return cmd
}

// plural is the ending of a noun for n things.
func plural(n int) string {
	if n == 1 {
		return ""
	}
	return "s"
}
