package document

import (
	"encoding/binary"
	"fmt"
	"math"
)

// ubj reads UBJSON with its numbers, texts, arrays and objects; arrays and objects may have counts, and types.
type ubj struct {
	scratch
	b     []byte
	at    int
	depth int
	typed byte // of the next value, which an array or object of one type has told; 0: a byte before it tells
}

func (u *ubj) Offset() int { return u.at }

// marker is the type of the next value.
func (u *ubj) marker() byte {
	if u.typed != 0 {
		return u.typed
	}
	for u.at < len(u.b) && u.b[u.at] == 'N' { // no-op
		u.at++
	}
	if u.at < len(u.b) {
		return u.b[u.at]
	}
	return 0
}

// begin goes behind the type of the next value.
func (u *ubj) begin() byte {
	m := u.marker()
	if u.typed == 0 && m != 0 {
		u.at++
	}
	u.typed = 0
	return m
}

// size is that of a value of the type, -1 if the type does not say.
func size(marker byte) int {
	switch marker {
	case 'T', 'F', 'Z':
		return 0
	case 'i', 'U', 'C':
		return 1
	case 'I':
		return 2
	case 'l', 'd':
		return 4
	case 'L', 'D':
		return 8
	}
	return -1
}

func (u *ubj) Kind() Kind {
	switch m := u.marker(); {
	case m == '{':
		return Object
	case m == '[':
		return Array
	case m == 'S' || m == 'C':
		return Text
	case m == 'Z':
		return Null
	case size(m) >= 0:
		return Number
	}
	return Broken
}

func (u *ubj) broken() error { return fmt.Errorf("byte %d: %w", u.at, errBroken) }

// take is the next n bytes.
func (u *ubj) take(n int) ([]byte, error) {
	if n < 0 || n > len(u.b)-u.at {
		return nil, u.broken()
	}
	u.at += n
	return u.b[u.at-n : u.at], nil
}

func numberOf(marker byte, b []byte) float64 {
	switch marker {
	case 'T':
		return 1
	case 'F':
		return 0
	case 'i':
		return float64(int8(b[0]))
	case 'U':
		return float64(b[0])
	case 'I':
		return float64(int16(binary.BigEndian.Uint16(b)))
	case 'l':
		return float64(int32(binary.BigEndian.Uint32(b)))
	case 'L':
		return float64(int64(binary.BigEndian.Uint64(b)))
	case 'd':
		return float64(math.Float32frombits(binary.BigEndian.Uint32(b)))
	}
	return math.Float64frombits(binary.BigEndian.Uint64(b))
}

func (u *ubj) Number() (float64, error) {
	if u.Kind() != Number {
		return 0, wanted(u, Number)
	}
	m := u.begin()
	b, err := u.take(size(m))
	if err != nil {
		return 0, err
	}
	return numberOf(m, b), nil
}

// length is a number of bytes or values, which the document is long enough for.
func (u *ubj) length() (int, error) {
	switch u.marker() {
	case 'i', 'U', 'I', 'l', 'L':
	default:
		return 0, u.broken()
	}
	v, err := u.Number()
	if err != nil {
		return 0, err
	}
	if v < 0 || v > float64(len(u.b)-u.at) {
		return 0, u.broken()
	}
	return int(v), nil
}

func (u *ubj) Text() (string, error) {
	if u.Kind() != Text {
		return "", wanted(u, Text)
	}
	n := 1
	if u.begin() == 'S' {
		var err error
		if n, err = u.length(); err != nil {
			return "", err
		}
	}
	b, err := u.take(n)
	return string(b), err
}

// header is the type and the count of an array or object that begins; 0 and -1: it has none.
func (u *ubj) header() (typed byte, count int, err error) {
	if u.marker() == '$' {
		b, err := u.take(2)
		if err != nil {
			return 0, 0, err
		}
		if typed = b[1]; size(typed) == 0 || u.marker() != '#' { // values of no bytes could be any number
			return 0, 0, u.broken()
		}
	}
	if u.marker() != '#' {
		return 0, -1, nil
	}
	u.at++
	count, err = u.length()
	return typed, count, err
}

// list reads the items of an array or object up to shut, or as many as it says.
func (u *ubj) list(kind Kind, shut byte, item func(typed byte) error) error {
	if u.Kind() != kind {
		return wanted(u, kind)
	}
	if u.depth++; u.depth > maxDepth {
		return errDeep
	}
	u.begin()
	typed, count, err := u.header()
	if err != nil {
		return err
	}
	for i := 0; count < 0 || i < count; i++ {
		if count < 0 && u.marker() == shut {
			u.at++
			break
		}
		if err := item(typed); err != nil {
			return err
		}
	}
	u.depth--
	return nil
}

func (u *ubj) Object(member func(key string) error) error {
	return u.list(Object, '}', func(typed byte) error {
		n, err := u.length()
		if err != nil {
			return err
		}
		key, err := u.take(n)
		if err != nil {
			return err
		}
		u.typed = typed
		return member(string(key))
	})
}

func (u *ubj) Array(element func() error) error {
	return u.list(Array, ']', func(typed byte) error {
		u.typed = typed
		return element()
	})
}

func (u *ubj) single() (float32, error) {
	v, err := u.Number()
	return float32(v), err
}

func (u *ubj) Skip() error {
	switch u.Kind() {
	case Object:
		return u.Object(func(string) error { return u.Skip() })
	case Array:
		return u.Array(u.Skip)
	case Text:
		_, err := u.Text()
		return err
	case Number:
		_, err := u.Number()
		return err
	case Null:
		u.begin()
		return nil
	}
	return wanted(u, Object)
}

func (u *ubj) End() error {
	if u.at < len(u.b) {
		return fmt.Errorf("byte %d: something follows the document", u.at)
	}
	return nil
}
