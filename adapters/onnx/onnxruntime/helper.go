package onnxruntime

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/pho-go/pho/internal/base/revision"
)

// Program is the name of the helper.
const Program = "pho-ort"

// Helper is the Runtime of a helper program, which computes the calls of several goroutines side
// by side. It ends when nobody holds the Helper or a session of it any more, and with the process.
type Helper struct {
	*process
	hello hello
}

// HelperError is a helper that is not there, that is of another version, or that finds no ONNX
// Runtime: what the user can install.
type HelperError struct{ Err error }

func (e *HelperError) Error() string { return e.Err.Error() }
func (e *HelperError) Unwrap() error { return e.Err }

// Start starts the helper at path. "": the program that the environment variable PHO_ORT names,
// or else pho-ort beside this program, or else on PATH. Errors are *HelperError.
func Start(path string) (*Helper, error) {
	path, err := find(path)
	if err != nil {
		return nil, &HelperError{err}
	}
	p, err := start(path)
	if err != nil {
		return nil, &HelperError{fmt.Errorf("the helper %q cannot be started (it needs the system's own C library, which static systems as Alpine do not have): %w", path, err)}
	}
	h := &Helper{process: p}
	if err := h.greet(); err != nil {
		p.stop()
		return nil, &HelperError{err}
	}
	go p.read()
	runtime.AddCleanup(h, (*process).stop, p)
	return h, nil
}

func find(path string) (string, error) {
	if path != "" {
		return path, nil
	}
	if path = os.Getenv("PHO_ORT"); path != "" {
		return path, nil
	}
	if own, err := os.Executable(); err == nil {
		places := []string{own}
		if real, err := filepath.EvalSymlinks(own); err == nil {
			places = append(places, real)
		}
		for _, place := range places {
			if beside, err := exec.LookPath(filepath.Join(filepath.Dir(place), Program)); err == nil {
				return beside, nil
			}
		}
	}
	if found, err := exec.LookPath(Program); err == nil {
		return found, nil
	}
	return "", fmt.Errorf("ONNX Runtime is loaded by a helper program, %s, which is neither beside this program nor on PATH: install it from the release that this program is from (Python's wheels for glibc, macOS and Windows have it), or name its file in the environment variable PHO_ORT", Program)
}

// Version is ONNX Runtime's.
func (h *Helper) Version() string { return h.hello.ONNXRuntime }

// Library is the file that the helper has loaded ONNX Runtime from.
func (h *Helper) Library() string { return h.hello.Library }

// greet reads what the helper says of itself.
func (h *Helper) greet() error {
	defer time.AfterFunc(time.Minute, func() { _ = h.command.Process.Kill() }).Stop() // another program may wait for ever
	f, err := readFrame(h.out)
	if err == nil && f.kind != helloFrame {
		err = errors.New("its first words are not those of a helper")
	}
	if err == nil {
		err = receiveJSON(h.out, f, maxText, &h.hello)
	}
	switch {
	case err != nil:
		return fmt.Errorf("%q is not pho's helper for ONNX Runtime: %w", h.path, h.ended(err))
	case h.hello.Protocol != protocol:
		return fmt.Errorf("the helper %q is of pho %.40q, and this is pho %s, which do not understand each other: install both from one release", h.path, h.hello.Version, revision.Release)
	case h.hello.Fault != "":
		return fmt.Errorf("the helper %q has no ONNX Runtime: %s", h.path, h.hello.Fault)
	}
	return nil
}

// Open is Runtime's.
func (h *Helper) Open(n Network) (Session, error) {
	d := door{File: int64(len(n.File)), Inputs: n.Inputs, Outputs: n.Outputs}
	files := [][]byte{n.File}
	for _, location := range slices.Sorted(maps.Keys(n.External)) {
		d.External = append(d.External, externalFile{location, int64(len(n.External[location]))})
		files = append(files, n.External[location])
	}
	text, err := json.Marshal(d)
	if err != nil {
		return nil, err
	}
	s := &remote{helper: h, number: h.next(), of: Network{Inputs: n.Inputs, Outputs: n.Outputs}}
	if err := h.ask(frame{kind: openFrame, session: s.number}, nil, text, files...); err != nil {
		return nil, err
	}
	return s, nil
}

// remote is a session of the helper.
type remote struct {
	helper *Helper
	number uint32
	of     Network
}

// Close is Session's.
func (s *remote) Close() error {
	return s.helper.tell(frame{kind: closeFrame, session: s.number})
}

// NewCall is Session's.
func (s *remote) NewCall() (Call, error) {
	c := &remoteCall{session: s, number: s.helper.next()}
	return c, c.make(s.of.Inputs, s.of.Outputs)
}

// remoteCall is a Call whose memory goes through the pipes.
type remoteCall struct {
	memory
	session *remote
	number  uint32
}

