package oip

import (
	"bytes"
	"encoding/binary"
	"math"
	"strconv"
	"unicode/utf8"
)

// kind is what the elements of a tensor's JSON are.
type kind uint8

const (
	nothing  kind = iota // no elements, or null alone
	numbers              // or null
	texts                // or null
	booleans             // or null
	arrays               // of plain rows
)

// data reads the elements of a tensor, flat or nested as its shape.
func (p *parser) data(t *Tensor) error {
	t.given = true
	r := p.r
	fromNumber, fromCode := len(r.numbers), len(r.codes)
	t.Levels = t.Levels[:0]
	t.rounded = 0
	l := levels{t: t, from: fromNumber}
	if err := p.elements(t, &l, 1); err != nil {
		return err
	}
	t.Numbers, t.Codes = r.numbers[fromNumber:len(r.numbers):len(r.numbers)], r.codes[fromCode:len(r.codes):len(r.codes)]
	return nil
}

func (p *parser) elements(t *Tensor, l *levels, depth int) error {
	if depth > maxDepth {
		return errorf("the JSON is more than %d deep", maxDepth)
	}
	r := p.r
	return p.array("an array, the data", func() error {
		switch p.peek() {
		case '[':
			return p.elements(t, l, depth+1)
		case '"':
			text, err := p.text()
			if err != nil {
				return err
			}
			r.codes = append(r.codes, l.code(text))
			return p.kind(t, texts)
		case 'n':
			// Which of the two it is shows later: it is in both until then.
			r.numbers, r.codes = append(r.numbers, math.NaN()), append(r.codes, -1)
			return p.word("null")
		case 't', 'f':
			yes, err := p.boolean()
			if err != nil {
				return err
			}
			v := 0.0
			if yes {
				v = 1
			}
			r.numbers = append(r.numbers, v)
			return p.kind(t, booleans)
		}
		from := p.at
		v, err := p.number()
		if err != nil {
			return err
		}
		if t.rounded == 0 && math.Abs(v) >= 1<<53 && rounds(p.b[from:p.at], v) {
			t.rounded = len(r.numbers) - l.from + 1
		}
		r.numbers = append(r.numbers, v)
		return p.kind(t, numbers)
	})
}

// rounds reports whether v is another number than the text says, if that is a whole one.
func rounds(text []byte, v float64) bool {
	return !bytes.ContainsAny(text, ".eE") && strconv.FormatFloat(v, 'f', 0, 64) != string(bytes.TrimSpace(text))
}

func (p *parser) kind(t *Tensor, k kind) error {
	if t.kind != nothing && t.kind != k {
		return p.fail("elements of one kind before it: numbers, texts or truth values; it")
	}
	t.kind = k
	return nil
}

// levels gives texts their codes.
type levels struct {
	t     *Tensor
	place map[string]int32 // nil: there are few
	from  int              // the first of the tensor's numbers
}

// few levels are looked through one by one.
const few = 8

func (l *levels) code(text []byte) int32 {
	if l.place == nil {
		for i, known := range l.t.Levels {
			if known == string(text) {
				return int32(i)
			}
		}
	} else if at, known := l.place[string(text)]; known {
		return at
	}
	at := int32(len(l.t.Levels))
	own := ""
	if int(at) < cap(l.t.Levels) { // often the text that was there in the request before
		own = l.t.Levels[:at+1][at]
	}
	own = same(own, text)
	l.t.Levels = append(l.t.Levels, own)
	if l.place == nil && len(l.t.Levels) > few {
		l.place = make(map[string]int32, 4*few)
		for i, known := range l.t.Levels {
			l.place[known] = int32(i)
		}
	} else if l.place != nil {
		l.place[own] = at
	}
	return at
}

