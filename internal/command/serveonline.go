package command

import (
	"cmp"
	"context"
	"crypto/tls"
	"fmt"
	"log/slog"
	"net"
	"os"
	"runtime/debug"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/pho-go/pho/internal/base/durable"
	"github.com/pho-go/pho/internal/base/revision"
	"github.com/pho-go/pho/serve"
	"github.com/pho-go/pho/serve/online"
)

// tokenVariable is the environment's variable that may hold the token.
const tokenVariable = "PHO_TOKEN"

// onlineFlags are the flags of pho serve --listen.
type onlineFlags struct {
	listen             string
	certificate, key   string
	tokenFile          string
	open, logRequests  bool
	maxBody, maxBuffer string
	maxRows, maxQueue  int
	workers            int
	timeout, poll      time.Duration
}

func (f *onlineFlags) add(flags *pflag.FlagSet) {
	flags.StringVar(&f.listen, "listen", "", "`ADDR`, host:port to answer HTTP requests at; :port is on 127.0.0.1")
	flags.StringVar(&f.certificate, "tls-cert", "", "`FILE` of the certificate chain in PEM, for HTTPS; read again when it is replaced")
	flags.StringVar(&f.key, "tls-key", "", "`FILE` of the certificate's key in PEM")
	flags.StringVar(&f.tokenFile, "token-file", "", "`FILE` of the token that clients must bring (default: that in $"+tokenVariable+", if any)")
	flags.BoolVar(&f.open, "no-tls-no-token", false, "listen beyond this machine even without TLS or without a token")
	flags.StringVar(&f.maxBody, "max-body", "64MiB", "bound on the body of a request")
	flags.IntVar(&f.maxRows, "max-rows", 100_000, "`NUMBER` of rows that a request may have")
	flags.IntVar(&f.maxQueue, "max-queue", 1024, "`NUMBER` of requests that may wait; others get status 503")
	flags.StringVar(&f.maxBuffer, "max-buffers", "512MiB", "bound on what all requests in work hold; others get status 503")
	flags.IntVar(&f.workers, "workers", 0, "`NUMBER` of requests that are computed at a time (default: one per processor)")
	flags.DurationVar(&f.timeout, "timeout", 30*time.Second, "bound on reading a request, on answering it, and on writing the answer")
	flags.DurationVar(&f.poll, "reload", time.Second, "how often directories are looked at; 0: never")
	flags.BoolVar(&f.logRequests, "log-requests", false, "log every request")
}

func (f *onlineFlags) run(ctx context.Context, s streams, dirs []string, o *serve.Options) error {
	log := slog.New(slog.NewJSONHandler(s.err, nil))
	options, err := f.options(log)
	if err != nil {
		return err
	}
	secure, err := f.tls(log)
	if err != nil {
		return err
	}
	address, err := f.address(secure != nil, options.Token != nil)
	if err != nil {
		return err
	}
	models, err := online.Open(dirs, o)
	if err != nil {
		return err
	}
	l, err := net.Listen("tcp", address)
	if err != nil {
		return fmt.Errorf("--listen %q: %w", f.listen, err)
	}
	if secure != nil {
		l = tls.NewListener(l, secure)
	}
	for _, m := range models.Served() {
		log.Info("serving", "model", m.Name, "version", m.Version, "dir", m.Dir)
		for _, w := range m.Warnings {
			log.Warn(w, "model", m.Name)
		}
	}
	log.Info("listening", "address", l.Addr().String(), "tls", secure != nil, "token", options.Token != nil)
	if os.Getenv("GOGC") == "" { // what lives is small: to collect twice as often costs little
		defer debug.SetGCPercent(debug.SetGCPercent(50))
	}
	s.end.drainFor(f.timeout + time.Second)
	return online.New(models, options).Serve(ctx, l)
}

func (f *onlineFlags) options(log *slog.Logger) (*online.Options, error) {
	o := &online.Options{
		MaxRows: f.maxRows, Queue: f.maxQueue, Workers: f.workers, Timeout: f.timeout, Poll: cmp.Or(f.poll, -1),
		Log: log, Requests: f.logRequests, Version: revision.Release,
		Message: func(err error) string { return bounded(err.Error()) }, // clients give no flags
	}
	switch {
	case f.maxRows < 1:
		return nil, usagef("--max-rows %d: 1 or more", f.maxRows)
	case f.maxQueue < 1:
		return nil, usagef("--max-queue %d: 1 or more", f.maxQueue)
	case f.workers < 0:
		return nil, usagef("--workers %d: 1 or more", f.workers)
	case f.timeout < time.Millisecond:
		return nil, usagef("--timeout %v: 1ms or more", f.timeout)
	}
	body, err := parseSize(f.maxBody)
	if err != nil || body > 1<<31-1 {
		return nil, usagef("--max-body %q: a size below 2GiB, as 64MiB", f.maxBody)
	}
	o.MaxBody = int(body)
	if o.Memory, err = parseSize(f.maxBuffer); err != nil {
		return nil, usagef("--max-buffers %q: a size, as 512MiB", f.maxBuffer)
	}
	token, err := f.token()
	if err != nil {
		return nil, err
	}
	if token != "" {
		o.Token = func() string { return token }
	}
	return o, nil
}

// token is what clients must bring; "": nothing.
func (f *onlineFlags) token() (string, error) {
	if f.tokenFile == "" {
		return strings.TrimSpace(os.Getenv(tokenVariable)), nil
	}
	raw, err := os.ReadFile(f.tokenFile)
	if err != nil {
		return "", fmt.Errorf("--token-file %q: %w", f.tokenFile, durable.Reason(err))
	}
	token := strings.TrimSpace(string(raw))
	if token == "" || strings.ContainsAny(token, " \r\n\t") {
		return "", fmt.Errorf("--token-file %q holds no token: one line without spaces", f.tokenFile)
	}
	return token, nil
}

// tls is how connections are secured; nil: they are not.
func (f *onlineFlags) tls(log *slog.Logger) (*tls.Config, error) {
	switch {
	case f.certificate == "" && f.key == "":
		return nil, nil
	case f.certificate == "" || f.key == "":
		return nil, usagef("--tls-cert and --tls-key: TLS takes both")
	}
	config, err := online.TLS(f.certificate, f.key, log)
	if err != nil {
		return nil, fmt.Errorf("--tls-cert %q, --tls-key %q: %w", f.certificate, f.key, err)
	}
	return config, nil
}

// address is where to listen. Beyond this machine rows of people travel: not without TLS and
// a token, unless somebody says so.
func (f *onlineFlags) address(secure, token bool) (string, error) {
	host, port, err := net.SplitHostPort(f.listen)
	if err != nil {
		return "", usagef("--listen %q: it is host:port, as 127.0.0.1:8080", f.listen)
	}
	if host == "" {
		host = "127.0.0.1"
	}
	if beyond(host) && !f.open && !(secure && token) {
		return "", usagef("--listen %q is beyond this machine: give --tls-cert, --tls-key and --token-file, or say --no-tls-no-token, where a proxy in front has both", f.listen)
	}
	return net.JoinHostPort(host, port), nil
}

// beyond tells whether others than this machine reach the host.
func beyond(host string) bool {
	if host == "localhost" {
		return false
	}
	ip := net.ParseIP(host)
	return ip == nil || !ip.IsLoopback()
}
