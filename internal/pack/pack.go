// Package pack writes numbers, texts and lists as bytes, and reads them back from bytes that may
// be damaged: a Reader gives zeros after the first fault and allocates no more than a small
// multiple of what it was given.
package pack

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"
)

// Uint appends a whole number in as few bytes as it takes.
func Uint[T ~int | ~int32 | ~int64 | ~uint64](b []byte, v T) []byte {
	return binary.AppendUvarint(b, uint64(v))
}

// Bool appends a byte.
func Bool(b []byte, v bool) []byte {
	if v {
		return append(b, 1)
	}
	return append(b, 0)
}

// Float appends the 8 bytes of a number.
func Float(b []byte, v float64) []byte {
	return binary.LittleEndian.AppendUint64(b, math.Float64bits(v))
}

// Floats appends how many numbers there are, and the numbers.
func Floats(b []byte, x []float64) []byte {
	b = Uint(slices.Grow(b, 8*len(x)+binary.MaxVarintLen64), len(x))
	for _, v := range x {
		b = Float(b, v)
	}
	return b
}

// String appends how many bytes a text has, and these.
func String(b []byte, s string) []byte { return append(Uint(b, len(s)), s...) }

// Bytes appends how many bytes there are, and these.
func Bytes(b, s []byte) []byte { return append(Uint(b, len(s)), s...) }

// Strings appends how many texts there are, and the texts.
func Strings(b []byte, list []string) []byte {
	b = Uint(b, len(list))
	for _, s := range list {
		b = String(b, s)
	}
	return b
}

// Reader reads what the functions above wrote.
type Reader struct {
	rest []byte
	err  error
}

// NewReader reads raw, which must not change meanwhile.
func NewReader(raw []byte) *Reader { return &Reader{rest: raw} }

// Failed reports whether there was a fault.
func (r *Reader) Failed() bool { return r.err != nil }

// Fail notes a fault; of several the first counts.
func (r *Reader) Fail(format string, args ...any) {
	if r.err == nil {
		r.err = fmt.Errorf(format, args...)
	}
	r.rest = nil
}

// Close returns the first fault: one that was noted, bytes that ended too early, or bytes left over.
func (r *Reader) Close() error {
	if r.err == nil && len(r.rest) > 0 {
		r.err = fmt.Errorf("%d bytes are left over", len(r.rest))
	}
	return r.err
}

var errShort = errors.New("the bytes end too early")

func (r *Reader) take(n int) []byte {
	if r.err != nil {
		return nil
	}
	if n < 0 || n > len(r.rest) {
		r.err, r.rest = errShort, nil
		return nil
	}
	b := r.rest[:n:n]
	r.rest = r.rest[n:]
	return b
}

// Uint reads a whole number of at most most.
func (r *Reader) Uint(most uint64) uint64 {
	if r.err != nil {
		return 0
	}
	v, n := binary.Uvarint(r.rest)
	if n <= 0 {
		r.err, r.rest = errShort, nil
		return 0
	}
	r.rest = r.rest[n:]
	if v > most {
		r.Fail("the number %d is more than %d", v, most)
		return 0
	}
	return v
}

// Int reads a whole number that an int holds.
func (r *Reader) Int() int { return int(r.Uint(math.MaxInt)) }

// Count reads how many things follow that take at least size > 0 bytes each: no more than are left.
func (r *Reader) Count(size int) int { return int(r.Uint(uint64(len(r.rest) / size))) }

// Bool reads a byte that is 0 or 1.
func (r *Reader) Bool() bool {
	b := r.take(1)
	if b != nil && b[0] > 1 {
		r.Fail("a byte that is 0 or 1 is %d", b[0])
	}
	return b != nil && b[0] == 1
}

// Float reads a number.
func (r *Reader) Float() float64 {
	b := r.take(8)
	if b == nil {
		return 0
	}
	return math.Float64frombits(binary.LittleEndian.Uint64(b))
}

// Floats reads numbers; nil of none.
func (r *Reader) Floats() []float64 {
	n := r.Count(8)
	if n == 0 {
		return nil
	}
	x := make([]float64, n)
	for i := range x {
		x[i] = r.Float()
	}
	return x
}

// Bytes reads bytes, in the memory that the Reader was given.
func (r *Reader) Bytes() []byte { return r.take(r.Count(1)) }

// String reads a text.
func (r *Reader) String() string { return string(r.Bytes()) }

// Strings reads texts; nil of none.
func (r *Reader) Strings() []string {
	n := r.Count(1)
	if n == 0 {
		return nil
	}
	list := make([]string, n) // 16 bytes for each of the n or more that are left
	for i := range list {
		list[i] = r.String()
	}
	return list
}
