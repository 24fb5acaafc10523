package command

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/pho-go/pho/internal/base/revision"
	"github.com/pho-go/pho/serve"
)

// serveFlags are the flags of pho serve.
type serveFlags struct {
	stdio            bool
	model, maxMemory string
	computing        computing
	unseen           string
	online           onlineFlags
}

func newServe(s streams) *cobra.Command {
	var f serveFlags
	cmd := &cobra.Command{
		Use:   "serve DIR... --listen ADDR | DIR --stdio",
		Short: "Keep decompositions open and split rows as they are asked for",
		Long: `Keep the decomposition in DIR and its network open, and answer requests for the
contributions of rows: what 'pho apply' computes, without starting anew.

--listen answers over HTTP, by the Open Inference Protocol (V2) and in plain JSON, and has a page
where a row is entered and its parts are drawn: docs/serve.md. DIR is a directory that decompose wrote, NAME=DIR one under another name, or a
folder of several; it is read again when it is replaced. Metrics are at /metrics, logs on
standard error. SIGTERM ends the server once all requests are answered.

--stdio answers the program that started this one, by the frames of docs/serve.md on standard
input and output; Python's sessions do. The end of the input ends the process.`,
		Example: `  pho serve result --listen 127.0.0.1:8080
  pho serve results/ price=other/result --listen 0.0.0.0:8443 --tls-cert cert.pem --tls-key key.pem --token-file token
  pho serve result --stdio`,
		RunE: func(cmd *cobra.Command, args []string) error { return f.run(cmd.Context(), s, args) },
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	f.online.add(flags)
	flags.BoolVar(&f.stdio, "stdio", false, "serve one client on standard input and output")
	flags.StringVar(&f.unseen, "unseen", "error", "of requests that do not say it: "+unseenUsage)
	flags.StringVar(&f.model, "model", "", "the network's `FILE`, or the folder of several, if it is not where it was")
	f.computing.add(flags, again)
	flags.StringVar(&f.maxMemory, "max-memory", "4GiB", "bound on a network's tensors")
	return cmd
}

func (f *serveFlags) run(ctx context.Context, s streams, dirs []string) error {
	switch {
	case f.stdio && f.online.listen != "":
		return usagef("--stdio and --listen: serve one client or a network, not both")
	case !f.stdio && f.online.listen == "":
		return usagef("--listen or --stdio is missing: say where to serve")
	case len(dirs) == 0:
		return usagef("DIR is missing")
	case f.stdio && len(dirs) > 1:
		return usagef("unexpected argument %q: --stdio serves one decomposition", dirs[1])
	}
	if err := f.computing.check(); err != nil {
		return err
	}
	bound, err := memoryBound(f.maxMemory)
	if err != nil {
		return err
	}
	unseen, err := unseenPolicy(f.unseen)
	if err != nil {
		return err
	}
	o := &serve.Options{Model: f.model, MaxMemory: bound, Engine: f.computing.engine, Precision: f.computing.precision, Unseen: unseen}
	if !f.stdio {
		return f.online.run(ctx, s, dirs, o)
	}
	e, err := serve.Open(dirs[0], o)
	if err != nil {
		return err
	}
	return serve.Stdio(ctx, e, s.in, rawOf(s.data), serve.Words{CreatedBy: revision.Maker, Message: message})
}
