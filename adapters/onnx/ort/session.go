package ort

import (
	"errors"
	"fmt"
	"maps"
	"runtime"
	"slices"
	"strings"
	"sync"
	"unsafe"

	"github.com/pho-go/pho/adapters/onnx/onnxruntime"
)

// runtimeOf opens sessions by the library.
type runtimeOf struct {
	*library
	threads int
}

// Version is ONNX Runtime's.
func (r runtimeOf) Version() string { return r.version }

// session is an OrtSession with the names of its door.
type session struct {
	*library
	of      onnxruntime.Network // without its files
	names   [2][]*byte          // of inputs and outputs
	mu      sync.RWMutex        // held for reading by calls, for writing by Close
	pointer uintptr
}

// Open is onnxruntime.Runtime's.
func (r runtimeOf) Open(n onnxruntime.Network) (onnxruntime.Session, error) {
	s := &session{library: r.library, of: onnxruntime.Network{Inputs: n.Inputs, Outputs: n.Outputs}}
	for side, tensors := range [][]onnxruntime.Tensor{n.Inputs, n.Outputs} {
		var names []string
		for _, t := range tensors {
			if strings.ContainsRune(t.Name, 0) {
				return nil, fmt.Errorf("ort: the name %q has a character that ends texts in C", t.Name)
			}
			if elementTypes[t.Type] == 0 {
				return nil, fmt.Errorf("ort: tensor %q has elements of type %q, which this engine does not pass on", t.Name, t.Type)
			}
			names = append(names, t.Name)
		}
		s.names[side] = cStrings(names)
	}
	if len(n.File) == 0 {
		return nil, errors.New("ort: the network's file is empty")
	}
	var options uintptr
	if err := r.call(createSessionOptions, uintptr(unsafe.Pointer(&options))); err != nil {
		return nil, err
	}
	defer r.release(releaseSessionOptions, options)
	err := errors.Join(
		r.call(setIntraOpNumThreads, options, uintptr(r.threads)),
		r.call(setInterOpNumThreads, options, 1),
		r.addExternal(options, n.External))
	if err == nil {
		err = r.call(createSessionFromArray, r.environment, uintptr(unsafe.Pointer(&n.File[0])), uintptr(len(n.File)), options, uintptr(unsafe.Pointer(&s.pointer)))
	}
	runtime.KeepAlive(n)
	if err != nil {
		return nil, err
	}
	return s, nil
}

// addExternal gives the files beside the network's, which are copied when a session is made.
func (r runtimeOf) addExternal(options uintptr, files map[string][]byte) error {
	if len(files) == 0 {
		return nil
	}
	locations := slices.Sorted(maps.Keys(files))
	names, pin := pathStrings(locations), new(runtime.Pinner)
	defer pin.Unpin()
	contents, lengths := make([]*byte, len(locations)), make([]uintptr, len(locations))
	for i, location := range locations {
		content := files[location]
		if len(content) == 0 {
			content = []byte{0}
		}
		contents[i], lengths[i] = &content[0], uintptr(len(files[location]))
		pin.Pin(contents[i])
	}
	return r.call(addExternalInitializersFromRAM, options, uintptr(unsafe.Pointer(&names[0])), uintptr(unsafe.Pointer(&contents[0])), uintptr(unsafe.Pointer(&lengths[0])), uintptr(len(locations)))
}

// Close is onnxruntime.Session's; later calls are errors.
func (s *session) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.release(releaseSession, s.pointer)
	s.pointer = 0
	return nil
}

// call is an onnxruntime.Call: memory of Go that tensors of C lie in.
type call struct {
	session *session
	in, out [][]byte
	held    *held
}

// held is what the garbage collector does not free by itself.
type held struct {
	*library
	pin     runtime.Pinner
	in, out []uintptr // OrtValues; one element at least, so that there is an address
}

func (h *held) free() {
	for _, v := range slices.Concat(h.in, h.out) {
		h.release(releaseValue, v)
	}
	h.pin.Unpin()
}

// NewCall is onnxruntime.Session's.
func (s *session) NewCall() (onnxruntime.Call, error) {
	c := &call{session: s, held: &held{library: s.library}}
	runtime.AddCleanup(c, (*held).free, c.held)
	var err error
	if c.in, c.held.in, err = c.held.tensors(s.of.Inputs); err != nil {
		return nil, err
	}
	if c.out, c.held.out, err = c.held.tensors(s.of.Outputs); err != nil {
		return nil, err
	}
	return c, nil
}

// tensors makes OrtValues in memory that stays where it is.
func (h *held) tensors(of []onnxruntime.Tensor) ([][]byte, []uintptr, error) {
	memory, err := onnxruntime.Memory(of)
	if err != nil {
		return nil, nil, err
	}
	values := make([]uintptr, max(len(of), 1))
	for i, t := range of {
		b := memory[i]
		if len(b) == 0 {
			b = make([]byte, 1)
		}
		h.pin.Pin(&b[0])
		shape := append(slices.Clone(t.Shape), 0)
		if err := h.call(createTensorWithData, h.memory, uintptr(unsafe.Pointer(&b[0])), uintptr(len(memory[i])), uintptr(unsafe.Pointer(&shape[0])), uintptr(len(t.Shape)), elementTypes[t.Type], uintptr(unsafe.Pointer(&values[i]))); err != nil {
			return nil, values, fmt.Errorf("tensor %q: %w", t.Name, err)
		}
	}
	return memory, values, nil
}

func (c *call) In(i int) []byte  { return c.in[i] }
func (c *call) Out(i int) []byte { return c.out[i] }

// Run is onnxruntime.Call's.
func (c *call) Run() error {
	s := c.session
	s.mu.RLock()
	defer s.mu.RUnlock()
	if s.pointer == 0 {
		return errors.New("ort: the session is closed")
	}
	err := s.call(run, s.pointer, 0,
		uintptr(unsafe.Pointer(&s.names[0][0])), uintptr(unsafe.Pointer(&c.held.in[0])), uintptr(len(s.of.Inputs)),
		uintptr(unsafe.Pointer(&s.names[1][0])), uintptr(len(s.of.Outputs)), uintptr(unsafe.Pointer(&c.held.out[0])))
	runtime.KeepAlive(c)
	return err
}
