package parquet

import "encoding/binary"

// walker walks over a structure in Thrift's compact protocol (its specification:
// thrift/doc/specs/thrift-compact-protocol.md). bad: it is malformed.
type walker struct {
	b   []byte
	bad bool
}

// Types of the compact protocol.
const (
	typeTrue = iota + 1
	typeFalse
	typeByte
	typeI16
	typeI32
	typeI64
	typeDouble
	typeBinary
	typeList
	typeSet
	typeMap
	typeStruct
	typeUUID
)

// fields walks over a structure; special reports whether it has read a field.
func (w *walker) fields(depth int, special func(id int64, kind byte) bool) {
	var id int64
	for !w.bad {
		head := w.byte()
		kind := head & 15
		if kind == 0 {
			return
		}
		if delta := int64(head >> 4); delta > 0 {
			id += delta
		} else {
			v := w.varint()
			id = int64(v>>1) ^ -int64(v&1)
		}
		if special == nil || !special(id, kind) {
			w.skip(kind, depth, false)
		}
	}
}

// skip walks over a value; inside a list a truth value takes a byte.
func (w *walker) skip(kind byte, depth int, inList bool) {
	if depth > maxDepth {
		w.bad = true
		return
	}
	switch kind {
	case typeTrue, typeFalse:
		if inList {
			w.byte()
		}
	case typeByte:
		w.byte()
	case typeI16, typeI32, typeI64:
		w.varint()
	case typeDouble:
		w.next(8)
	case typeUUID:
		w.next(16)
	case typeBinary:
		w.next(w.varint())
	case typeList, typeSet:
		n, element := w.list()
		for ; n > 0 && !w.bad; n-- {
			w.skip(element, depth+1, true)
		}
	case typeMap:
		n := w.varint()
		if n == 0 {
			return
		}
		if n > uint64(len(w.b)) {
			w.bad = true
			return
		}
		kinds := w.byte()
		for ; n > 0 && !w.bad; n-- {
			w.skip(kinds>>4, depth+1, true)
			w.skip(kinds&15, depth+1, true)
		}
	case typeStruct:
		w.fields(depth+1, nil)
	default:
		w.bad = true
	}
}

// list reads the head of a list, whose elements take a byte at least.
func (w *walker) list() (n uint64, element byte) {
	head := w.byte()
	if n = uint64(head >> 4); n == 15 {
		n = w.varint()
	}
	if n > uint64(len(w.b)) {
		w.bad = true
	}
	return n, head & 15
}

func (w *walker) byte() byte {
	if len(w.b) == 0 {
		w.bad = true
		return 0
	}
	v := w.b[0]
	w.b = w.b[1:]
	return v
}

func (w *walker) varint() uint64 {
	v, n := binary.Uvarint(w.b)
	if n <= 0 {
		w.bad = true
		return 0
	}
	w.b = w.b[n:]
	return v
}

func (w *walker) next(n uint64) []byte {
	if n > uint64(len(w.b)) {
		w.bad = true
		return nil
	}
	v := w.b[:n]
	w.b = w.b[n:]
	return v
}

// integer reads a value that should be a whole number of the size it announces.
func (w *walker) integer(kind byte) int64 {
	if kind == typeByte {
		return int64(int8(w.byte()))
	}
	u := w.varint()
	v := int64(u>>1) ^ -int64(u&1)
	switch {
	case kind == typeI64, kind == typeI32 && int64(int32(v)) == v, kind == typeI16 && int64(int16(v)) == v:
		return v
	}
	w.bad = true
	return 0
}

// text reads a value that should be text. It is a copy.
func (w *walker) text(kind byte) string {
	if kind != typeBinary {
		w.bad = true
		return ""
	}
	return string(w.next(w.varint()))
}

// structs calls f for the elements of a list that should hold structures.
func (w *walker) structs(kind byte, f func()) {
	if kind != typeList {
		w.bad = true
		return
	}
	n, element := w.list()
	if n > 0 && element != typeStruct {
		w.bad = true
	}
	for ; n > 0 && !w.bad; n-- {
		f()
	}
}

// structure walks over a value that should be a structure.
func (w *walker) structure(kind byte, depth int, special func(id int64, kind byte) bool) {
	if kind != typeStruct {
		w.bad = true
		return
	}
	w.fields(depth, special)
}
