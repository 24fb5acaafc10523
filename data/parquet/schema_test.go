package parquet

import (
	"fmt"
	"testing"

	"github.com/pho-go/pho/data/internal/columnar"
)

// TestFields: what a column becomes by the type of its values and what these mean; types that do not go together are refused.
func TestFields(t *testing.T) {
	old := func(kind physical, converted int64) element { return element{kind: kind, converted: converted} }
	of := func(kind physical, l logical) element { return element{kind: kind, logical: l, converted: -1} }
	whole := func(kind physical, bits int64, signed bool) element {
		return element{kind: kind, logical: logicalInt, bits: bits, signed: signed, converted: -1}
	}
	long := func(e element, length int64) element { e.length = length; return e }
	in := func(e element, unit int64) element { e.unit = unit; return e }
	scaled := func(e element, scale int64) element { e.scale = scale; return e }
	const number, text, refused = columnar.Number, columnar.Text, columnar.Refused
	for _, c := range []struct {
		e    element
		kind columnar.Kind
		want string // type, unit
	}{
		{of(kindBool, 0), number, "boolean"},
		{of(kindInt64, 0), number, "int64"},
		{of(kindDouble, 0), number, "double"},
		{of(kindInt96, 0), number, "a timestamp (INT96) " + columnar.Instants},
		{of(kindBytes, 0), text, "byte_array"},
		{of(kindFixed, 0), refused, "fixed_len_byte_array"},
		{of(9, 0), refused, "type 9"},
		{old(kindInt32, 11), number, "uint8"},
		{old(kindInt64, 14), number, "uint64"},
		{old(kindInt32, 15), number, "int8"},
		{old(kindInt32, 17), number, "int32"},
		{old(kindInt64, 18), number, "int64"},
		{old(kindInt32, 18), refused, "int64 stored as int32"},
		{whole(kindInt32, 16, false), number, "uint16"},
		{whole(kindInt32, 12, true), refused, "int12 stored as int32"},
		{whole(kindInt64, 32, true), refused, "int32 stored as int64"},
		{whole(kindInt64, 64, true), number, "int64"},
		{whole(kindDouble, 8, true), refused, "int8 stored as double"},
		{old(kindBytes, 0), text, "text"},
		{old(kindInt32, 0), refused, "text stored as int32"},
		{old(kindBytes, 4), text, "text"},
		{old(kindBytes, 19), text, "text"},
		{of(kindBytes, logicalEnum), text, "text"},
		{long(of(kindFixed, logicalHalf), 2), number, "float16"},
		{long(of(kindFixed, logicalHalf), 4), refused, "float16 stored as fixed_len_byte_array"},
		{scaled(old(kindInt32, 5), 2), number, "a decimal"},
		{long(of(kindFixed, logicalDecimal), 64), number, "a decimal"},
		{long(of(kindFixed, logicalDecimal), 65), refused, "a decimal stored as fixed_len_byte_array"},
		{of(kindFixed, logicalDecimal), refused, "a decimal stored as fixed_len_byte_array"},
		{scaled(of(kindBytes, logicalDecimal), -columnar.MaxScale), number, "a decimal"},
		{scaled(of(kindBytes, logicalDecimal), columnar.MaxScale+1), refused, "a decimal stored as byte_array"},
		{old(kindInt32, 6), number, "a date " + columnar.Days},
		{of(kindInt64, logicalDate), refused, "a date stored as int64 " + columnar.Days},
		{old(kindInt32, 7), number, "a time " + columnar.Clock},
		{in(of(kindInt64, logicalTime), 3), number, "a time " + columnar.Clock},
		{of(kindInt64, logicalTime), refused, "a time stored as int64 " + columnar.Clock}, // of no unit
		{in(of(kindBytes, logicalTime), 1), refused, "a time stored as byte_array " + columnar.Clock},
		{old(kindInt64, 10), number, "a timestamp " + columnar.Instants},
		{in(of(kindInt32, logicalTimestamp), 1), refused, "a timestamp stored as int32 " + columnar.Instants},
		{old(kindFixed, 21), refused, "an interval"},
		{old(kindBytes, 20), refused, "BSON"},
		{of(kindFixed, logicalUUID), refused, "a UUID"},
		{old(kindBytes, 1), refused, "a list or map without elements"},
		{old(kindBytes, 3), refused, "a list or map without elements"},
		{of(kindBytes, 99), refused, "of logical type 99, unknown here,"},
	} {
		f := fieldOf(&c.e)
		got := f.Type
		if f.Unit != "" {
			got = fmt.Sprintf("%s %s", got, f.Unit)
		}
		if f.Kind != c.kind || got != c.want {
			t.Errorf("%s, converted %d, logical %d: %v, %q; want %v, %q", c.e.kind, c.e.converted, c.e.logical, f.Kind, got, c.kind, c.want)
		}
	}
}

// TestChunks: a column of a row group says all of what it holds, how and where.
func TestChunks(t *testing.T) {
	ids := []int64{1, 4, 5, 7, 9}
	for without := -1; without < len(ids); without++ {
		var e encoder
		e.structure(3, func() {
			for i, id := range ids {
				if i != without {
					e.integer(id, typeI64, 0)
				}
			}
		})
		e.end()
		w := walker{b: e.b}
		if w.chunk(); w.bad != (without >= 0) {
			t.Errorf("without field %d: bad %t", without, w.bad)
		}
	}
}