// tensors checks the inputs and reads the binary ones from the bytes behind the JSON.
func (r *Request) tensors(raw []byte) error {
	for i := range r.Inputs {
		t := &r.Inputs[i]
		n, ok := t.Len()
		if !ok {
			return errorf("input %q: a shape of so many elements is not possible", t.Name)
		}
		var err error
		switch {
		case t.Absent > 0: // it has no values
		case t.binary >= 0 && t.given:
			return errorf("input %q has data and binary_data_size: one of them is too many", t.Name)
		case t.binary >= 0 && t.binary > len(raw):
			return errorf("input %q: binary_data_size is %d, and %d bytes are left behind the JSON", t.Name, t.binary, len(raw))
		case t.binary >= 0:
			err = r.binary(t, raw[:t.binary], n)
			raw = raw[t.binary:]
		case !t.given:
			return errorf("input %q has no data", t.Name)
		default:
			err = t.check(n)
		}
		if err != nil {
			return err
		}
	}
	if len(raw) > 0 {
		return errorf("%d bytes of the body belong to no input: binary_data_size of the inputs says which do", len(raw))
	}
	return nil
}

// check compares the elements of JSON with datatype and shape.
func (t *Tensor) check(n int) error {
	if t.Datatype == Bytes {
		if t.kind == numbers || t.kind == booleans {
			return errorf("input %q: BYTES are texts, and the data are numbers", t.Name)
		}
		t.Numbers = nil
		if len(t.Codes) != n {
			return errorf("input %q: the data have %d elements, shape %v has %d", t.Name, len(t.Codes), t.Shape, n)
		}
		return nil
	}
	if t.kind == texts {
		return errorf("input %q: %s are numbers, and the data are texts (datatype BYTES)", t.Name, t.Datatype)
	}
	t.Codes, t.Levels = nil, t.Levels[:0]
	if len(t.Numbers) != n {
		return errorf("input %q: the data have %d elements, shape %v has %d", t.Name, len(t.Numbers), t.Shape, n)
	}
	switch t.Datatype {
	case FP64:
		return nil
	case FP32:
		for i, v := range t.Numbers {
			t.Numbers[i] = float64(float32(v))
			if math.IsInf(t.Numbers[i], 0) {
				return errorf("input %q, row %d: %v is beyond FP32", t.Name, t.row(i), v)
			}
		}
		return nil
	case FP16:
		return errorf("input %q: FP16 comes as binary data; JSON has none", t.Name)
	}
	low, high := t.Datatype.limits()
	for i, v := range t.Numbers {
		if v == v && (v != math.Trunc(v) || v < low || v > high) {
			return errorf("input %q, row %d: %v is no %s", t.Name, t.row(i), v, t.Datatype)
		}
	}
	if t.rounded > 0 && t.Datatype.size() == 8 {
		return t.errRounded(t.rounded - 1)
	}
	return nil
}

// errRounded refuses an integer of 64 bits that a float64, in which all is computed, would round.
func (t *Tensor) errRounded(i int) error {
	return errorf("input %q, row %d: the %s of about %v would be rounded, as all is computed in float64, which has every whole number up to 2^53: send it as FP64 if it may be", t.Name, t.row(i), t.Datatype, t.Numbers[i])
}

// row is the row, from 1, of element i.
func (t *Tensor) row(i int) int {
	n, _ := t.Len()
	if len(t.Shape) == 0 || n == 0 {
		return 1
	}
	return i/(n/t.Shape[0]) + 1
}

// limits are the least and the largest value of an integer or of BOOL.
func (d Datatype) limits() (low, high float64) {
	bits := float64(8 * d.size())
	below := func(v float64) float64 { return min(v-1, math.Nextafter(v, 0)) } // the largest whole number below
	switch d {
	case Bool:
		return 0, 1
	case Uint8, Uint16, Uint32, Uint64:
		return 0, below(math.Exp2(bits))
	}
	return -math.Exp2(bits - 1), below(math.Exp2(bits - 1))
}

// binary reads n elements from raw.
func (r *Request) binary(t *Tensor, raw []byte, n int) error {
	if t.Datatype == Bytes {
		return r.binaryTexts(t, raw, n)
	}
	size := t.Datatype.size()
	if len(raw) != n*size {
		return errorf("input %q: binary_data_size is %d, and %d elements (shape %v) of %s have %d bytes", t.Name, len(raw), n, t.Shape, t.Datatype, n*size)
	}
	from := len(r.numbers)
	r.numbers = appendBinary(r.numbers, raw, t.Datatype)
	t.Numbers = r.numbers[from:len(r.numbers):len(r.numbers)]
	t.Codes, t.Levels = nil, t.Levels[:0]
	if t.Datatype != Int64 && t.Datatype != Uint64 {
		return nil
	}
	_, high := t.Datatype.limits() // what is rounded to more is no such integer
	for i, v := range t.Numbers {
		bits := binary.LittleEndian.Uint64(raw[8*i:])
		if v > high || t.Datatype == Int64 && int64(v) != int64(bits) || t.Datatype == Uint64 && uint64(v) != bits {
			return t.errRounded(i)
		}
	}
	return nil
}

