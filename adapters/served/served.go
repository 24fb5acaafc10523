// Package served asks models that run behind an address what they predict: over the Open
// Inference Protocol, version 2, in JSON (Triton, KServe, MLServer, pho serve), or over the scoring
// protocol of MLflow. Rows go to that address alone; a redirect to another host is an error.
package served

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/pho-go/pho/data"
)

// Protocol is how a server is asked.
type Protocol string

// The protocols.
const (
	OIP    Protocol = "oip"    // Open Inference Protocol 2: http://HOST/v2/models/NAME
	MLflow Protocol = "mlflow" // dataframe_split to http://HOST/invocations
)

// Options say how a server is asked. The zero value, and nil, hold the defaults.
type Options struct {
	Token     string            // goes as "Authorization: Bearer TOKEN"; "": none
	Timeout   time.Duration     // of one request; 0: a minute
	Attempts  int               // of one request, where the server is not there, has no time, or asks to come again; 0: 5
	Pause     time.Duration     // before the second attempt, doubled for each further one, unless the server says how long; 0: half a second
	Rows      int               // of one request, at most; 0: 1000, or fewer of many columns. Fewer are tried where so many are too many
	Transport http.RoundTripper // nil: that of net/http, with the proxies of the environment
}

// Input is an input of the model, as the server calls it, and the data columns that it takes.
type Input struct {
	Name     string   `json:"name"`
	Datatype string   `json:"datatype,omitempty"` // of the Open Inference Protocol; "": of a data frame
	Width    int      `json:"width,omitempty"`    // numbers of a row; 0: as many as there are columns
	Flat     bool     `json:"flat,omitempty"`     // the shape is [n], not [n, width]
	Columns  []string `json:"columns"`            // in order
}

// Output is an output that is asked for: Width numbers of a row.
type Output struct {
	Name  string `json:"name"`
	Width int    `json:"width"`
}

// Form describes requests and answers: with the address it is all that asking takes.
type Form struct {
	Protocol Protocol `json:"protocol"`
	Inputs   []Input  `json:"inputs"`
	Outputs  []Output `json:"outputs"`
	Frame    bool     `json:"frame,omitempty"` // inputs are the columns of a data frame (MLServer's content type pd)
}

// Columns are the data columns that the model reads, each once.
func (f *Form) Columns() (names []string) {
	for _, in := range f.Inputs {
		for _, c := range in.Columns {
			if !slices.Contains(names, c) {
				names = append(names, c)
			}
		}
	}
	return names
}

// Texts are the columns that the model takes as text.
func (f *Form) Texts() (names []string) {
	for _, in := range f.Inputs {
		if in.Datatype == texts {
			names = append(names, in.Columns...)
		}
	}
	return names
}

// Width is K, the numbers that a row is answered with.
func (f *Form) Width() (k int) {
	for _, o := range f.Outputs {
		k += o.Width
	}
	return k
}

// IsAddress reports whether a model is named by an address, and not by a file.
func IsAddress(model string) bool {
	return strings.HasPrefix(model, "http://") || strings.HasPrefix(model, "https://")
}

// Server is a model behind an address. It is safe for concurrent use.
type Server struct {
	address  string // without what is asked of it
	protocol Protocol
	client   *http.Client
	options  Options
	rows     atomic.Int64 // of one request
}

// At is the server of an address, which is not asked anything yet. Error: an address of neither protocol, or one
// that holds a password or a query, as results record it.
func At(address string, o *Options) (*Server, error) {
	s := new(Server)
	if o != nil {
		s.options = *o
	}
	u, err := url.Parse(address)
	if err != nil || u.Host == "" {
		return nil, fmt.Errorf("model %q: it is no address: it looks like http://HOST:PORT/v2/models/NAME", address)
	}
	if u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		u.User, u.RawQuery, u.Fragment = nil, "", ""
		return nil, fmt.Errorf("model %q: the address is recorded in results, so it has no user, password or query: pass a secret as the token", u)
	}
	if s.address, s.protocol, err = asked(u); err != nil {
		return nil, err
	}
	s.options.Timeout = orElse(s.options.Timeout, time.Minute)
	s.options.Attempts = orElse(s.options.Attempts, 5)
	s.options.Pause = orElse(s.options.Pause, time.Second/2)
	s.rows.Store(int64(orElse(s.options.Rows, 1000)))
	s.client = &http.Client{Transport: s.options.Transport, CheckRedirect: stay}
	return s, nil
}

