package onnxruntime

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/pho-go/pho/internal/base/revision"
)

// Serve is the helper's side: it computes by r what comes through in, and answers through out,
// until in ends. library says where r is from. A nil r with a fault tells the program why there
// is no ONNX Runtime. Errors: messages that no program of this version sends, pipes that break.
func Serve(in io.Reader, out io.Writer, r Runtime, library string, fault error) error {
	h := hello{Protocol: protocol, Version: revision.Release, Library: library}
	switch {
	case fault != nil:
		h.Fault = fault.Error()
	case r == nil:
		return errors.New("onnxruntime: Serve without a Runtime")
	default:
		h.ONNXRuntime = r.Version()
	}
	text, err := json.Marshal(h)
	if err != nil {
		return err
	}
	s := &server{runtime: r, out: out, sessions: map[uint32]*served{}}
	if err := s.answer(frame{kind: helloFrame}, text); err != nil || fault != nil {
		return err
	}
	defer s.close()
	for {
		f, err := readFrame(in)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err == nil {
			err = s.take(in, f)
		}
		if err != nil {
			return fmt.Errorf("onnxruntime: %w", err)
		}
	}
}

// server is a Serve.
type server struct {
	runtime  Runtime
	mu       sync.Mutex // of out
	out      io.Writer
	sessions map[uint32]*served
	running  sync.WaitGroup
}

// served is a session and its calls.
type served struct {
	session Session
	inputs  int
	outputs int
	calls   map[uint32]*servedCall
}

type servedCall struct {
	Call
	in, out [][]byte
	busy    sync.Mutex
}

func (s *server) close() {
	s.running.Wait()
	for _, own := range s.sessions {
		_ = own.session.Close()
	}
}

// answer sends a message whole, whoever else has one to send.
func (s *server) answer(f frame, parts ...[]byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return send(s.out, f, parts...)
}

func (s *server) refuse(f frame, err error) error {
	text := err.Error()
	return s.answer(frame{kind: errorFrame, session: f.session, call: f.call}, []byte(text[:min(len(text), maxText)]))
}

// take does what one message asks for. Errors end the helper.
func (s *server) take(in io.Reader, f frame) error {
	switch f.kind {
	case openFrame:
		return s.open(in, f)
	case callFrame:
		return s.call(in, f)
	case closeFrame:
		own, ok := s.sessions[f.session]
		if !ok || f.size != 0 {
			return fmt.Errorf("session %d cannot be closed: it is not open", f.session)
		}
		delete(s.sessions, f.session)
		s.running.Wait() // its calls, and others
		return own.session.Close()
	}
	return fmt.Errorf("a message of kind %q, which this version does not know", f.kind)
}

func (s *server) open(in io.Reader, f frame) error {
	if s.sessions[f.session] != nil || len(s.sessions) >= maxSessions {
		return fmt.Errorf("session %d cannot be opened: it is open, or %d others are", f.session, len(s.sessions))
	}
	n, err := receiveDoor(in, f)
	if err != nil {
		return err
	}
	session, err := s.runtime.Open(n)
	if err != nil {
		return s.refuse(f, err)
	}
	s.sessions[f.session] = &served{session: session, inputs: len(n.Inputs), outputs: len(n.Outputs), calls: map[uint32]*servedCall{}}
	return s.answer(frame{kind: openedFrame, session: f.session})
}

// call reads the inputs of a call and lets it run beside the next messages.
func (s *server) call(in io.Reader, f frame) error {
	own := s.sessions[f.session]
	if own == nil {
		return fmt.Errorf("a call of session %d, which is not open", f.session)
	}
	c := own.calls[f.call]
	if c == nil {
		if len(own.calls) >= maxCalls {
			return fmt.Errorf("more than %d calls of session %d", maxCalls, f.session)
		}
		made, err := own.session.NewCall()
		if err != nil {
			if _, err := io.CopyN(io.Discard, in, int64(min(f.size, maxFiles))); err != nil {
				return cut(err)
			}
			return s.refuse(f, err)
		}
		c = &servedCall{Call: made}
		for i := range own.inputs {
			c.in = append(c.in, made.In(i))
		}
		for i := range own.outputs {
			c.out = append(c.out, made.Out(i))
		}
		own.calls[f.call] = c
	}
	c.busy.Lock() // until its last answer is sent
	if err := receive(in, f, c.in); err != nil {
		c.busy.Unlock()
		return err
	}
	s.running.Go(func() {
		defer c.busy.Unlock()
		// A pipe that is broken ends the helper where it reads: the program is gone.
		if err := c.Run(); err != nil {
			_ = s.refuse(f, err)
			return
		}
		_ = s.answer(frame{kind: doneFrame, session: f.session, call: f.call}, c.out...)
	})
	return nil
}
