package arrow

import (
	"encoding/binary"
	"errors"
)

// errFlat is the error for metadata whose offsets point outside of it.
var errFlat = errors.New("its metadata are damaged")

// flat is a table of a FlatBuffer (flatbuffers.dev/internals): b is the whole
// buffer, at the table's place. Reads outside b set *bad and give zero.
type flat struct {
	b   []byte
	at  int64
	bad *bool
}

// root is the table that a buffer begins with.
func root(b []byte) flat {
	f := flat{b: b, bad: new(bool)}
	f.at = f.u32(0)
	return f
}

func (f flat) err() error {
	if *f.bad {
		return errFlat
	}
	return nil
}

func (f flat) bytes(at, n int64) []byte {
	if at < 0 || n < 0 || at > int64(len(f.b))-n {
		*f.bad = true
		return make([]byte, 8)
	}
	return f.b[at : at+n]
}

func (f flat) u16(at int64) int64 { return int64(binary.LittleEndian.Uint16(f.bytes(at, 2))) }
func (f flat) u32(at int64) int64 { return int64(binary.LittleEndian.Uint32(f.bytes(at, 4))) }
func (f flat) i64(at int64) int64 { return int64(binary.LittleEndian.Uint64(f.bytes(at, 8))) }

// slot is the place of a table's field by its number, 0 if it is absent.
func (f flat) slot(field int64) int64 {
	if f.at == 0 || *f.bad {
		return 0
	}
	vtable := f.at - int64(int32(f.u32(f.at)))
	if 4+2*field >= f.u16(vtable) {
		return 0
	}
	if offset := f.u16(vtable + 4 + 2*field); offset != 0 {
		return f.at + offset
	}
	return 0
}

// int is a scalar field of the given number of bytes; absent: the default.
func (f flat) int(field int64, bytes int, absent int64) int64 {
	at := f.slot(field)
	if at == 0 {
		return absent
	}
	switch bytes {
	case 1:
		return int64(f.bytes(at, 1)[0])
	case 2:
		return int64(int16(f.u16(at)))
	case 4:
		return int64(int32(f.u32(at)))
	}
	return f.i64(at)
}

// table is a field that is a table; its place is 0 if it is absent.
func (f flat) table(field int64) flat {
	t := flat{b: f.b, bad: f.bad}
	if at := f.slot(field); at != 0 {
		t.at = at + f.u32(at)
	}
	return t
}

// vector is the place of a vector's first element, of the given size, and the
// number of its elements, which all lie in the buffer.
func (f flat) vector(field, size int64) (at, n int64) {
	v := f.table(field)
	if v.at == 0 {
		return 0, 0
	}
	n, at = f.u32(v.at), v.at+4
	if n > int64(len(f.b))/size || at > int64(len(f.b))-n*size {
		*f.bad = true
		return 0, 0
	}
	return at, n
}

func (f flat) text(field int64) string {
	at, n := f.vector(field, 1)
	return string(f.bytes(at, n))
}
