package serve

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
)

// Words say what is told to clients.
type Words struct {
	CreatedBy string             // program and version, for the first frame
	Message   func(error) string // the text of an error; nil: its own
}

// Stdio answers the requests of one client, one after the other, until in ends (nil) or ctx
// does (its error). Rows that cannot be split are answered by an error, and the next request
// is read. The frames are described in docs/serve.md. A read of in that is under way when
// ctx ends stays so.
// Requests are not pipelined: each side could then fill a pipe that the other does not read.
func Stdio(ctx context.Context, e *Explainer, in io.Reader, out io.Writer, w Words) error {
	if w.Message == nil {
		w.Message = error.Error
	}
	s := &stdio{e: e, words: w, out: out, requests: make(chan incoming, 1)}
	if err := s.write(ctx, s.hello(), nil); err != nil {
		return err
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	go s.read(bufio.NewReaderSize(in, 1<<16), stop)
	for {
		select {
		case <-ctx.Done():
			return s.end(ctx)
		case q, more := <-s.requests:
			if !more {
				return s.ended
			}
			if err := s.answer(ctx, q); err != nil {
				return err
			}
		}
	}
}

// incoming is a request as it was read.
type incoming struct {
	request
	payload []byte
	err     error // a frame that cannot be used
	ctx     context.Context
}

// stdio is a conversation.
type stdio struct {
	e        *Explainer
	words    Words
	out      io.Writer
	requests chan incoming

	mu     sync.Mutex
	open   uint64             // the request that is not answered
	cancel context.CancelFunc // of it; nil: all are answered
	ended  error              // why reading ended; nil: at the end of in
}

func (s *stdio) hello() hello {
	return hello{
		Protocol: Protocol, CreatedBy: s.words.CreatedBy, Columns: s.e.Columns(), Predictors: s.e.Predictors(),
		Parts: s.e.Parts(false), PartsSE: s.e.Parts(true), Warnings: s.e.Warnings(), MaxHeader: MaxHeader, MaxPayload: MaxPayload,
	}
}

// read reads frames until in ends or the client breaks the rules. It goes on while a request
// is worked on, to see whether it is cancelled; and it never waits for anything but the
// client, so that neither waits for the other for ever.
func (s *stdio) read(in io.Reader, stop context.CancelFunc) {
	var ended error
	for {
		var q incoming
		q.payload, q.err = readFrame(in, &q.request, MaxHeader, MaxPayload)
		if q.err != nil && !errors.As(q.err, new(frameError)) {
			if ended = q.err; errors.Is(ended, io.EOF) {
				ended = nil
			}
			break
		}
		if q.err == nil && q.Op == "cancel" {
			s.cancelOpen(q.ID)
			continue
		}
		if !s.begin(&q) {
			ended = errors.New("a request came before the last one was answered: read each answer before the next request")
			break
		}
		s.requests <- q
	}
	s.mu.Lock()
	s.ended = ended
	if s.cancel != nil && ended != nil { // at a plain end the answer may still be waited for
		s.cancel()
	}
	s.mu.Unlock()
	close(s.requests)
	if ended != nil {
		stop()
	}
}

// begin makes q the open request; false if there is one.
func (s *stdio) begin(q *incoming) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.cancel != nil {
		return false
	}
	s.open = q.ID
	q.ctx, s.cancel = context.WithCancel(context.Background())
	return true
}

func (s *stdio) cancelOpen(id uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.cancel != nil && s.open == id {
		s.cancel()
	}
}

// close ends the open request, so that the client may send the next.
func (s *stdio) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.cancel()
	s.cancel = nil
}

// end is why the conversation ended before in did.
func (s *stdio) end(ctx context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended != nil {
		return s.ended
	}
	return ctx.Err()
}

// answer answers a request. The error is that of writing.
func (s *stdio) answer(ctx context.Context, q incoming) error {
	own, stop := context.WithCancel(q.ctx)
	defer context.AfterFunc(ctx, stop)()
	defer stop()
	a := answer{ID: q.ID}
	parts, err := s.apply(own, &q, &a)
	if err != nil {
		a.Error, a.Cancel, a.Rows, parts = s.words.Message(err), own.Err() != nil, 0, nil
		if a.Cancel {
			a.Error = "cancelled"
		}
	}
	s.close()
	return s.write(ctx, a, parts)
}

// write writes a frame, or gives up when ctx ends: a client that has stopped reading would
// keep it for ever.
func (s *stdio) write(ctx context.Context, header any, parts [][]float64) error {
	done := make(chan error, 1)
	go func() { done <- writeFrame(s.out, header, parts) }()
	select {
	case <-ctx.Done():
		return s.end(ctx)
	case err := <-done:
		if err != nil {
			return fmt.Errorf("writing to the client: %w", err)
		}
		return nil
	}
}

// apply splits the rows of a request.
func (s *stdio) apply(ctx context.Context, q *incoming, a *answer) (parts [][]float64, err error) {
	defer func() { // a bug of ours: the other requests are worth going on for
		if r := recover(); r != nil {
			parts, err = nil, fmt.Errorf("internal error: %v; please report it", r)
		}
	}()
	a.Usage = true
	if q.err != nil {
		return nil, q.err
	}
	if q.Op != "apply" {
		return nil, fmt.Errorf("op %q: it is apply or cancel", q.Op)
	}
	how, err := q.how(s.e.unseen)
	if err != nil {
		return nil, err
	}
	rows, err := q.rows(s.e.columns, q.payload, len(s.e.Parts(q.SE)))
	if err != nil {
		return nil, err
	}
	a.Usage = false
	a.Rows = rows.Len()
	split, err := s.e.Split(ctx, rows, how)
	if err != nil {
		return nil, err
	}
	a.Dropped, a.Unseen = split.Dropped, split.Unseen
	return split.Parts, nil
}
