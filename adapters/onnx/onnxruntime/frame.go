package onnxruntime

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
)

// Protocol is the version of what goes through the pipes.
const protocol = 1

// The kinds of frames. Session and call of a frame are numbers that the program chooses.
const (
	// from the program to the helper
	openFrame  = 'O' // a session: door, as JSON, and behind it the files
	callFrame  = 'R' // the inputs of a call, one after the other
	closeFrame = 'C' // a session
	// from the helper to the program
	helloFrame  = 'H' // once, before all others: hello, as JSON
	openedFrame = 'K' // the session is open
	doneFrame   = 'D' // the outputs of a call
	errorFrame  = 'E' // why the session could not be opened, or the call not be computed
)

// Bounds of what a frame may ask for.
const (
	maxText     = 1 << 16 // bytes of an error, or a hello
	maxDoor     = 1 << 24 // bytes of a door
	maxFiles    = 1 << 36 // bytes of files together
	maxSessions = 1 << 12
	maxCalls    = 1 << 12 // of a session
)

// frame is the head of each message: 17 bytes.
type frame struct {
	kind          byte
	session, call uint32
	size          uint64 // of what follows
}

func (f frame) bytes() []byte {
	b := make([]byte, 0, 17)
	b = append(b, f.kind)
	b = native.AppendUint32(b, f.session)
	b = native.AppendUint32(b, f.call)
	return native.AppendUint64(b, f.size)
}

// readFrame reads a head. io.EOF: there is none any more.
func readFrame(r io.Reader) (frame, error) {
	var b [17]byte
	if _, err := io.ReadFull(r, b[:]); err != nil {
		return frame{}, err
	}
	return frame{b[0], native.Uint32(b[1:]), native.Uint32(b[5:]), native.Uint64(b[9:])}, nil
}

// hello is what a helper says of itself.
type hello struct {
	Protocol    int    `json:"protocol"`
	Version     string `json:"version"` // of pho
	ONNXRuntime string `json:"onnxruntime"`
	Library     string `json:"library,omitempty"`
	Fault       string `json:"fault,omitempty"` // why there is no ONNX Runtime
}

// door says what a session computes: a Network without its files, of which it has the sizes.
type door struct {
	File     int64          `json:"file"`
	External []externalFile `json:"external,omitempty"`
	Inputs   []Tensor       `json:"inputs"`
	Outputs  []Tensor       `json:"outputs"`
}

type externalFile struct {
	Location string `json:"location"`
	Size     int64  `json:"size"`
}

// send writes a head and what follows it.
func send(w io.Writer, f frame, parts ...[]byte) error {
	f.size = 0
	for _, p := range parts {
		f.size += uint64(len(p))
	}
	if _, err := w.Write(f.bytes()); err != nil {
		return err
	}
	for _, p := range parts {
		if _, err := w.Write(p); err != nil {
			return err
		}
	}
	return nil
}

// receive reads what follows a head into parts, which it must fill.
func receive(r io.Reader, f frame, parts [][]byte) error {
	n := uint64(0)
	for _, p := range parts {
		n += uint64(len(p))
	}
	if f.size != n {
		return fmt.Errorf("a message of kind %q has %d bytes, not %d", f.kind, f.size, n)
	}
	for _, p := range parts {
		if _, err := io.ReadFull(r, p); err != nil {
			return cut(err)
		}
	}
	return nil
}

// receiveJSON reads what follows a head, at most so many bytes.
func receiveJSON(r io.Reader, f frame, most uint64, into any) error {
	b, err := receiveText(r, f, most)
	if err != nil {
		return err
	}
	return json.Unmarshal(b, into)
}

func receiveText(r io.Reader, f frame, most uint64) ([]byte, error) {
	if f.size > most {
		return nil, fmt.Errorf("a message of kind %q has %d bytes, more than %d", f.kind, f.size, most)
	}
	return receiveFile(r, int64(f.size))
}

// receiveFile reads so many bytes. Memory grows as they come, whatever size was announced.
func receiveFile(r io.Reader, size int64) ([]byte, error) {
	const step = 1 << 24
	var b []byte
	for int64(len(b)) < size {
		n := int(min(size-int64(len(b)), max(step, int64(len(b)))))
		b = slices.Grow(b, n)
		if _, err := io.ReadFull(r, b[len(b):len(b)+n]); err != nil {
			return nil, cut(err)
		}
		b = b[:len(b)+n]
	}
	return b, nil
}

// cut says that a message ended before its time.
func cut(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

// receiveDoor reads a door and the files behind it.
func receiveDoor(r io.Reader, f frame) (Network, error) {
	var d door
	// The head's size is that of the door alone, since the files' sizes are in it.
	if err := receiveJSON(r, f, maxDoor, &d); err != nil {
		return Network{}, err
	}
	total := int64(0)
	for _, size := range append([]int64{d.File}, sizes(d.External)...) {
		if size < 0 || size > maxFiles-total {
			return Network{}, fmt.Errorf("a file of %d bytes beside %d: more than %d, or fewer than 0", size, total, int64(maxFiles))
		}
		total += size
	}
	n := Network{Inputs: d.Inputs, Outputs: d.Outputs, External: map[string][]byte{}}
	var err error
	if n.File, err = receiveFile(r, d.File); err != nil {
		return Network{}, err
	}
	for _, e := range d.External {
		if n.External[e.Location], err = receiveFile(r, e.Size); err != nil {
			return Network{}, err
		}
	}
	return n, nil
}

func sizes(files []externalFile) (all []int64) {
	for _, f := range files {
		all = append(all, f.Size)
	}
	return all
}