// asked is the address of the model, and its protocol.
func asked(u *url.URL) (string, Protocol, error) {
	path := strings.TrimRight(u.EscapedPath(), "/")
	root := u.Scheme + "://" + u.Host
	if strings.HasSuffix(path, "/invocations") {
		return root + path, MLflow, nil
	}
	path = strings.TrimSuffix(path, "/infer")
	if before, name, found := strings.Cut(path, "/v2/models/"); found && name != "" {
		return root + before + "/v2/models/" + name, OIP, nil
	}
	return "", "", fmt.Errorf("model %q: the path names no model: it is /v2/models/NAME of the Open Inference Protocol, or /invocations of MLflow", u)
}

func orElse[T int | time.Duration](v, otherwise T) T {
	if v <= 0 {
		return otherwise
	}
	return v
}

// Address is where the model is asked.
func (s *Server) Address() string { return s.address }

// Protocol is how it is asked.
func (s *Server) Protocol() Protocol { return s.protocol }

// stay follows redirects to the same host alone, and none that loses the rows or their encryption.
func stay(next *http.Request, via []*http.Request) error {
	first := via[0]
	switch {
	case next.URL.Host != first.URL.Host || first.URL.Scheme == "https" && next.URL.Scheme != "https":
		return &redirect{next.URL.Redacted()}
	case next.Method != first.Method || len(via) > 5:
		return &redirect{next.URL.Redacted()}
	}
	return nil
}

// redirect is an answer that sends rows elsewhere.
type redirect struct{ to string }

func (r *redirect) Error() string {
	return fmt.Sprintf("it sends whoever asks to %q, and rows go to the address that was named alone: name that one, if it is meant", r.to)
}

// Error is a server that does not answer, or not with what was asked for.
type Error struct {
	Address string
	Status  int // of HTTP; 0: there was no answer, or it had another fault
	Err     error
}

// Error says where and what.
func (e *Error) Error() string { return fmt.Sprintf("model %q: %v", e.Address, e.Err) }

// Unwrap is what is wrong.
func (e *Error) Unwrap() error { return e.Err }

func (s *Server) fault(format string, args ...any) error {
	return &Error{s.address, 0, fmt.Errorf(format, args...)}
}

// sameAnswer is how far two answers for a row may be apart, relative to the larger: what float32 sums do in another
// order.
const sameAnswer = 1e-4

// probed is how many rows are asked when a form is settled.
const probed = 32

// Settle finds out what the model answers, by up to 32 rows of first. f has the inputs with their columns and, if somebody
// chooses outputs, their names; the widths come back. Four of the rows are asked a second time, each alone: a model that
// changes its answers, or whose answer for a row depends on the others, is an error; so are several outputs of which
// nobody chose, and answers that are no numbers.
func (s *Server) Settle(ctx context.Context, f Form, first *data.Batch) (*Form, error) {
	n := min(first.Rows(), probed)
	if n == 0 {
		return nil, s.fault("there are no rows to ask it about")
	}
	b := first.Slice(0, n)
	answer, err := s.ask(ctx, &f, b)
	if refused := (*Error)(nil); errors.As(err, &refused) && refused.Status >= 400 && refused.Status != http.StatusUnauthorized && refused.Status != http.StatusNotFound {
		return nil, fmt.Errorf("%w; it was given the columns %.300q: name those that it takes, in its order, if they are others", err, f.Columns())
	}
	if err != nil {
		return nil, err
	}
	if f.Outputs, err = chosen(answer, f.Outputs); err != nil {
		return nil, s.fault("%w", err)
	}
	once, err := s.numbers(&f, answer, b)
	if err != nil {
		return nil, err
	}
	k := f.Width()
	for row := max(0, n-4); row < n; row++ {
		alone := b.Slice(row, row+1)
		if answer, err = s.ask(ctx, &f, alone); err != nil {
			return nil, err
		}
		again, err := s.numbers(&f, answer, alone)
		if err != nil {
			return nil, err
		}
		for j, v := range again {
			if w := once[row*k+j]; !alike(v, w) {
				return nil, s.fault("its answer for data row %d is %v with other rows, and %v alone: an answer has to depend on its row, and to be the same each time", b.Row(row)+1, w, v)
			}
		}
	}
	return &f, nil
}

