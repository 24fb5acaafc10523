package catboost

import (
	"cmp"
	"encoding/binary"
	"errors"
	"math"
)

var errDamaged = errors.New("the file is damaged or ends too early; copy it, or save the model, again")

// table is a table of FlatBuffers (https://flatbuffers.dev/internals/): each offset is checked against the bytes that
// there are, and what a table lacks has its default. Offsets point forwards, so tables cannot form cycles.
type table struct {
	buf    []byte
	at     int
	fields []byte // of the vtable: two bytes a field, 0 where the table lacks it
	*reading
}

// reading is what the tables of a file share. The first fault is kept, after which everything is empty. Several offsets may
// point to one vector, so what is read is bounded as well: left bytes of vectors.
type reading struct {
	fault error
	left  int
}

// reads is how many times a byte of a file may be read: CatBoost writes equal texts and combinations once.
const reads = 16

// rootTable is the table that a buffer begins with.
func rootTable(buf []byte, r *reading) table {
	t := table{buf: buf, reading: r}
	return t.tableAt(0)
}

// bytes are n of them from position at; nil, and a fault, where they are not all there.
func (t table) bytes(at, n int) []byte {
	if t.fault != nil {
		return nil
	}
	if at < 0 || n < 0 || at > len(t.buf) || n > len(t.buf)-at {
		t.fault = errDamaged
		return nil
	}
	return t.buf[at : at+n]
}

func (t table) uint32(at int) int {
	if b := t.bytes(at, 4); b != nil {
		return int(binary.LittleEndian.Uint32(b))
	}
	return 0
}

// tableAt is the table to which the offset at that position points.
func (t table) tableAt(position int) table {
	at := position + t.uint32(position)
	own := table{buf: t.buf, at: at, reading: t.reading}
	b := t.bytes(at, 4)
	if b == nil {
		return own
	}
	vtable := at - int(int32(binary.LittleEndian.Uint32(b)))
	size := t.bytes(vtable, 2)
	if size == nil {
		return own
	}
	n := int(binary.LittleEndian.Uint16(size))
	if n < 4 {
		t.fault = errDamaged
		return own
	}
	if b := t.bytes(vtable, n); b != nil {
		own.fields = b[4 : 4+(n-4)&^1]
	}
	return own
}

// field is where field i is, 0 if the table lacks it.
func (t table) field(i int) int {
	if 2*i >= len(t.fields) {
		return 0
	}
	if o := int(binary.LittleEndian.Uint16(t.fields[2*i:])); o != 0 {
		return t.at + o
	}
	return 0
}

// scalar are the n bytes of field i, nil if the table lacks it.
func (t table) scalar(i, n int) []byte {
	if at := t.field(i); at != 0 {
		return t.bytes(at, n)
	}
	return nil
}

func (t table) int32(i int, or int32) int32 {
	if b := t.scalar(i, 4); b != nil {
		return int32(binary.LittleEndian.Uint32(b))
	}
	return or
}

func (t table) uint8(i int, or uint8) uint8 {
	if b := t.scalar(i, 1); b != nil {
		return b[0]
	}
	return or
}

func (t table) float32(i int, or float32) float32 {
	if b := t.scalar(i, 4); b != nil {
		return math.Float32frombits(binary.LittleEndian.Uint32(b))
	}
	return or
}

func (t table) float64(i int, or float64) float64 {
	if b := t.scalar(i, 8); b != nil {
		return math.Float64frombits(binary.LittleEndian.Uint64(b))
	}
	return or
}

// vector are the bytes of the elements of field i, size each.
func (t table) vector(i, size int) []byte {
	b, _ := t.elements(i, size)
	return b
}

// elements are those bytes, and where they are.
func (t table) elements(i, size int) ([]byte, int) {
	if at := t.field(i); at != 0 {
		return t.elementsAt(at, size)
	}
	return nil, 0
}

// elementsAt are those of the vector to which the offset at that position points.
func (t table) elementsAt(position, size int) ([]byte, int) {
	at := position + t.uint32(position)
	n := t.uint32(at)
	if n > len(t.buf)/size || n*size > t.left {
		t.fault = cmp.Or(t.fault, errDamaged)
		return nil, 0
	}
	t.left -= n * size
	return t.bytes(at+4, n*size), at + 4
}

func (t table) text(i int) string { return string(t.vector(i, 1)) }

// texts are those that field i lists.
func (t table) texts(i int) (all []string) {
	b, at := t.elements(i, 4)
	for k := 0; k < len(b) && t.fault == nil; k += 4 {
		text, _ := t.elementsAt(at+k, 1)
		all = append(all, string(text))
	}
	return all
}

// table is the table of field i; the empty one if there is none.
func (t table) table(i int) table {
	if at := t.field(i); at != 0 {
		return t.tableAt(at)
	}
	return table{buf: t.buf, reading: t.reading}
}

// count is how many tables, or texts, field i lists.
func (t table) count(i int) int { return len(t.vector(i, 4)) / 4 }

// each calls yield with each table that field i lists.
func (t table) each(i int, yield func(table)) {
	b, at := t.elements(i, 4)
	for k := 0; k < len(b) && t.fault == nil; k += 4 {
		yield(t.tableAt(at + k))
	}
}

func (t table) int32s(i int) []int32 { return int32s(t.vector(i, 4)) }

func int32s(b []byte) []int32 {
	return numbersOf(b, 4, func(b []byte) int32 { return int32(binary.LittleEndian.Uint32(b)) })
}

func (t table) float32s(i int) []float32 {
	return numbersOf(t.vector(i, 4), 4, func(b []byte) float32 { return math.Float32frombits(binary.LittleEndian.Uint32(b)) })
}

func (t table) float64s(i int) []float64 {
	return numbersOf(t.vector(i, 8), 8, func(b []byte) float64 { return math.Float64frombits(binary.LittleEndian.Uint64(b)) })
}

// numbersOf are the numbers of size bytes that b holds.
func numbersOf[T any](b []byte, size int, number func([]byte) T) []T {
	out := make([]T, len(b)/size)
	for k := range out {
		out[k] = number(b[size*k:])
	}
	return out
}
