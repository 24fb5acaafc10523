package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/pho-go/pho/basis"
	"github.com/pho-go/pho/decompose"
	"github.com/pho-go/pho/internal/durable"
)

func newVerify(s streams) *cobra.Command {
	var model, maxMemory string
	var sign bool
	cmd := &cobra.Command{
		Use:   "verify DIR",
		Short: "Check that a decomposition is as it was written and fits its network",
		Long: `Check that DIR/decomposition.json and DIR/moments.bin are as they were written (by
the SHA-256 digests in the former), that they can be read, and that the network is the
one they were made of. --sign accepts a decomposition.json that was edited on purpose:
it gets a new digest, if all the rest holds.`,
		Example: `  pho verify result
  pho verify result --sign`,
		Args: exactArgs("DIR"),
		RunE: func(_ *cobra.Command, args []string) error {
			dir := args[0]
			path := filepath.Join(dir, fileDecomposition)
			doc, err := readResultFile(dir, fileDecomposition)
			if err != nil {
				return err
			}
			written := doc
			if sign {
				if doc, err = decompose.Sign(doc); err != nil {
					return fmt.Errorf("decomposition %q: %w", dir, err)
				}
			}
			r, err := readDocument(dir, doc)
			if err != nil {
				return err
			}
			m, ref, err := reopen(r, dir, model, maxMemory, "")
			if err != nil {
				return err
			}
			if _, err := r.Applier(m); err != nil {
				return err
			}
			what := "as written"
			if !bytes.Equal(doc, written) {
				what = "signed"
				err := s.unfinished().WriteFile(path, func(f *os.File) error { _, err := f.Write(doc); return err })
				if err != nil {
					return err
				}
			}
			fmt.Fprintf(s.out, "%s: %s; it fits %s and the network %s\n", shown(path), what, fileMoments, shown(ref.file))
			return nil
		},
	}
	cmd.Flags().BoolVar(&sign, "sign", false, "write a new digest into a decomposition.json that was edited on purpose")
	cmd.Flags().StringVar(&model, "model", "", "the network's `FILE`, if it is not where it was")
	cmd.Flags().StringVar(&maxMemory, "max-memory", "4GiB", "bound on a network's tensors")
	return cmd
}

// readResult reads a directory that decompose wrote.
func readResult(dir string) (*decompose.Result, error) {
	doc, err := readResultFile(dir, fileDecomposition)
	if err != nil {
		return nil, err
	}
	return readDocument(dir, doc)
}

// readDocument reads doc, for the decomposition in dir, with the moments there.
func readDocument(dir string, doc []byte) (*decompose.Result, error) {
	moments, err := openResultFile(dir, fileMoments)
	if err != nil {
		return nil, err
	}
	defer moments.Close()
	r, err := decompose.Read(bytes.NewReader(doc), moments, basis.Decode)
	if err != nil {
		hint := ""
		if errors.Is(err, decompose.ErrDigest) {
			hint = "; if it was edited on purpose, pho verify DIR --sign accepts it"
		}
		return nil, fmt.Errorf("decomposition %q: %w%s", dir, err, hint)
	}
	return r, nil
}

func readResultFile(dir, name string) ([]byte, error) {
	f, err := openResultFile(dir, name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	raw, err := io.ReadAll(f)
	if err != nil {
		return nil, fmt.Errorf("decomposition %q: %s: %w", dir, name, durable.Reason(err))
	}
	return raw, nil
}

func openResultFile(dir, name string) (*os.File, error) {
	f, err := os.Open(filepath.Join(dir, name))
	if err != nil {
		return nil, fmt.Errorf("%q is not a directory that decompose wrote: %s: %w", dir, name, durable.Reason(err))
	}
	return f, nil
}
