package online

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
	"time"

	"github.com/valyala/fasthttp"

	"github.com/pho-go/pho/internal/app/resultdir"
	"github.com/pho-go/pho/serve/oip"
)

// fault is an answer that is no success.
type fault struct {
	status int
	error
}

func (f fault) Unwrap() error { return f.error }

func faultf(status int, format string, values ...any) error {
	return fault{status, fmt.Errorf(format, values...)}
}

// handle answers one request.
func (s *Server) handle(c *fasthttp.RequestCtx) {
	begun := time.Now()
	m, op, err := s.route(c)
	if err == nil {
		err = s.answer(c, m, op, begun)
	}
	if err != nil {
		s.refuse(c, err)
	}
	took := time.Since(begun)
	s.counts.add(m, op, c.Response.StatusCode(), took)
	if s.o.Requests {
		s.o.Log.Info("request", "method", string(c.Method()), "path", string(c.Path()), "status", c.Response.StatusCode(),
			"took_ms", float64(took.Microseconds())/1e3, "bytes_in", c.Request.Header.ContentLength(), "bytes_out", len(c.Response.Body()))
	}
}

// op is what is asked for.
type op uint8

const (
	opUnknown op = iota
	opServer
	opLive
	opReady
	opMetrics
	opModels
	opModel
	opModelReady
	opReport
	opOpenAPI
	opPage
	opInfer
	opRows
	opExplain
	ops // how many there are
)

// names of them, in metrics and logs.
func (o op) String() string {
	return [...]string{"unknown", "server", "live", "ready", "metrics", "models", "model", "model_ready", "report", "openapi", "page", "infer", "rows", "explain"}[o]
}

// route finds what the path names: an operation, and the model that it is about. Who brings no token is not told.
func (s *Server) route(c *fasthttp.RequestCtx) (m *model, o op, err error) {
	path := bytes.TrimSuffix(c.Path(), []byte("/"))
	if err := s.allowed(c, string(path)); err != nil {
		return nil, opUnknown, err
	}
	method := "GET"
	switch string(path) {
	case "":
		return s.pageModel(c)
	case "/v2":
		o = opServer
	case "/v2/health/live":
		o = opLive
	case "/v2/health/ready":
		o = opReady
	case "/v2/models":
		o = opModels
	case "/metrics":
		o = opMetrics
	case "/openapi.json":
		o = opOpenAPI
	default:
		rest, ok := bytes.CutPrefix(path, []byte("/v2/models/"))
		if !ok {
			return nil, opUnknown, faultf(404, "there is nothing at this path; GET /openapi.json says what there is")
		}
		name, rest, _ := bytes.Cut(rest, []byte("/"))
		if m = s.models.get(name); m == nil {
			return nil, opUnknown, faultf(404, "there is no model %.80q; GET /v2/models names them", name)
		}
		if version, ok := bytes.CutPrefix(rest, []byte("versions/")); ok {
			version, rest, _ = bytes.Cut(version, []byte("/"))
			if own := m.now.Load().version; string(version) != own {
				return m, opUnknown, faultf(404, "model %q is version %s, not %.80q", m.name, own, version)
			}
		}
		switch string(rest) {
		case "":
			o = opModel
		case "ready":
			o = opModelReady
		case "report":
			o = opReport
		case "infer":
			o, method = opInfer, "POST"
		case "rows":
			o, method = opRows, "POST"
		case "explain":
			o, method = opExplain, "POST"
		default:
			return m, opUnknown, faultf(404, "a model has ready, report, infer, rows and explain, not %.80q", rest)
		}
	}
	return m, o, only(c, method)
}

// only refuses other methods.
func only(c *fasthttp.RequestCtx, methods ...string) error {
	for _, method := range methods {
		if own := string(c.Method()); own == method || own == "HEAD" && method == "GET" {
			return nil
		}
	}
	c.Response.Header.Set("Allow", strings.Join(methods, ", "))
	return faultf(405, "this path takes %s", strings.Join(methods, " and "))
}