// appendBinary reads little-endian elements.
func appendBinary(v []float64, raw []byte, d Datatype) []float64 {
	if grown := len(v) + len(raw)/d.size(); grown > cap(v) {
		v = append(make([]float64, 0, grown+grown/4), v...)
	}
	le := binary.LittleEndian
	switch d {
	case FP64:
		for ; len(raw) > 0; raw = raw[8:] {
			v = append(v, math.Float64frombits(le.Uint64(raw)))
		}
	case FP32:
		for ; len(raw) > 0; raw = raw[4:] {
			v = append(v, float64(math.Float32frombits(le.Uint32(raw))))
		}
	case FP16:
		for ; len(raw) > 0; raw = raw[2:] {
			v = append(v, half(le.Uint16(raw)))
		}
	case Int64:
		for ; len(raw) > 0; raw = raw[8:] {
			v = append(v, float64(int64(le.Uint64(raw))))
		}
	case Uint64:
		for ; len(raw) > 0; raw = raw[8:] {
			v = append(v, float64(le.Uint64(raw)))
		}
	case Int32:
		for ; len(raw) > 0; raw = raw[4:] {
			v = append(v, float64(int32(le.Uint32(raw))))
		}
	case Uint32:
		for ; len(raw) > 0; raw = raw[4:] {
			v = append(v, float64(le.Uint32(raw)))
		}
	case Int16:
		for ; len(raw) > 0; raw = raw[2:] {
			v = append(v, float64(int16(le.Uint16(raw))))
		}
	case Uint16:
		for ; len(raw) > 0; raw = raw[2:] {
			v = append(v, float64(le.Uint16(raw)))
		}
	case Int8:
		for _, b := range raw {
			v = append(v, float64(int8(b)))
		}
	case Uint8:
		for _, b := range raw {
			v = append(v, float64(b))
		}
	case Bool:
		for _, b := range raw {
			if b != 0 {
				b = 1
			}
			v = append(v, float64(b))
		}
	}
	return v
}

// half is a number of 16 bits.
func half(h uint16) float64 {
	sign, exponent, fraction := 1.0, int(h>>10&31), float64(h&1023)
	if h>>15 == 1 {
		sign = -1
	}
	switch {
	case exponent == 31 && fraction == 0:
		return math.Inf(int(sign))
	case exponent == 31:
		return math.NaN()
	case exponent == 0:
		return sign * math.Ldexp(fraction, -24)
	}
	return sign * math.Ldexp(1024+fraction, exponent-25)
}

// binaryTexts reads n texts, each behind its length as four bytes.
func (r *Request) binaryTexts(t *Tensor, raw []byte, n int) error {
	if n > len(raw)/4 {
		return errorf("input %q: %d texts (shape %v) do not fit into binary_data_size %d", t.Name, n, t.Shape, len(raw))
	}
	from := len(r.codes)
	t.Levels = t.Levels[:0]
	l := levels{t: t}
	for i := range n {
		if len(raw) < 4 {
			return errorf("input %q: the binary data end before text %d of %d", t.Name, i+1, n)
		}
		size := uint64(binary.LittleEndian.Uint32(raw))
		if raw = raw[4:]; size > uint64(len(raw)) {
			return errorf("input %q: text %d has %d bytes, and %d are left", t.Name, i+1, size, len(raw))
		}
		if !utf8.Valid(raw[:size]) {
			return errorf("input %q, row %d: the text is no UTF-8", t.Name, t.row(i))
		}
		r.codes = append(r.codes, l.code(raw[:size]))
		raw = raw[size:]
	}
	if len(raw) > 0 {
		return errorf("input %q: %d bytes of its binary data are behind the last of %d texts", t.Name, len(raw), n)
	}
	t.Numbers, t.Codes = nil, r.codes[from:len(r.codes):len(r.codes)]
	return nil
}
