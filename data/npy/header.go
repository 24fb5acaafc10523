package npy

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"math/bits"
	"strconv"
	"strings"
)

// magic begins every .npy file.
const magic = "\x93NUMPY"

// maxHeader bounds the header of an array; shapes and types are short.
const maxHeader = 64 << 10

// array is what the header of an array says.
type array struct {
	kind    byte // f, i, u or b
	size    int  // bytes of an item
	big     bool // the most significant byte comes first
	fortran bool // the first axis changes fastest
	shape   []int64
	start   int64 // where the items are
	rows    int64 // shape[0]
	width   int64 // items of a row, one at least
	turned  bool  // the last axis of a row is read as its first
}

// readHeader reads the header of an array of total bytes, header included, as
// https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html has it.
func readHeader(r io.Reader, total int64) (*array, error) {
	var head [12]byte
	if _, err := io.ReadFull(r, head[:10]); err != nil {
		return nil, err
	}
	if string(head[:6]) != magic {
		return nil, fmt.Errorf("it begins with %q, not with the mark of NumPy arrays", head[:6])
	}
	n, start := int64(binary.LittleEndian.Uint16(head[8:])), int64(10)
	switch major := head[6]; major {
	case 1:
	case 2, 3:
		if _, err := io.ReadFull(r, head[10:]); err != nil {
			return nil, err
		}
		n, start = int64(binary.LittleEndian.Uint32(head[8:])), 12
	default:
		return nil, fmt.Errorf("it is in version %d of the format; 1 to 3 are known", major)
	}
	if n > maxHeader || n > total-start {
		return nil, fmt.Errorf("its header should take %d bytes: it is cut off or damaged; fetch it, or write it, again", n)
	}
	text := make([]byte, n)
	if _, err := io.ReadFull(r, text); err != nil {
		return nil, err
	}
	a, err := parseHeader(string(bytes.TrimRight(text, " \n\x00")))
	if err != nil {
		return nil, err
	}
	a.start = start + n
	return a, a.check(total - a.start)
}

// parseHeader reads a dictionary like
//
//	{'descr': '<f8', 'fortran_order': False, 'shape': (3, 4), }
func parseHeader(text string) (*array, error) {
	p := &parser{text}
	a := &array{}
	seen := map[string]bool{}
	if !p.take("{") {
		return nil, p.fault()
	}
	for !p.take("}") {
		key, ok := p.quoted()
		if !ok || !p.take(":") || seen[key] {
			return nil, p.fault()
		}
		seen[key] = true
		switch key {
		case "descr":
			descr, ok := p.quoted()
			if !ok {
				return nil, errors.New("its items are records of several fields: save each field as an array of its own")
			}
			if err := a.setType(descr); err != nil {
				return nil, err
			}
		case "fortran_order":
			switch {
			case p.take("True"):
				a.fortran = true
			case !p.take("False"):
				return nil, p.fault()
			}
		case "shape":
			if !p.shape(a) {
				return nil, p.fault()
			}
		default:
			return nil, p.fault()
		}
		p.take(",")
	}
	if len(seen) != 3 || p.rest() != "" {
		return nil, p.fault()
	}
	return a, nil
}

// parser reads a Python literal from the front of text.
type parser struct{ text string }

func (p *parser) rest() string {
	p.text = strings.TrimLeft(p.text, " \t\n")
	return p.text
}

func (p *parser) fault() error {
	rest := p.rest()
	return fmt.Errorf("its header is malformed at %q", rest[:min(len(rest), 40)])
}

func (p *parser) take(token string) bool {
	rest, ok := strings.CutPrefix(p.rest(), token)
	p.text = rest
	return ok
}

func (p *parser) quoted() (string, bool) {
	rest := p.rest()
	if rest == "" || rest[0] != '\'' && rest[0] != '"' {
		return "", false
	}
	v, rest, ok := strings.Cut(rest[1:], rest[:1])
	p.text = rest
	return v, ok
}

func (p *parser) shape(a *array) bool {
	if !p.take("(") {
		return false
	}
	for !p.take(")") {
		rest := p.rest()
		n := len(rest) - len(strings.TrimLeft(rest, "0123456789"))
		v, err := strconv.ParseInt(rest[:n], 10, 64)
		if err != nil {
			return false
		}
		p.text = strings.TrimPrefix(rest[n:], "L") // Python 2
		a.shape = append(a.shape, v)
		if !p.take(",") && !strings.HasPrefix(p.rest(), ")") {
			return false
		}
	}
	return true
}

// setType reads a type like "<f8".
func (a *array) setType(descr string) error {
	known := map[string]bool{"f2": true, "f4": true, "f8": true, "i1": true, "i2": true, "i4": true, "i8": true, "u1": true, "u2": true, "u4": true, "u8": true, "b1": true}
	kind := strings.TrimLeft(descr, "<>|=")
	if !known[kind] || len(descr)-len(kind) > 1 {
		return fmt.Errorf("its items are of type %q: arrays of floating point numbers up to 8 bytes, integers and truth values can be read", descr[:min(len(descr), 40)])
	}
	a.kind, a.size = kind[0], int(kind[1]-'0')
	a.big = descr[0] == '>'
	return nil
}

// check holds the shape against the bytes that follow the header.
func (a *array) check(have int64) error {
	if len(a.shape) == 0 {
		return errors.New("it is a single number: its first axis should be the rows")
	}
	a.rows, a.width = a.shape[0], 1
	want := uint64(a.size)
	for i, n := range a.shape {
		high, low := bits.Mul64(want, uint64(n))
		if high != 0 || low > math.MaxInt64 {
			return fmt.Errorf("its shape %v is too large", a.shape)
		}
		want = low
		if i > 0 && n == 0 {
			return fmt.Errorf("its rows are empty: the shape is %v", a.shape)
		}
		if i > 0 {
			if high, low = bits.Mul64(uint64(a.width), uint64(n)); high != 0 || low > math.MaxInt64 {
				return fmt.Errorf("its shape %v is too large", a.shape)
			}
			a.width = int64(low)
		}
	}
	if want > uint64(have) {
		return fmt.Errorf("its shape %v needs %d bytes, it has %d: it is cut off; fetch it, or write it, again", a.shape, want, have)
	}
	if want < uint64(have) {
		return fmt.Errorf("its shape %v needs %d bytes, it has %d: save one array to a file", a.shape, want, have)
	}
	if a.fortran && len(a.shape) < 2 {
		a.fortran = false // the same
	}
	if a.fortran && len(a.shape) > 2 {
		return errors.New("it is in Fortran order and has more than two axes: save numpy.ascontiguousarray of it")
	}
	return nil
}
