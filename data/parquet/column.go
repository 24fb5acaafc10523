package parquet

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/arrow-go/v18/parquet/schema"

	"github.com/pho-go/pho/data/internal/columnar"
)

// fieldsOf lists the columns of a schema, and for each the leaf that holds its
// values, -1 for those that are refused.
func fieldsOf(s *schema.Schema) (fields []columnar.Field, leaves []int) {
	byRoot := map[schema.Node]int{}
	for i := range s.NumColumns() {
		byRoot[s.ColumnRoot(i)] = i
	}
	root := s.Root()
	for i := range root.NumFields() {
		node := root.Field(i)
		leaf, ok := byRoot[node]
		f := columnar.Field{Name: node.Name(), Kind: columnar.Refused, Type: "a group without values", Why: "leave it out"}
		if ok && node.Type() == schema.Primitive && s.Column(leaf).MaxRepetitionLevel() == 0 {
			f = fieldOf(s.Column(leaf))
		} else if ok {
			f.Type, f.Why = "nested", "store its parts as columns of their own"
		}
		if f.Kind == columnar.Refused {
			leaf = -1
		}
		fields, leaves = append(fields, f), append(leaves, leaf)
	}
	return fields, leaves
}

func fieldOf(c *schema.Column) columnar.Field {
	f := columnar.Field{Name: c.Name(), Kind: columnar.Refused, Type: typeName(c)}
	const cast = "store it as a number, cast to double, or as text"
	switch c.LogicalType().(type) {
	case schema.IntLogicalType:
		f.Kind = columnar.Number
	case schema.StringLogicalType, schema.EnumLogicalType, schema.JSONLogicalType:
		f.Kind = columnar.Text
	case schema.Float16LogicalType:
		f.Kind = columnar.Number
	case schema.NullLogicalType, schema.UnknownLogicalType, schema.NoLogicalType, nil:
		switch c.PhysicalType() {
		case parquet.Types.Boolean, parquet.Types.Int32, parquet.Types.Int64, parquet.Types.Float, parquet.Types.Double:
			f.Kind = columnar.Number
		case parquet.Types.ByteArray: // text of writers that do not say so
			f.Kind = columnar.Text
		case parquet.Types.Int96:
			f.Type, f.Why = "a timestamp (INT96)", cast
		default:
			f.Why = cast
		}
	default:
		f.Why = cast
	}
	return f
}

// typeName is the type as messages name it.
func typeName(c *schema.Column) string {
	switch l := c.LogicalType().(type) {
	case schema.DecimalLogicalType:
		return "a decimal"
	case schema.DateLogicalType:
		return "a date"
	case schema.TimeLogicalType:
		return "a time"
	case schema.TimestampLogicalType:
		return "a timestamp"
	case schema.StringLogicalType, schema.EnumLogicalType, schema.JSONLogicalType:
		return "text"
	case nil:
	default:
		if !l.IsNone() {
			return l.String()
		}
	}
	return strings.ToLower(c.PhysicalType().String())
}

// column decodes a column of a row group.
type column interface {
	read(n int, v *columnar.Values) error // the next n rows
	close()
}

func newColumn(r file.ColumnChunkReader) (column, error) {
	c := r.Descriptor()
	levels := levels{optional: c.MaxDefinitionLevel() > 0}
	signed, bits := true, 64
	if t, ok := c.LogicalType().(schema.IntLogicalType); ok {
		signed, bits = t.IsSigned(), int(t.BitWidth())
	}
	switch r := r.(type) {
	case *file.Float64ColumnChunkReader:
		return &numbers[float64]{r, levels, nil, func(v float64) (float64, string) { return v, "" }}, nil
	case *file.Float32ColumnChunkReader:
		return &numbers[float32]{r, levels, nil, func(v float32) (float64, string) { return float64(v), "" }}, nil
	case *file.BooleanColumnChunkReader:
		return &numbers[bool]{r, levels, nil, func(v bool) (float64, string) {
			if v {
				return 1, ""
			}
			return 0, ""
		}}, nil
	case *file.Int32ColumnChunkReader:
		return &numbers[int32]{r, levels, nil, func(v int32) (float64, string) {
			if signed {
				return float64(v), ""
			}
			return float64(uint32(v) << (32 - min(bits, 32)) >> (32 - min(bits, 32))), ""
		}}, nil
	case *file.Int64ColumnChunkReader:
		return &numbers[int64]{r, levels, nil, func(v int64) (float64, string) {
			const exact = 1 << 53
			switch {
			case !signed && uint64(v) > exact:
				return 0, strconv.FormatUint(uint64(v), 10)
			case v > exact || v < -exact:
				return 0, strconv.FormatInt(v, 10)
			}
			return float64(v), ""
		}}, nil
	case *file.FixedLenByteArrayColumnChunkReader:
		if c.TypeLength() == 2 {
			return &numbers[parquet.FixedLenByteArray]{r, levels, nil, func(v parquet.FixedLenByteArray) (float64, string) {
				return columnar.Half(uint16(v[0]) | uint16(v[1])<<8), ""
			}}, nil
		}
	case *file.ByteArrayColumnChunkReader:
		return &text{r: r, levels: levels, seen: columnar.NewInterner()}, nil
	}
	return nil, fmt.Errorf("values of type %s cannot be read", c.PhysicalType())
}

