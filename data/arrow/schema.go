package arrow

import (
	"encoding/binary"
	"fmt"

	"github.com/pho-go/pho/data/internal/columnar"
)

// Type numbers of the format (Schema.fbs).
const (
	typeNull            = 1
	typeInt             = 2
	typeFloat           = 3
	typeBinary          = 4
	typeUtf8            = 5
	typeBool            = 6
	typeDecimal         = 7
	typeDate            = 8
	typeTime            = 9
	typeTimestamp       = 10
	typeList            = 12
	typeStruct          = 13
	typeUnion           = 14
	typeFixedSizeList   = 16
	typeMap             = 17
	typeDuration        = 18
	typeLargeBinary     = 19
	typeLargeUtf8       = 20
	typeLargeList       = 21
	typeRunEndEncoded   = 22
	typeBinaryView      = 23
	typeUtf8View        = 24
	typeListView        = 25
	typeLargeListView   = 26
	lastType            = 26
	maxDepth            = 64      // of nested types
	maxNodes            = 1 << 20 // of a schema, nested ones included
	denseUnion          = 1
	metadataV5          = 4
	endianLittle        = 0
	indexInt32          = 32
	headSchema          = 1
	headDictionaryBatch = 2
	headRecordBatch     = 3
)

// names are what messages call the types.
var names = [lastType + 1]string{
	"of an unknown type", "null", "an integer", "a floating point number", "binary", "text", "a truth value",
	"a decimal", "a date", "a time", "a timestamp", "an interval", "a list", "a struct", "a union",
	"fixed-size binary", "a fixed-size list", "a map", "a duration", "binary", "text", "a list",
	"run-end encoded", "binary", "text", "a list view", "a large list view",
}

// node is a field of the schema: how its values lie in a record batch.
type node struct {
	kind          int
	bits          int    // of an integer or floating point number
	unsigned      bool   // of an integer
	index         int    // of a dictionary: bits of its indices; 0: no dictionary
	unsignedIndex bool   // of a dictionary: its indices are unsigned
	ordered       bool   // of a dictionary: its levels have an order
	per           int64  // of dates and times: units of the file in one of unit
	unit          string // what they count
	scale         int    // of a decimal
	id            int64
	dense         bool            // of a union
	size          int             // of a fixed-size list; of others -1: each says its own
	shape         string          // of an arrow.fixed_shape_tensor: what its metadata say of a row
	axes          columnar.Layout // of the rows of a tensor, once it is known
	children      []*node
}

// readSchema reads a Schema table.
func readSchema(s flat) ([]columnar.Field, []*node, error) {
	if s.at == 0 {
		return nil, nil, errFlat
	}
	if s.int(0, 2, endianLittle) != endianLittle {
		return nil, nil, fmt.Errorf("its numbers are big-endian, which is not supported: write it on another machine")
	}
	left, names := maxNodes, 0
	at, n := s.vector(1, 4)
	var fields []columnar.Field
	var nodes []*node
	for i := range n {
		f := flat{b: s.b, at: at + 4*i + s.u32(at+4*i), bad: s.bad}
		v := readNode(f, 0, &left)
		if err := s.err(); err != nil {
			return nil, nil, err
		}
		field := v.field()
		if _, n := f.vector(0, 1); names+int(n) > maxMetadata { // fields can share a name's bytes
			return nil, nil, errFlat
		}
		field.Name = f.text(0)
		names += len(field.Name)
		fields, nodes = append(fields, field), append(nodes, v)
	}
	return fields, nodes, s.err()
}

// Declaration is the part of a column's schema that its numbers or texts do not show themselves.
type Declaration struct {
	Name    string
	Ordered bool // its levels have an order
	// Of an arrow.fixed_shape_tensor: the axes of a row as they are stored, and which of them axis k of the row is, Order[k];
	// Order nil: that at the same place.
	Shape, Order []int
}

// Declared are the columns of a schema as Arrow's programs write it into other files: a message of IPC. Of what
// is no schema there are none.
func Declared(message []byte) (all []Declaration) {
	if len(message) >= 8 && binary.LittleEndian.Uint32(message) == 1<<32-1 {
		message = message[4:]
	}
	if len(message) < 8 {
		return nil
	}
	m := root(message[4:])
	if m.int(1, 1, 0) != headSchema {
		return nil
	}
	fields, nodes, err := readSchema(m.table(2))
	if err != nil {
		return nil
	}
	for i, v := range nodes {
		d := Declaration{Name: fields[i].Name, Ordered: v.ordered}
		if v.shape != "" {
			d.Shape, d.Order = v.axes.Shape, v.axes.Order
		}
		all = append(all, d)
	}
	return all
}

