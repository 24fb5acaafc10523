package parquet

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/pho-go/pho/data/internal/columnar"
)

// Bounds on what a file's footer may say.
const (
	mostFooter = 64 << 20 // bytes
	mostDepth  = 64       // of nested columns, and of the footer's own structures
)

// checkFooter reads the footer as far as it decides how much memory and stack
// the decoder takes for it: a list has no more elements than the footer has
// bytes left, columns nest within bounds and have the children they announce.
func checkFooter(r io.ReaderAt, size int64) error {
	var tail [8]byte
	if size < 12 {
		return fmt.Errorf("%d bytes are too few for a Parquet file", size)
	}
	if _, err := r.ReadAt(tail[:], size-8); err != nil {
		return err
	}
	switch string(tail[4:]) {
	case "PAR1":
	case "PARE":
		return errors.New("the file is encrypted, which is not supported: decrypt it first")
	default:
		return fmt.Errorf("the file ends with %q, not with the mark of Parquet: it is cut off or something else", tail[4:])
	}
	n := int64(binary.LittleEndian.Uint32(tail[:]))
	if n > size-12 {
		return fmt.Errorf("the footer should take %d bytes of a file of %d: it is cut off or damaged", n, size)
	}
	if n > mostFooter {
		return fmt.Errorf("the footer takes %d bytes; %d are allowed: write fewer row groups or columns", n, mostFooter)
	}
	buf := make([]byte, n)
	if _, err := r.ReadAt(buf, size-8-n); err != nil {
		return err
	}
	w := walker{b: buf}
	if err := columnar.Guard("", "", w.file); err != nil || w.bad {
		return errors.New("the footer is damaged")
	}
	return checkTree(w.children)
}

// checkTree makes sure that children, the numbers of children of the schema's
// nodes in depth-first order, describe one tree of bounded depth.
func checkTree(children []int64) error {
	if len(children) == 0 {
		return errors.New("the file has no schema")
	}
	var open []int64 // children still to come, by depth
	for i, n := range children {
		if len(open) == 0 && i > 0 {
			return errors.New("the schema has more than one root")
		}
		if len(open) > 0 {
			open[len(open)-1]--
		}
		if n < 0 || n > int64(len(children)-1-i) {
			return fmt.Errorf("node %d of the schema announces %d children: the footer is damaged", i, n)
		}
		if n > 0 {
			open = append(open, n)
		}
		for len(open) > 0 && open[len(open)-1] == 0 {
			open = open[:len(open)-1]
		}
		if len(open) > mostDepth {
			return fmt.Errorf("columns are nested more than %d levels deep", mostDepth)
		}
	}
	if len(open) > 0 {
		return errors.New("the schema ends early: the footer is damaged")
	}
	return nil
}

// walker walks over a structure in Thrift's compact protocol (its specification:
// thrift/doc/specs/thrift-compact-protocol.md). bad: it is malformed.
type walker struct {
	b        []byte
	bad      bool
	children []int64 // of schema nodes
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

// Fields of FileMetaData and SchemaElement (parquet.thrift).
const (
	fieldSchema      = 2
	fieldNumChildren = 5
)

// file walks over the FileMetaData.
func (w *walker) file() error {
	w.fields(0, func(id int64, kind byte) bool {
		if id != fieldSchema || kind != typeList {
			return false
		}
		n, element := w.list()
		for ; n > 0 && !w.bad; n-- {
			if element != typeStruct {
				w.bad = true
				return true
			}
			var children int64
			w.fields(1, func(id int64, kind byte) bool {
				if id != fieldNumChildren || kind != typeI32 {
					return false
				}
				v := w.varint()
				children = int64(v>>1) ^ -int64(v&1)
				return true
			})
			w.children = append(w.children, children)
		}
		return true
	})
	return nil
}

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
	if depth > mostDepth {
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

func (w *walker) next(n uint64) {
	if n > uint64(len(w.b)) {
		w.bad = true
		return
	}
	w.b = w.b[n:]
}