// allowed checks the client's token. Whether the server lives and is ready is nobody's
// secret. Browsers cannot bring a token to a page, but a password that they ask for: it is the same.
func (s *Server) allowed(c *fasthttp.RequestCtx, path string) error {
	if s.o.Token == nil || path == "/v2/health/live" || path == "/v2/health/ready" {
		return nil
	}
	if !sameSecret(given(c), s.o.Token()) {
		c.Response.Header.Set("WWW-Authenticate", `Bearer realm="pho"`)
		if path == "" || path == "/openapi.json" || strings.HasSuffix(path, "/report") {
			c.Response.Header.Set("WWW-Authenticate", `Basic realm="pho: any name, and the token as password", charset="UTF-8"`)
		}
		return faultf(401, "the request does not bring the token that this server asks for: send the header field Authorization: Bearer TOKEN")
	}
	return nil
}

// given is the token that a request brings, or the password; nil: none.
func given(c *fasthttp.RequestCtx) []byte {
	scheme, given, _ := bytes.Cut(c.Request.Header.Peek("Authorization"), []byte(" "))
	given = bytes.TrimLeft(given, " ")
	switch {
	case bytes.EqualFold(scheme, []byte("Bearer")):
		return given
	case bytes.EqualFold(scheme, []byte("Basic")):
		plain, err := base64.StdEncoding.AppendDecode(nil, given)
		if err != nil {
			return nil
		}
		_, password, _ := bytes.Cut(plain, []byte(":"))
		return password
	}
	return nil
}

func (s *Server) answer(c *fasthttp.RequestCtx, m *model, o op, begun time.Time) (err error) {
	defer func() {
		if r := recover(); r != nil {
			s.o.Log.Error("internal error", "operation", o.String(), "panic", r)
			err = panicked{r}
		}
	}()
	switch o {
	case opPage:
		return s.page(c, m, begun)
	case opLive, opReady, opModelReady:
		return nil
	case opServer:
		return writeJSON(c, map[string]any{"name": "pho", "version": s.o.Version, "extensions": []string{"binary_tensor_data"}})
	case opModels:
		return writeJSON(c, map[string]any{"models": s.listed()})
	case opModel:
		return writeJSON(c, m.metadata())
	case opOpenAPI:
		return writeJSON(c, s.openAPI())
	case opReport:
		return m.report(c)
	case opMetrics:
		c.Response.Header.SetContentType("text/plain; version=0.0.4; charset=utf-8")
		c.Response.SetBody(s.metricsText())
		return nil
	}
	return s.split(c, m, o, begun)
}

// report answers with the page that lies in the result.
func (m *model) report(c *fasthttp.RequestCtx) error {
	page, err := resultdir.ReadFile(m.dir, resultdir.Report)
	if err != nil {
		return faultf(404, "the result of model %q has no %s", m.name, resultdir.Report)
	}
	c.Response.Header.SetContentType("text/html; charset=utf-8")
	c.Response.Header.Set("Content-Security-Policy", "frame-ancestors 'none'") // beside that of the page itself
	c.Response.SetBody(page)
	return nil
}

func writeJSON(c *fasthttp.RequestCtx, v any) error {
	text, err := json.Marshal(v)
	if err != nil {
		return err
	}
	c.Response.Header.SetContentType("application/json")
	c.Response.SetBody(append(text, '\n'))
	return nil
}

// listed names the models, each with its version.
func (s *Server) listed() []any {
	out := []any{}
	for _, m := range s.models.all() {
		out = append(out, map[string]string{"name": m.name, "version": m.now.Load().version, "state": "READY"})
	}
	return out
}

// refuse answers with an error, as the protocol has it: an object with a field error.
func (s *Server) refuse(c *fasthttp.RequestCtx, err error) {
	status := statusOf(err)
	if status == fasthttp.StatusServiceUnavailable {
		c.Response.Header.Set("Retry-After", "1")
	}
	text := oip.AppendText([]byte(`{"error":`), s.o.Message(err))
	c.Response.Header.SetContentType("application/json")
	c.Response.SetStatusCode(status)
	c.Response.SetBody(append(text, '}', '\n'))
}

