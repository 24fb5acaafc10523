package parquet

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
)

// Bounds on what a file's footer may say.
const (
	maxFooter = 64 << 20 // bytes
	maxDepth  = 64       // of nested columns, and of the footer's own structures
)

// meta is what a footer says, as far as it matters here.
type meta struct {
	schema []element // depth first
	rows   int64
	groups []group
	digest string // SHA-256 of the footer
	arrow  string // the schema of Arrow that the file was written from, in base64; "": of none
}

// element is a node of the schema. A number that the file does not give is -1; for the
// logical type it is 0.
type element struct {
	name       string
	kind       physical
	length     int64 // of kindFixed
	repetition int64
	children   int64
	converted  int64
	logical    logical
	bits       int64 // of logicalInt
	signed     bool
	scale      int64    // of decimals
	lists      *nesting // of a column of lists; nil: a row has one value
	ordered    bool     // its dictionary has the levels in their order
	unit       int64    // of logicalTime and logicalTimestamp: 1 milli-, 2 micro-, 3 nanoseconds
}

type group struct {
	rows   int64
	chunks []chunk
}

// chunk is a column of a row group.
type chunk struct {
	elsewhere  string // the other file that the values are in; "": in this one
	kind       physical
	codec      codec
	values     int64
	size       int64 // in the file
	data       int64 // offset of the first data page
	dictionary int64 // offset of the dictionary, 0: none
}

// readFooter reads the footer. The memory that it takes is in proportion to the bytes of
// the footer, whatever numbers these hold.
func readFooter(r io.ReaderAt, size int64) (*meta, error) {
	var tail [8]byte
	if size < 12 {
		return nil, fmt.Errorf("%d bytes are too few for a Parquet file", size)
	}
	if _, err := r.ReadAt(tail[:], size-8); err != nil {
		return nil, err
	}
	switch string(tail[4:]) {
	case "PAR1":
	case "PARE":
		return nil, errors.New("the file is encrypted, which is not supported: decrypt it first")
	default:
		return nil, fmt.Errorf("the file ends with %q, not with the mark of Parquet: it is cut off or something else; fetch it, or write it, again", tail[4:])
	}
	n := int64(binary.LittleEndian.Uint32(tail[:]))
	if n > size-12 {
		return nil, fmt.Errorf("the footer should take %d bytes of a file of %d: it is cut off or damaged; fetch it, or write it, again", n, size)
	}
	if n > maxFooter {
		return nil, fmt.Errorf("the footer takes %d bytes; %d are allowed: write fewer row groups or columns", n, maxFooter)
	}
	buf := make([]byte, n)
	if _, err := r.ReadAt(buf, size-8-n); err != nil {
		return nil, err
	}
	w := walker{b: buf}
	m := w.file()
	sum := sha256.Sum256(buf)
	m.digest = hex.EncodeToString(sum[:])
	if w.bad {
		return nil, errors.New("the footer is damaged")
	}
	children := make([]int64, len(m.schema))
	for i, e := range m.schema {
		children[i] = max(e.children, 0)
		if e.children < -1 {
			children[i] = e.children
		}
	}
	return m, checkTree(children)
}

// file reads a FileMetaData; the numbers of fields are those of parquet.thrift.
func (w *walker) file() *meta {
	m := &meta{rows: -1}
	w.fields(0, func(id int64, kind byte) bool {
		switch id {
		case 2:
			w.structs(kind, func() { m.schema = append(m.schema, w.element()) })
		case 3:
			m.rows = w.integer(kind)
		case 4:
			w.structs(kind, func() { m.groups = append(m.groups, w.group()) })
		case 5:
			w.structs(kind, func() {
				var key, value string
				w.fields(1, func(id int64, kind byte) bool {
					switch id {
					case 1:
						key = w.text(kind)
					case 2:
						value = w.text(kind)
					default:
						return false
					}
					return true
				})
				if key == "ARROW:schema" {
					m.arrow = value
				}
			})
		case 8:
			w.bad = true // the columns are encrypted
		default:
			return false
		}
		return true
	})
	return m
}

// element reads a SchemaElement.
func (w *walker) element() element {
	e := element{kind: -1, repetition: -1, children: -1, converted: -1}
	named := false
	w.fields(1, func(id int64, kind byte) bool {
		switch id {
		case 1:
			e.kind = physical(w.integer(kind))
		case 2:
			e.length = w.integer(kind)
		case 3:
			e.repetition = w.integer(kind)
		case 4:
			e.name, named = w.text(kind), true
		case 5:
			e.children = w.integer(kind)
		case 6:
			e.converted = w.integer(kind)
		case 7:
			e.scale = w.integer(kind)
		case 10:
			w.structure(kind, 2, func(id int64, kind byte) bool {
				e.logical = logical(id)
				switch e.logical {
				case logicalDecimal:
					w.structure(kind, 3, func(id int64, kind byte) bool {
						if id == 1 {
							e.scale = w.integer(kind)
						}
						return id == 1
					})
					return true
				case logicalTime, logicalTimestamp:
					w.structure(kind, 3, func(id int64, kind byte) bool {
						if id == 2 {
							w.structure(kind, 4, func(id int64, kind byte) bool { e.unit = id; return false })
						}
						return id == 2
					})
					return true
				case logicalInt:
				default:
					return false
				}
				w.structure(kind, 3, func(id int64, kind byte) bool {
					switch id {
					case 1:
						e.bits = w.integer(kind)
					case 2:
						e.signed = kind == typeTrue
					default:
						return false
					}
					return true
				})
				return true
			})
		default:
			return false
		}
		return true
	})
	w.bad = w.bad || !named
	return e
}

// group reads a RowGroup.
func (w *walker) group() group {
	g := group{rows: -1}
	w.fields(1, func(id int64, kind byte) bool {
		switch id {
		case 1:
			w.structs(kind, func() { g.chunks = append(g.chunks, w.chunk()) })
		case 3:
			g.rows = w.integer(kind)
		default:
			return false
		}
		return true
	})
	w.bad = w.bad || g.rows < 0
	return g
}

// chunk reads a ColumnChunk with its ColumnMetaData.
func (w *walker) chunk() chunk {
	c := chunk{kind: -1, codec: -1, values: -1, size: -1, data: -1}
	w.fields(2, func(id int64, kind byte) bool {
		switch id {
		case 1:
			c.elsewhere = w.text(kind)
		case 3:
			w.structure(kind, 3, func(id int64, kind byte) bool {
				switch id {
				case 1:
					c.kind = physical(w.integer(kind))
				case 4:
					c.codec = codec(w.integer(kind))
				case 5:
					c.values = w.integer(kind)
				case 7:
					c.size = w.integer(kind)
				case 9:
					c.data = w.integer(kind)
				case 11:
					c.dictionary = w.integer(kind)
				default:
					return false
				}
				return true
			})
		default:
			return false
		}
		return true
	})
	w.bad = w.bad || c.kind < 0 || c.codec < 0 || c.values < 0 || c.size < 0 || c.data < 0
	return c
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
		if len(open) > maxDepth {
			return fmt.Errorf("columns are nested more than %d levels deep", maxDepth)
		}
	}
	if len(open) > 0 {
		return errors.New("the schema ends early: the footer is damaged")
	}
	return nil
}
