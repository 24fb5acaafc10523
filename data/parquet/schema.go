package parquet

import (
	"encoding/binary"
	"fmt"

	"github.com/pho-go/pho/data/internal/columnar"
)

// physical is how values are stored (Type in parquet.thrift).
type physical int64

const (
	kindBool physical = iota
	kindInt32
	kindInt64
	kindInt96
	kindFloat
	kindDouble
	kindBytes
	kindFixed
)

func (k physical) String() string {
	names := [...]string{"boolean", "int32", "int64", "int96", "float", "double", "byte_array", "fixed_len_byte_array"}
	if k < 0 || int(k) >= len(names) {
		return fmt.Sprintf("type %d", int64(k))
	}
	return names[k]
}

// logical is what values mean (the fields of LogicalType in parquet.thrift).
type logical int64

const (
	logicalNone      logical = 0
	logicalString    logical = 1
	logicalMap       logical = 2
	logicalList      logical = 3
	logicalEnum      logical = 4
	logicalDecimal   logical = 5
	logicalDate      logical = 6
	logicalTime      logical = 7
	logicalTimestamp logical = 8
	logicalInterval  logical = 9 // no longer given, but reserved
	logicalInt       logical = 10
	logicalUnknown   logical = 11
	logicalJSON      logical = 12
	logicalBSON      logical = 13
	logicalUUID      logical = 14
	logicalHalf      logical = 15
)

const (
	repeated  = 2 // FieldRepetitionType
	optional  = 1
	required  = 0
	firstUint = 11 // ConvertedType UINT_8; UINT_16 to UINT_64 follow, then INT_8 to INT_64
	firstInt  = 15
	lastInt   = 18
)

// meaning is the logical type, also of files that only give its predecessor, the
// converted type.
func (e *element) meaning() (l logical, bits int64, signed bool) {
	if e.logical != logicalNone {
		return e.logical, e.bits, e.signed
	}
	if c := e.converted; c >= firstUint && c <= lastInt {
		return logicalInt, 8 << ((c - firstUint) % 4), c >= firstInt
	}
	switch e.converted {
	case 0:
		l = logicalString
	case 1, 2:
		l = logicalMap
	case 3:
		l = logicalList
	case 4:
		l = logicalEnum
	case 5:
		l = logicalDecimal
	case 6:
		l = logicalDate
	case 7, 8:
		l = logicalTime
	case 9, 10:
		l = logicalTimestamp
	case 19:
		l = logicalJSON
	case 20:
		l = logicalBSON
	case 21:
		l = logicalInterval
	}
	return l, 0, true
}

// per is how many units of a date or time make one of what it is read as; 0: it is none.
func (e *element) per() int64 {
	switch l, _, _ := e.meaning(); l {
	case logicalDate:
		return 1
	case logicalTime, logicalTimestamp:
		unit := e.unit
		switch e.converted {
		case 7, 9:
			unit = max(unit, 1)
		case 8, 10:
			unit = max(unit, 2)
		}
		if 1 <= unit && unit <= 3 {
			return [...]int64{1e3, 1e6, 1e9}[unit-1]
		}
	}
	return 0
}

// wide makes a number of a value's bytes where these are no number themselves; nil: they are.
func (e *element) wide() func(b []byte) float64 {
	l, _, _ := e.meaning()
	switch {
	case l == logicalDecimal && (e.kind == kindBytes || e.kind == kindFixed):
		return func(b []byte) float64 { return columnar.DecimalOf(b, int(e.scale)) }
	case e.kind == kindInt96:
		return func(b []byte) float64 { // nanoseconds of a day, and the Julian day
			const epoch = 2_440_588
			day := int64(int32(binary.LittleEndian.Uint32(b[8:]))) - epoch
			return float64(day*86400) + columnar.Scaled(int64(binary.LittleEndian.Uint64(b)), 1e9)
		}
	}
	return nil
}