// alike reports whether two answers are the same up to rounding. Missing ones are told later.
func alike(a, b float64) bool {
	if a != a || b != b {
		return (a != a) == (b != b)
	}
	return a == b || math.Abs(a-b) <= sameAnswer*max(math.Abs(a), math.Abs(b), 1e-6)
}

// chosen are the outputs of an answer that somebody chose; the only one, if nobody did.
func chosen(answer []tensor, want []Output) ([]Output, error) {
	var names []string
	for _, t := range answer {
		names = append(names, t.name)
	}
	if len(want) == 0 {
		if len(answer) != 1 {
			return nil, fmt.Errorf("it answers with the outputs %.300q: choose one that holds predictions (Options.Predictor)", names)
		}
		want = []Output{{Name: names[0]}}
	}
	var out []Output
	for _, w := range want {
		at := slices.Index(names, w.Name)
		if at < 0 {
			return nil, fmt.Errorf("it answers with the outputs %.300q, and %q is not among them: choose one that is", names, w.Name)
		}
		if t := answer[at]; t.width == 0 && !t.isText {
			return nil, fmt.Errorf("its output %q has no number for a row", w.Name)
		}
		out = append(out, Output{w.Name, answer[at].width})
	}
	return out, nil
}

// Predict overwrites dst (n x K, row-major) with the answers for the n rows of b, on the scale of the response; NaN is what the server has
// no number for. Row i depends on row i of b alone. Errors: *Error; a value that the model's input cannot hold; ctx.
func (s *Server) Predict(ctx context.Context, dst []float64, f *Form, b *data.Batch) error {
	k := f.Width()
	if len(dst) != k*b.Rows() {
		return fmt.Errorf("served: %d numbers for %d answers to each of %d rows", len(dst), k, b.Rows())
	}
	for at := 0; at < b.Rows(); {
		n := min(s.atOnce(f), b.Rows()-at)
		part := b.Slice(at, at+n)
		answer, err := s.ask(ctx, f, part)
		if tooMany := (*tooManyError)(nil); errors.As(err, &tooMany) && n > 1 {
			s.rows.Store(int64(max(1, n/8)))
			continue
		}
		if err != nil {
			return err
		}
		values, err := s.numbers(f, answer, part)
		if err != nil {
			return err
		}
		copy(dst[at*k:], values)
		at += n
	}
	return nil
}

// mostCells is how many values one request holds, at most.
const mostCells = 200_000

// atOnce is how many rows one request holds, at most.
func (s *Server) atOnce(f *Form) int {
	return min(int(s.rows.Load()), max(1, mostCells/max(1, len(f.Columns()))))
}

// numbers are the answers of the form's outputs, n x K.
func (s *Server) numbers(f *Form, answer []tensor, b *data.Batch) ([]float64, error) {
	n, k, at := b.Rows(), f.Width(), 0
	out := make([]float64, n*k)
	for _, o := range f.Outputs {
		i := slices.IndexFunc(answer, func(t tensor) bool { return t.name == o.Name })
		if i < 0 {
			return nil, s.fault("it answered data rows %d to %d without the output %q", b.Row(0)+1, b.Row(n-1)+1, o.Name)
		}
		t := answer[i]
		if t.isText {
			return nil, s.fault("its output %q is %.100q, a text: a label has no scale on which terms add up; choose an output of numbers, such as probabilities", o.Name, t.text)
		}
		if t.width != o.Width {
			return nil, s.fault("it answered in %d columns to the data rows %d to %d, where %d columns were expected: the output %q has another shape than before", t.width, b.Row(0)+1, b.Row(n-1)+1, o.Width, o.Name)
		}
		for r := range n {
			copy(out[r*k+at:], t.values[r*o.Width:(r+1)*o.Width])
		}
		at += o.Width
	}
	return out, nil
}
