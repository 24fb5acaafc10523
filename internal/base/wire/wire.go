// Package wire has the small pieces of which files of sums are made: numbers, texts and lists
// as bytes, and read back. Equal values have equal bytes, and what was read without an
// error is, written again, the same bytes.
package wire

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"
)

// AppendInt appends v to b, in 8 bytes.
func AppendInt[T ~int | ~int32 | ~int64 | ~uint64](b []byte, v T) []byte {
	return binary.LittleEndian.AppendUint64(b, uint64(v))
}

// AppendFloat appends v to b, to the bit.
func AppendFloat(b []byte, v float64) []byte {
	return binary.LittleEndian.AppendUint64(b, math.Float64bits(v))
}

// AppendBool appends v to b.
func AppendBool(b []byte, v bool) []byte {
	if v {
		return append(b, 1)
	}
	return append(b, 0)
}

// AppendText appends s to b, its length first.
func AppendText[T string | []byte](b []byte, s T) []byte {
	return append(AppendInt(b, len(s)), s...)
}

// AppendTexts appends the texts to b, their count first.
func AppendTexts(b []byte, list []string) []byte {
	b = AppendInt(b, len(list))
	for _, s := range list {
		b = AppendText(b, s)
	}
	return b
}

// AppendFloats appends the numbers to b, their count first.
func AppendFloats(b []byte, v []float64) []byte {
	return AppendNumbers(AppendInt(slices.Grow(b, 8+8*len(v)), len(v)), v)
}

// AppendNumbers appends the numbers to b without their count, which the reader has to know.
func AppendNumbers(b []byte, v []float64) []byte {
	for _, x := range v {
		b = AppendFloat(b, x)
	}
	return b
}

// Reader reads what was appended, in the same order. Once something is wrong it gives
// zeros; see Err and Done. It never makes a list that the bytes left could not hold.
type Reader struct {
	raw []byte
	err error
}

// NewReader reads raw, which it does not change; Bytes share its memory.
func NewReader(raw []byte) *Reader { return &Reader{raw: raw} }

// Err is what was wrong first; nil if nothing was.
func (r *Reader) Err() error { return r.err }

// Done is Err, or an error if bytes are left over.
func (r *Reader) Done() error {
	if r.err == nil && len(r.raw) > 0 {
		r.Fail("%d bytes too many", len(r.raw))
	}
	return r.err
}

// Fail says what is wrong with the values read, unless something was wrong before.
func (r *Reader) Fail(format string, args ...any) {
	if r.err == nil {
		r.err = fmt.Errorf(format, args...)
	}
}

// take is the next n bytes, nil if there are not so many.
func (r *Reader) take(n int) []byte {
	if r.err != nil {
		return nil
	}
	if n < 0 || n > len(r.raw) {
		r.err = errors.New("the bytes end too early")
		return nil
	}
	b := r.raw[:n:n]
	r.raw = r.raw[n:]
	return b
}

// Int reads what AppendInt wrote.
func (r *Reader) Int() int64 {
	if b := r.take(8); b != nil {
		return int64(binary.LittleEndian.Uint64(b))
	}
	return 0
}

// Count reads an int that says how many items follow, each of at least so many bytes (1 or
// more), and checks that the bytes left could hold them.
func (r *Reader) Count(bytes int) int {
	n := r.Int()
	if n < 0 || n > int64(len(r.raw)/bytes) {
		r.Fail("there are %d items in %d bytes", n, len(r.raw))
		return 0
	}
	return int(n)
}

// NonNegative reads an int of 0 or more.
func (r *Reader) NonNegative() int { return r.AtMost(math.MaxInt) }

// AtMost reads an int from 0 to most.
func (r *Reader) AtMost(most int) int {
	n := r.Int()
	if n < 0 || n > int64(most) {
		r.Fail("%d is not between 0 and %d", n, most)
		return 0
	}
	return int(n)
}

// Float reads what AppendFloat wrote.
func (r *Reader) Float() float64 { return math.Float64frombits(uint64(r.Int())) }

// Bool reads what AppendBool wrote.
func (r *Reader) Bool() bool {
	b := r.take(1)
	if b != nil && b[0] > 1 {
		r.Fail("a yes or no is %d", b[0])
	}
	return b != nil && b[0] == 1
}

// Text reads what AppendText wrote.
func (r *Reader) Text() string { return string(r.Bytes()) }

// Bytes are the same, in the memory that is read.
func (r *Reader) Bytes() []byte { return r.take(r.Count(1)) }

// Raw are the next n bytes, which were appended as they are, in the memory that is read; nil
// if there are not so many.
func (r *Reader) Raw(n int) []byte { return r.take(n) }

// Texts reads what AppendTexts wrote; nil if there are none.
func (r *Reader) Texts() []string {
	n := r.Count(8)
	if n == 0 {
		return nil
	}
	list := make([]string, n)
	for i := range list {
		list[i] = r.Text()
	}
	return list
}

// IncreasingTexts are Texts of which each is greater than the one before.
func (r *Reader) IncreasingTexts() []string {
	list := r.Texts()
	for i := 1; i < len(list); i++ {
		if list[i-1] >= list[i] {
			r.Fail("the texts %.80q and %.80q are not in order", list[i-1], list[i])
			return nil
		}
	}
	return list
}

// Floats reads what AppendFloats wrote; nil if there are none.
func (r *Reader) Floats() []float64 {
	n := r.Count(8)
	if n == 0 {
		return nil
	}
	v := make([]float64, n)
	r.Numbers(v)
	return v
}

// Increasing are Floats of which each is greater than the one before; none is NaN or -0.
func (r *Reader) Increasing() []float64 {
	v := r.Floats()
	for i, x := range v {
		if math.IsNaN(x) || x == 0 && math.Signbit(x) || i > 0 && v[i-1] >= x {
			r.Fail("the numbers are not in order at %v", x)
			return nil
		}
	}
	return v
}

// Numbers fills dst with what AppendNumbers wrote. Whoever makes dst has checked that
// the bytes could hold it (Count, Left).
func (r *Reader) Numbers(dst []float64) {
	b := r.take(8 * len(dst))
	if b == nil {
		return
	}
	for i := range dst {
		dst[i] = math.Float64frombits(binary.LittleEndian.Uint64(b[8*i:]))
	}
}

// Left is how many bytes are left, 0 after an error.
func (r *Reader) Left() int {
	if r.err != nil {
		return 0
	}
	return len(r.raw)
}