// fieldsOf lists the columns of a schema, and for each the leaf that holds its
// values, -1 for those that are refused. leaves are the nodes of all leaves.
func fieldsOf(schema []element) (fields []columnar.Field, leaf []int, leaves []element) {
	for i := 1; i < len(schema); {
		end := i + 1 // of the subtree
		for open := max(schema[i].children, 0); open > 0 && end < len(schema); end++ {
			open += max(schema[end].children, 0) - 1
		}
		first := len(leaves)
		for _, e := range schema[i:end] {
			if e.children <= 0 && e.kind >= 0 {
				leaves = append(leaves, e)
			}
		}
		e := &schema[i]
		f := columnar.Field{Name: e.name, Kind: columnar.Refused, Type: "nested", Why: "store its parts as columns of their own"}
		switch {
		case len(leaves) == first:
			f.Type, f.Why = "a group without values", "leave it out"
		case e.children <= 0 && e.repetition != repeated:
			f = fieldOf(e)
		default:
			if n, values, ok := nestingOf(schema[i:end]); ok {
				leaves[first].lists = n
				f = listField(e.name, n, values)
			}
		}
		if f.Kind == columnar.Refused {
			first = -1
		}
		fields, leaf = append(fields, f), append(leaf, first)
		i = end
	}
	return fields, leaf, leaves
}

// fieldOf is the column that a leaf becomes.
func fieldOf(e *element) columnar.Field {
	l, bits, signed := e.meaning()
	f := columnar.Field{Name: e.name, Kind: columnar.Refused, Type: e.kind.String(), Why: "store it as a number, cast to double, or as text"}
	fits := false // the logical type is one for values that are stored so
	switch l {
	case logicalInt:
		f.Kind, f.Type = columnar.Number, fmt.Sprintf("int%d", bits)
		if !signed {
			f.Type = "u" + f.Type
		}
		fits = e.kind == kindInt32 && (bits == 8 || bits == 16 || bits == 32) || e.kind == kindInt64 && bits == 64
	case logicalString, logicalEnum, logicalJSON:
		f.Kind, f.Type, fits = columnar.Text, "text", e.kind == kindBytes
	case logicalHalf:
		f.Kind, f.Type, fits = columnar.Number, "float16", e.kind == kindFixed && e.length == 2
	case logicalNone, logicalUnknown:
		fits = true
		switch e.kind {
		case kindBool, kindInt32, kindInt64, kindFloat, kindDouble:
			f.Kind = columnar.Number
		case kindBytes: // text of writers that do not say so
			f.Kind = columnar.Text
		case kindInt96:
			f.Kind, f.Type, f.Unit = columnar.Number, "a timestamp (INT96)", columnar.Instants
		}
	case logicalDecimal:
		f.Kind, f.Type = columnar.Number, "a decimal"
		fits = (e.kind == kindInt32 || e.kind == kindInt64 || e.kind == kindBytes || e.kind == kindFixed && e.length > 0 && e.length <= 64) && max(e.scale, -e.scale) <= columnar.MaxScale
	case logicalDate:
		f.Kind, f.Type, f.Unit, fits = columnar.Number, "a date", columnar.Days, e.kind == kindInt32
	case logicalTime:
		f.Kind, f.Type, f.Unit = columnar.Number, "a time", columnar.Clock
		fits = e.per() > 0 && (e.kind == kindInt32 || e.kind == kindInt64)
	case logicalTimestamp:
		f.Kind, f.Type, f.Unit, fits = columnar.Number, "a timestamp", columnar.Instants, e.per() > 0 && e.kind == kindInt64
	case logicalInterval:
		f.Type = "an interval"
	case logicalBSON:
		f.Type = "BSON"
	case logicalUUID:
		f.Type = "a UUID"
	case logicalMap, logicalList:
		f.Type = "a list or map without elements"
	default:
		f.Type = fmt.Sprintf("of logical type %d, unknown here,", int64(l))
	}
	if f.Kind != columnar.Refused && !fits {
		f.Kind, f.Type = columnar.Refused, fmt.Sprintf("%s stored as %s", f.Type, e.kind)
	}
	return f
}
