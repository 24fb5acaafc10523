package command

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/pho-go/pho/internal/revision"
	"github.com/pho-go/pho/serve"
)

// serveFlags are the flags of pho serve.
type serveFlags struct {
	stdio                       bool
	model, maxMemory, precision string
}

func newServe(s streams) *cobra.Command {
	var f serveFlags
	cmd := &cobra.Command{
		Use:   "serve DIR --stdio",
		Short: "Keep a decomposition open and split rows as they are asked for",
		Long: `Keep the decomposition in DIR and its network open, and answer requests for the
contributions of rows: what 'pho apply' computes, without starting anew. With --stdio the
client is the program that started this one, and speaks the frames of docs/serve.md on
standard input and output; Python's sessions do. The end of the input ends the process.`,
		Example: `  pho serve result --stdio`,
		Args:    exactArgs("DIR"),
		RunE:    func(cmd *cobra.Command, args []string) error { return f.run(cmd.Context(), s, args[0]) },
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.BoolVar(&f.stdio, "stdio", false, "serve one client on standard input and output")
	flags.StringVar(&f.model, "model", "", "the network's `FILE`, or the folder of several, if it is not where it was")
	addPrecision(flags, &f.precision, "", " (default: that of the decomposition)")
	flags.StringVar(&f.maxMemory, "max-memory", "4GiB", "bound on a network's tensors")
	return cmd
}

func (f *serveFlags) run(ctx context.Context, s streams, dir string) error {
	if !f.stdio {
		return usagef("--stdio is missing: it is the one way to serve")
	}
	if err := checkPrecision(f.precision); err != nil {
		return err
	}
	bound, err := memoryBound(f.maxMemory)
	if err != nil {
		return err
	}
	e, err := serve.Open(dir, &serve.Options{Model: f.model, MaxMemory: bound, Precision: f.precision})
	if err != nil {
		return err
	}
	return serve.Stdio(ctx, e, s.in, rawOf(s.data), serve.Words{CreatedBy: revision.Maker, Message: message})
}
