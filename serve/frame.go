package serve

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// Protocol is the version of the frames and their fields (docs/serve.md).
const Protocol = 1

// The largest frames that are read.
const (
	MaxHeader  = 16 << 20
	MaxPayload = 1 << 30
)

// A frame is the lengths of header and payload as little-endian uint32, the header, which is
// a JSON object, and the payload: columns of numbers, one after the other.
const prefix = 8

// frameError is a frame that cannot be used; the one behind it can.
type frameError struct{ error }

func (e frameError) Unwrap() error { return e.error }

// readFrame reads the next frame, its header into header. Memory grows with the bytes that
// come, not with what a length promises. Errors: io.EOF at the end; a frameError for a frame
// that is too large or has no object as header, which is skipped; any other for a stream
// that breaks off.
func readFrame(r io.Reader, header any, maxHeader, maxPayload int64) (payload []byte, err error) {
	var lengths [prefix]byte
	if _, err := io.ReadFull(r, lengths[:]); err != nil {
		if errors.Is(err, io.ErrUnexpectedEOF) {
			err = fmt.Errorf("the stream ends inside a frame: %w", err)
		}
		return nil, err
	}
	h, p := int64(binary.LittleEndian.Uint32(lengths[:4])), int64(binary.LittleEndian.Uint32(lengths[4:]))
	if h > maxHeader || p > maxPayload {
		if err := skip(r, h+p); err != nil {
			return nil, err
		}
		return nil, frameError{fmt.Errorf("the frame has %d bytes of header and %d of payload; at most %d and %d are read: send fewer rows at a time", h, p, maxHeader, maxPayload)}
	}
	text, err := read(r, h)
	if err != nil {
		return nil, err
	}
	if payload, err = read(r, p); err != nil {
		return nil, err
	}
	if err := json.Unmarshal(text, header); err != nil {
		return nil, frameError{fmt.Errorf("the header of the frame is not what it should be: %w", err)}
	}
	return payload, nil
}

// read reads n bytes.
func read(r io.Reader, n int64) ([]byte, error) {
	const atOnce = 1 << 20
	if n <= atOnce {
		b := make([]byte, n)
		_, err := io.ReadFull(r, b)
		return b, broken(err)
	}
	var b bytes.Buffer
	_, err := io.CopyN(&b, r, n)
	return b.Bytes(), broken(err)
}

func skip(r io.Reader, n int64) error {
	_, err := io.CopyN(io.Discard, r, n)
	return broken(err)
}

// broken is the error of a stream that ends inside a frame.
func broken(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return fmt.Errorf("the stream ends inside a frame: %w", io.ErrUnexpectedEOF)
	}
	return err
}

// writeFrame writes a frame in one piece: the header, and the columns.
func writeFrame(w io.Writer, header any, columns [][]float64) error {
	text, err := json.Marshal(header)
	if err != nil {
		return err
	}
	size := 0
	for _, c := range columns {
		size += 8 * len(c)
	}
	frame := make([]byte, prefix, prefix+len(text)+size)
	binary.LittleEndian.PutUint32(frame[:4], uint32(len(text)))
	binary.LittleEndian.PutUint32(frame[4:], uint32(size))
	frame = append(frame, text...)
	for _, c := range columns {
		frame = appendNumbers(frame, c)
	}
	_, err = w.Write(frame)
	return err
}
