package command

import (
	"context"
	"fmt"
	"log/slog"
	"net"

	"github.com/spf13/pflag"

	"github.com/pho-go/pho/internal/revision"
	"github.com/pho-go/pho/serve"
	"github.com/pho-go/pho/serve/online"
)

// onlineFlags are the flags of pho serve --listen.
type onlineFlags struct {
	listen string
}

func (f *onlineFlags) add(flags *pflag.FlagSet) {
	flags.StringVar(&f.listen, "listen", "", "`ADDR` to answer HTTP requests at: host:port, or :port of this machine alone")
}

func (f *onlineFlags) run(ctx context.Context, s streams, dirs []string, o *serve.Options) error {
	models, err := online.Open(dirs, o)
	if err != nil {
		return err
	}
	l, err := net.Listen("tcp", f.listen)
	if err != nil {
		return fmt.Errorf("--listen %q: %w", f.listen, err)
	}
	log := slog.New(slog.NewJSONHandler(s.err, nil))
	server := online.New(models, &online.Options{Log: log, Version: revision.Release, Message: message})
	log.Info("listening", "address", l.Addr().String())
	return server.Serve(ctx, l)
}
