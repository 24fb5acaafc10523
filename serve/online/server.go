// Package online answers requests for the parts of rows over HTTP, by the Open Inference
// Protocol, version 2, and by an endpoint for explanations: the decompositions in some
// directories, each with its network, which are read again when they are replaced.
package online

import (
	"cmp"
	"context"
	"log/slog"
	"net"
	"runtime"
	"sync/atomic"
	"time"

	"github.com/valyala/fasthttp"
)

// Options say what a server takes. The zero value of a field means its default.
type Options struct {
	MaxBody  int           // bytes of a request, 64 MiB
	MaxRows  int           // of a request, 100,000
	Queue    int           // requests that may wait for a worker, 1,024
	Workers  int           // that compute at a time: one per processor
	Memory   int64         // that large requests in work may reserve together, 512 MiB
	Timeout  time.Duration // to read a request, to answer it, and to write the answer, 30 s each
	Poll     time.Duration // how often directories are looked at, 1 s; negative: never
	Token    func() string // what clients must bring; nil: nothing
	Log      *slog.Logger  // nil: none
	Requests bool          // every request is logged
	Version  string        // of the program, for the server's metadata
	// Message is the text of an error; nil: its own.
	Message func(error) string
}

func (o *Options) filled() Options {
	f := *o
	f.MaxBody, f.MaxRows = cmp.Or(f.MaxBody, 64<<20), cmp.Or(f.MaxRows, 100_000)
	f.Queue, f.Workers = cmp.Or(f.Queue, 1024), cmp.Or(f.Workers, runtime.GOMAXPROCS(0))
	f.Timeout, f.Poll = cmp.Or(f.Timeout, 30*time.Second), cmp.Or(f.Poll, time.Second)
	f.Memory = cmp.Or(f.Memory, 512<<20)
	if f.Log == nil {
		f.Log = slog.New(slog.DiscardHandler)
	}
	if f.Message == nil {
		f.Message = error.Error
	}
	return f
}

// Server answers requests. It is made by New.
type Server struct {
	o      Options
	models *Models
	// net/http costs twice the rest of a request for one row.
	http   *fasthttp.Server
	begun  time.Time
	counts metrics

	schedule scheduler
	held     atomic.Int64 // bytes that large requests in work have reserved
}

// mostConnections are open at a time.
const mostConnections = 4096

// bodyAtOnce is how much of a body is read before the request is looked at.
const bodyAtOnce = 64 << 10

// New is a server of the models. o may be nil.
func New(models *Models, o *Options) *Server {
	if o == nil {
		o = &Options{}
	}
	s := &Server{o: o.filled(), models: models, begun: time.Now()}
	s.schedule.workers, s.schedule.most = s.o.Workers, s.o.Queue
	s.http = &fasthttp.Server{
		Handler:                      s.handle,
		ErrorHandler:                 s.unreadable,
		Name:                         "pho",
		Concurrency:                  mostConnections,
		ReadTimeout:                  s.o.Timeout,
		WriteTimeout:                 s.o.Timeout,
		IdleTimeout:                  4 * s.o.Timeout,
		ReadBufferSize:               8 << 10, // the header's size at most
		MaxRequestBodySize:           bodyAtOnce,
		StreamRequestBody:            true,
		DisablePreParseMultipartForm: true,
		NoDefaultContentType:         true,
		SecureErrorLogMessage:        true,
		CloseOnShutdown:              true,
		Logger:                       quiet{s.o.Log},
	}
	return s
}

// quiet logs what the HTTP library has to say, of which clients that go away are most.
type quiet struct{ log *slog.Logger }

// Printf logs a message for those who look closely.
func (q quiet) Printf(format string, args ...any) {
	q.log.Debug("http", "message", lazily{format, args})
}

// Serve answers requests that come to l until ctx ends, then those that have been read, and
// returns nil; or the error of listening. It closes l.
func (s *Server) Serve(ctx context.Context, l net.Listener) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	watching := make(chan struct{})
	go func() {
		defer close(watching)
		s.models.watch(ctx, s.o.Poll, s.o.Log)
	}()
	ended := make(chan error, 1)
	go func() { ended <- s.http.Serve(l) }()
	select {
	case err := <-ended:
		stop()
		<-watching
		return err
	case <-ctx.Done():
	}
	<-watching
	s.o.Log.Info("stopping", "open_connections", s.http.GetOpenConnectionsCount())
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.o.Timeout)
	defer cancel()
	err := s.http.ShutdownWithContext(last)
	s.o.Log.Info("stopped")
	return err
}