// statusOf is the HTTP status of an error: the rows' own faults are the client's.
func statusOf(err error) int {
	var f fault
	switch {
	case errors.As(err, &f):
		return f.status
	case errors.Is(err, errBusy):
		return fasthttp.StatusServiceUnavailable
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled):
		return fasthttp.StatusGatewayTimeout
	case errors.As(err, new(panicked)):
		return fasthttp.StatusInternalServerError
	}
	return fasthttp.StatusBadRequest
}

// panicked is a bug of ours: the other requests are worth going on for.
type panicked struct{ value any }

func (p panicked) Error() string {
	return fmt.Sprintf("internal error: %v; please report it", p.value)
}

// unreadable answers what is no HTTP request, or does not come to its end.
func (s *Server) unreadable(c *fasthttp.RequestCtx, err error) {
	status := fasthttp.StatusBadRequest
	var slow net.Error
	var small *fasthttp.ErrSmallBuffer
	switch {
	case errors.As(err, &slow) && slow.Timeout():
		status = fasthttp.StatusRequestTimeout
	case errors.As(err, &small):
		status = fasthttp.StatusRequestHeaderFieldsTooLarge
	}
	s.refuse(c, faultf(status, "the request cannot be read: %w", err))
	c.SetConnectionClose()
	s.counts.add(nil, opUnknown, status, 0)
}

// body reads the request's body to the desk, no more of it than is allowed. The memory
// grows with the bytes that arrive, whatever length the header promises.
func (s *Server) body(c *fasthttp.RequestCtx, d *desk) error {
	d.body = d.body[:0]
	if c.Request.Header.ContentLength() > s.o.MaxBody {
		return s.tooLarge(c)
	}
	if encoding := c.Request.Header.ContentEncoding(); len(encoding) > 0 && string(encoding) != "identity" {
		return faultf(415, "the body is encoded as %.40q: send it plain", encoding)
	}
	from := c.RequestBodyStream()
	if from == nil {
		d.body = append(d.body, c.Request.Body()...)
		return nil
	}
	for {
		if len(d.body) == cap(d.body) {
			d.body = append(d.body, 0)[:len(d.body)]
			if err := s.reserve(d, bodyTimes*int64(cap(d.body))); err != nil {
				c.SetConnectionClose()
				return err
			}
		}
		n, err := from.Read(d.body[len(d.body):min(cap(d.body), s.o.MaxBody+1)])
		d.body = d.body[:len(d.body)+n]
		switch {
		case len(d.body) > s.o.MaxBody:
			return s.tooLarge(c)
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			c.SetConnectionClose()
			var slow net.Error
			if errors.As(err, &slow) && slow.Timeout() {
				return faultf(408, "the body did not come within %v", s.o.Timeout)
			}
			return faultf(400, "the body breaks off: %w", err)
		}
	}
}

// tooLarge refuses a body. Of what is left a little is read: a client that is still sending when the
// connection ends may be told of that alone, and not why.
func (s *Server) tooLarge(c *fasthttp.RequestCtx) error {
	const little = 256 << 10 // as net/http reads, too
	c.SetConnectionClose()
	if from := c.RequestBodyStream(); from != nil {
		io.CopyN(io.Discard, from, little)
	}
	return faultf(413, "the body has more than %d bytes, which is as many as this server takes: send fewer rows at a time", s.o.MaxBody)
}

// headerLength is how many bytes of the body are JSON; -1: all.
func headerLength(c *fasthttp.RequestCtx) (int, error) {
	given := c.Request.Header.Peek("Inference-Header-Content-Length")
	if len(given) == 0 {
		return -1, nil
	}
	n, err := strconv.Atoi(string(given))
	if err != nil || n < 0 {
		return 0, faultf(400, "the header field Inference-Header-Content-Length is %.40q, and should be a number of bytes", given)
	}
	return n, nil
}