// levels tells the null rows of a flat column: definition level 0.
type levels struct {
	optional bool
	defs     []int16
}

func (l *levels) room(n int) []int16 {
	if !l.optional {
		return nil
	}
	if len(l.defs) < n {
		l.defs = make([]int16, n)
	}
	return l.defs[:n]
}

var errShort = errors.New("the column has fewer values than its row group has rows: the file is damaged")

// numbers decodes a column of numbers. number returns the text of a value that
// float64 cannot hold.
type numbers[T any] struct {
	r interface {
		ReadBatch(size int64, values []T, defs, reps []int16) (int64, int, error)
		Close() error
	}
	levels
	scratch []T
	number  func(T) (float64, string)
}

func (c *numbers[T]) close() { _ = c.r.Close() }

func (c *numbers[T]) read(n int, v *columnar.Values) error {
	out := make([]float64, n)
	values, direct := any(out).([]T)
	if !direct {
		if len(c.scratch) < n {
			c.scratch = make([]T, n)
		}
		values = c.scratch[:n]
	}
	defs := c.room(n)
	rows, have, err := c.r.ReadBatch(int64(n), values, defs, nil)
	switch {
	case err != nil:
		return err
	case rows != int64(n):
		if h, ok := c.r.(interface{ Err() error }); ok && h.Err() != nil {
			return h.Err()
		}
		return errShort
	case defs == nil && have != n:
		return errShort
	}
	v.Numbers = out
	if defs == nil || have == n {
		if !direct {
			c.convert(out, values, nil, v)
		}
		return nil
	}
	present := 0
	for _, d := range defs {
		present += int(d & 1)
	}
	if present != have {
		return errShort
	}
	if !direct {
		c.convert(out, values, defs, v)
		return nil
	}
	for i, k := n-1, have-1; i > k; i-- { // from the end: in place
		if defs[i] == 0 {
			out[i] = columnar.Null
		} else {
			out[i] = out[k]
			k--
		}
	}
	return nil
}

func (c *numbers[T]) convert(out []float64, values []T, defs []int16, v *columnar.Values) {
	k := 0
	for i := range out {
		if defs != nil && defs[i] == 0 {
			out[i] = columnar.Null
			continue
		}
		x, inexact := c.number(values[k])
		k++
		if inexact != "" && v.Fault == nil {
			v.Fault = &columnar.Fault{Row: i, Cell: inexact, Reason: columnar.Inexact}
		}
		out[i] = x
	}
}

// text decodes a column of text into codes of its own, which hold for the row
// group.
type text struct {
	r *file.ByteArrayColumnChunkReader
	levels
	scratch []parquet.ByteArray
	seen    *columnar.Interner
	bytes   int
}

func (c *text) close() { _ = c.r.Close() }

func (c *text) read(n int, v *columnar.Values) error {
	if len(c.scratch) < n {
		c.scratch = make([]parquet.ByteArray, n)
	}
	v.Codes = make([]int32, n)
	for i := 0; i < n; {
		defs := c.room(n - i)
		rows, have, err := c.r.ReadBatchInPage(int64(n-i), c.scratch, defs, nil)
		if err != nil {
			return err
		}
		if rows <= 0 || rows > int64(n-i) {
			return errShort
		}
		k := 0
		for j := range int(rows) {
			if defs != nil && defs[j] == 0 {
				v.Codes[i+j] = -1
				continue
			}
			if k >= have {
				return errShort
			}
			code, err := c.code(c.scratch[k])
			if err != nil {
				return err
			}
			v.Codes[i+j] = code
			k++
		}
		if k != have {
			return errShort
		}
		i += int(rows)
	}
	v.Levels = c.seen.Names
	return nil
}

func (c *text) code(level []byte) (int32, error) {
	met := len(c.seen.Names)
	code := c.seen.Code(level)
	if int(code) == met {
		if c.bytes += len(level) + 64; c.bytes > columnar.LevelBytes {
			return 0, errors.New("the levels take more memory than allowed; leave out columns that name single rows")
		}
	}
	return code, nil
}
