package boosters

import (
	"fmt"
	"math"

	"github.com/pho-go/pho/internal/base/onnxpb"
)

// table holds numbers that columns choose together, each a further feature of the model. They are a row of it, found by a
// key: from 0 on, of each digit b of a row, modulo 2^64,
//
//	key <- mixer (key + mixer b).
type table struct {
	digits []digit
	mixer  uint64
	keys   []int64
	width  int
	values []float64 // (keys + 1) x width; the last row is that of all other keys
}

// digit is the code of a column of text; or 1 or 0, as an answer: whether a number is above the border, which a missing one
// is if missing says so, or whether the code is the value.
type digit struct {
	column  int32
	kind    digitKind
	border  float64
	missing bool
	value   int64
}

type digitKind uint8

const (
	codeItself digitKind = iota
	isAbove
	isValue
)

// table writes t and returns its rows' numbers, rows x width.
func (w *writer) table(k int, t *table) string {
	name := func(what string, i int) string { return fmt.Sprintf("table %d, %s %d", k, what, i) }
	mixer := w.integer(int64(t.mixer))
	key := ""
	for i := range t.digits {
		b := w.node(name("term", i), "Mul", w.digit(&t.digits[i]), mixer)
		if key != "" {
			b = w.node(name("sum", i), "Add", key, b)
		}
		key = w.node(name("key", i), "Mul", b, mixer)
	}
	rows := make([]int64, len(t.keys))
	for i := range rows {
		rows[i] = int64(i)
	}
	row := prefix + name("row of", len(rows))
	w.AddNodes("ai.onnx.ml", "LabelEncoder", []string{key}, []string{row}, onnxpb.Ints("keys_int64s", t.keys...), onnxpb.Ints("values_int64s", rows...), onnxpb.Int("default_int64", int64(len(rows))))
	values := w.node(name("values of", len(rows)), "Gather", w.constant(name("numbers of", len(rows)), []int{len(rows) + 1, t.width}, t.values...), row)
	return w.node(name("features of", t.width), "Flatten", values)
}

// integer is a constant.
func (w *writer) integer(v int64) string {
	name := fmt.Sprintf("%s%d", prefix, v)
	if !w.Has(name) {
		w.AddIntegers(name, onnxpb.TensorProto_INT64, nil, v)
	}
	return name
}

// digit writes d as whole numbers, rows x 1.
func (w *writer) digit(d *digit) string {
	column := &w.columns[d.column]
	whole := func(name string, write func() string) string {
		if name = prefix + name; !w.Has(name) {
			w.AddNode("Cast", []string{write()}, name, onnxpb.Int("to", int64(onnxpb.TensorProto_INT64)))
		}
		return name
	}
	code := func() string {
		return whole(fmt.Sprintf("code %d", d.column), func() string { return w.textNumber("code of "+column.name, column.name, column.code) })
	}
	switch d.kind {
	case isAbove:
		name := fmt.Sprintf("number %d above %v", d.column, d.border)
		return whole(name, func() string {
			above := w.node(name+"?", "Greater", column.name, w.constant(name+", border", nil, d.border))
			if d.missing {
				above = w.node(name+" or missing?", "Or", above, w.node(name+", missing", "IsNaN", column.name))
			}
			return above
		})
	case isValue:
		name := fmt.Sprintf("code %d is %d", d.column, d.value)
		return whole(name, func() string { return w.node(name+"?", "Equal", code(), w.integer(d.value)) })
	}
	return code()
}

// check makes errors of what a damaged file may hold.
func (t *table) check() error {
	if len(t.keys) == 0 || len(t.digits) == 0 {
		return fmt.Errorf("a table of categories has %d keys of %d columns", len(t.keys), len(t.digits))
	}
	for _, v := range t.values {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return fmt.Errorf("a statistic of a category is %v", v)
		}
	}
	return nil
}
