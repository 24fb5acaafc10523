package main

import (
	"bufio"
	"context"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/pho-go/pho/basis"
	"github.com/pho-go/pho/decompose"
	"github.com/pho-go/pho/report"
)

// applyFlags are the flags of pho apply.
type applyFlags struct {
	dir, out, model, maxMemory string
	data                       dataFlags
}

func newApply(s streams) *cobra.Command {
	var a applyFlags
	cmd := &cobra.Command{
		Use:   "apply --decomposition DIR --data FILE... --out FILE|-",
		Short: "Contributions on new rows, with the training rows' coefficients and centring",
		RunE:  func(cmd *cobra.Command, args []string) error { return a.run(cmd.Context(), s, args) },
	}
	f := cmd.Flags()
	f.StringVar(&a.dir, "decomposition", "", "directory that decompose wrote")
	f.StringVar(&a.out, "out", "", "CSV file to write, - for standard output")
	f.StringVar(&a.model, "model", "", "the network, if it is not where it was")
	f.StringVar(&a.maxMemory, "max-memory", "4GiB", "bound on a network's tensors")
	a.data.add(f)
	return cmd
}

func (a *applyFlags) run(ctx context.Context, s streams, further []string) error {
	switch {
	case a.dir == "":
		return usagef("--decomposition is missing: name the directory that decompose wrote")
	case a.out == "":
		return usagef("--out is missing: name a CSV file, or - for standard output")
	}
	r, err := readResult(a.dir)
	if err != nil {
		return err
	}
	m, ref, err := reopen(r, a.model, a.maxMemory)
	if err != nil {
		return err
	}
	applier, err := r.Applier(m)
	if err != nil {
		return err
	}
	a.data.factors = ref.Factors
	src, err := a.data.open(s, further)
	if err != nil {
		return err
	}
	defer src.Close()
	write := func(w io.Writer) error {
		return report.WriteContributions(ctx, w, r, applier, src, totalRows(src))
	}
	if a.out == "-" {
		return write(s.out)
	}
	return writeFile(a.out, func(f *os.File) error { return write(f) })
}

// readResult reads a directory that decompose wrote.
func readResult(dir string) (*decompose.Result, error) {
	doc, err := os.Open(filepath.Join(dir, fileDecomposition))
	if err != nil {
		return nil, err
	}
	defer doc.Close()
	moments, err := os.Open(filepath.Join(dir, fileMoments))
	if err != nil {
		return nil, err
	}
	defer moments.Close()
	return decompose.Read(bufio.NewReader(doc), bufio.NewReader(moments), basis.Decode)
}