func readNode(f flat, depth int, left *int) *node {
	*left--
	v := &node{kind: int(f.int(2, 1, 0)), size: -1}
	if *left < 0 || depth > maxDepth {
		*f.bad = true
		return v
	}
	t := f.table(3)
	switch v.kind {
	case typeInt:
		v.bits, v.unsigned = int(t.int(0, 4, 0)), t.int(1, 1, 0) == 0
	case typeFloat:
		v.bits = 16 << t.int(0, 2, 0)
	case typeDecimal:
		v.scale, v.bits = int(t.int(1, 4, 0)), int(t.int(2, 4, 128))
	case typeDate:
		v.unit, v.bits, v.per = columnar.Days, 32, 1
		if t.int(0, 2, 1) == 1 {
			v.bits, v.per = 64, 86_400_000
		}
	case typeTime:
		v.unit, v.bits, v.per = columnar.Clock, int(t.int(1, 4, 32)), secondsIn(t.int(0, 2, 1))
	case typeTimestamp:
		v.unit, v.bits, v.per = columnar.Instants, 64, secondsIn(t.int(0, 2, 0))
	case typeDuration:
		v.unit, v.bits, v.per = columnar.Seconds, 64, secondsIn(t.int(0, 2, 1))
	case typeFixedSizeList:
		v.size, v.shape = max(0, int(t.int(0, 4, 0))), fixedShape(f)
	case typeUnion:
		v.dense = t.int(0, 2, 0) == denseUnion
	}
	if d := f.table(4); d.at != 0 {
		v.id, v.index, v.ordered = d.int(0, 8, 0), indexInt32, d.int(2, 1, 0) != 0
		if i := d.table(1); i.at != 0 {
			v.index, v.unsignedIndex = int(i.int(0, 4, indexInt32)), i.int(1, 1, 0) == 0
		}
	}
	at, n := f.vector(5, 4)
	for i := range n {
		if *f.bad {
			break
		}
		v.children = append(v.children, readNode(flat{b: f.b, at: at + 4*i + f.u32(at+4*i), bad: f.bad}, depth+1, left))
	}
	return v
}

// fixedShape is what a field says of the shape of its rows, if it is of Arrow's extension type for tensors of one shape.
func fixedShape(f flat) string {
	at, n := f.vector(6, 4) // custom_metadata
	var name, said string
	for i := range n {
		pair := flat{b: f.b, at: at + 4*i + f.u32(at+4*i), bad: f.bad}
		switch pair.text(0) {
		case "ARROW:extension:name":
			name = pair.text(1)
		case "ARROW:extension:metadata":
			said = pair.text(1)
		}
	}
	if name != "arrow.fixed_shape_tensor" {
		return ""
	}
	return said
}

// secondsIn is how many of a TimeUnit are a second: seconds, milli-, micro- and nanoseconds.
// 0: it is none.
func secondsIn(unit int64) int64 {
	if unit < 0 || unit > 3 {
		return 0
	}
	return [...]int64{1, 1e3, 1e6, 1e9}[unit]
}

// text says whether the values are text or text that is not declared so.
func (v *node) text() bool {
	switch v.kind {
	case typeUtf8, typeLargeUtf8, typeUtf8View, typeBinary, typeLargeBinary, typeBinaryView:
		return true
	}
	return false
}

// field says what becomes of the values.
func (v *node) field() columnar.Field {
	f := columnar.Field{Kind: columnar.Refused, Type: names[0], Why: "store it as a number, cast to double, or as text"}
	if v.kind >= 0 && v.kind <= lastType {
		f.Type = names[v.kind]
	}
	power := v.bits == 8 || v.bits == 16 || v.bits == 32 || v.bits == 64
	switch {
	case v.index > 0:
		if v.text() && (v.index == 8 || v.index == 16 || v.index == 32 || v.index == 64) {
			f.Kind = columnar.Text
		} else {
			f.Type = "a dictionary of values that are not text"
		}
	case v.text():
		f.Kind = columnar.Text
	case v.kind == typeBool, v.kind == typeInt && power, v.kind == typeFloat && power && v.bits > 8:
		f.Kind = columnar.Number
	case v.kind == typeDecimal && (power && v.bits > 16 || v.bits == 128 || v.bits == 256) && max(v.scale, -v.scale) <= columnar.MaxScale:
		f.Kind = columnar.Number
	case v.per > 0 && (v.bits == 32 || v.bits == 64):
		f.Kind, f.Unit = columnar.Number, v.unit
	case v.lists():
		return v.tensor()
	case len(v.children) > 0:
		f.Why = "store its parts as columns of their own"
		if v.kind == typeListView || v.kind == typeLargeListView {
			f.Why = "store it as a list (pyarrow: cast to list_ or large_list)"
		}
	}
	return f
}

// layout is the number of field nodes and buffers that the values take in a
// record batch, children included, without the buffers of views, which each
// batch counts itself: views is the number of view columns.
func (v *node) layout(version int64) (nodes, buffers, views int) {
	nodes = 1
	kind := v.kind
	if v.index > 0 {
		return 1, 2, 0
	}
	switch kind {
	case typeNull, typeRunEndEncoded:
	case typeStruct, typeFixedSizeList:
		buffers = 1
	case typeUnion:
		buffers = 1
		if v.dense {
			buffers++
		}
		if version < metadataV5 {
			buffers++ // validity
		}
	case typeBinary, typeUtf8, typeLargeBinary, typeLargeUtf8, typeListView, typeLargeListView:
		buffers = 3
	case typeBinaryView, typeUtf8View:
		buffers, views = 2, 1
	default: // fixed width, lists and maps
		buffers = 2
	}
	for _, c := range v.children {
		n, b, w := c.layout(version)
		nodes, buffers, views = nodes+n, buffers+b, views+w
	}
	return nodes, buffers, views
}