// Run is Call's.
func (c *remoteCall) Run() error {
	return c.session.helper.ask(frame{kind: callFrame, session: c.session.number, call: c.number}, c.out, nil, c.in...)
}

// process is the helper's process, and who waits for an answer of it.
type process struct {
	path     string
	command  *exec.Cmd
	out      *bufio.Reader
	messages *tail
	writing  sync.Mutex
	in       io.WriteCloser

	mu      sync.Mutex
	last    uint32
	waiting map[waiter]*answer
	fault   error // why there are no more answers
}

// waiter is what an answer is to: a call, or, with 0, the opening of a session.
type waiter struct{ session, call uint32 }

type answer struct {
	into [][]byte
	done chan error
}

func start(path string) (*process, error) {
	p := &process{path: path, command: exec.Command(path), messages: &tail{}, waiting: map[waiter]*answer{}}
	p.command.Stderr = p.messages
	p.command.WaitDelay = 5 * time.Second // for what it may have started
	out, err := p.command.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if p.in, err = p.command.StdinPipe(); err != nil {
		return nil, err
	}
	p.out = bufio.NewReaderSize(out, 1<<16)
	return p, p.command.Start()
}

// stop lets the helper end, which it does when its input ends.
func (p *process) stop() { _ = p.in.Close() }

// next is a number that no session or call has had.
func (p *process) next() uint32 {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.last++
	return p.last
}

// tell sends a message that has no answer.
func (p *process) tell(f frame) error {
	p.writing.Lock()
	defer p.writing.Unlock()
	return send(p.in, f)
}

// ask sends a message, text as its own and files behind it, and waits for the answer, whose
// numbers come into into.
func (p *process) ask(f frame, into [][]byte, text []byte, files ...[]byte) error {
	a, who := &answer{into, make(chan error, 1)}, waiter{f.session, f.call}
	p.mu.Lock()
	if p.fault != nil {
		p.mu.Unlock()
		return p.fault
	}
	p.waiting[who] = a
	p.mu.Unlock()

	p.writing.Lock()
	var err error
	if text == nil {
		err = send(p.in, f, files...)
	} else if err = send(p.in, f, text); err == nil {
		for _, b := range files {
			if _, err = p.in.Write(b); err != nil {
				break
			}
		}
	}
	p.writing.Unlock()
	_ = err // a pipe that breaks is the helper's end, of which the reader knows why
	return <-a.done
}

// read gives answers to whoever waits for them, until the helper ends.
func (p *process) read() {
	var err error
	for err == nil {
		err = p.take()
	}
	err = p.ended(err)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.fault = err
	for _, a := range p.waiting {
		a.done <- err
	}
	clear(p.waiting)
}

// take reads one answer.
func (p *process) take() error {
	f, err := readFrame(p.out)
	if err != nil {
		return err
	}
	who := waiter{f.session, f.call}
	p.mu.Lock()
	a := p.waiting[who]
	p.mu.Unlock()
	if a == nil {
		return fmt.Errorf("it answers what nobody asked (a message of kind %q)", f.kind)
	}
	var result error
	switch f.kind {
	case doneFrame, openedFrame:
		if (f.kind == openedFrame) != (f.call == 0) {
			return fmt.Errorf("it answers a message by one of kind %q", f.kind)
		}
		err = receive(p.out, f, a.into)
	case errorFrame:
		var text []byte
		if text, err = receiveText(p.out, f, maxText); err == nil {
			result = errors.New(string(text))
		}
	default:
		err = fmt.Errorf("it sends a message of kind %q, which this version does not know", f.kind)
	}
	if err != nil {
		return err
	}
	p.mu.Lock()
	delete(p.waiting, who)
	p.mu.Unlock()
	a.done <- result
	return nil
}

// ended waits for the end of a helper that cannot be talked with any more, and says what it was.
func (p *process) ended(err error) error {
	p.stop()
	if !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		_ = p.command.Process.Kill() // it talks otherwise than it should
	}
	how := "it ended by itself"
	if state := p.command.Wait(); state != nil {
		how = state.Error()
	}
	if words := p.messages.String(); words != "" {
		how += "; its last words: " + words
	}
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return fmt.Errorf("the helper %s ended while it was needed (%s): where memory ran out, take smaller batches; onnx.GoEngine needs no helper", Program, how)
	}
	return fmt.Errorf("the helper %s was ended: %w (%s)", Program, err, how)
}

// tail keeps the last kilobytes of what is written to it.
type tail struct {
	mu   sync.Mutex
	kept []byte
}

func (t *tail) Write(b []byte) (int, error) {
	const most = 4096
	t.mu.Lock()
	defer t.mu.Unlock()
	t.kept = append(t.kept, b[max(0, len(b)-most):]...)
	t.kept = slices.Clone(t.kept[max(0, len(t.kept)-most):])
	return len(b), nil
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return strings.TrimSpace(string(t.kept))
}
