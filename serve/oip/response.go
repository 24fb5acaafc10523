package oip

import (
	"encoding/binary"
	"math"
	"strconv"
	"unicode/utf8"

	"github.com/pho-go/pho/internal/base/decimal"
)

// Response is an answer with tensors of float64.
type Response struct {
	Model, Version, ID string
	Outputs            []Result
	// Parameters are JSON already, an object; nil: none.
	Parameters []byte
}

// Result is an output: its columns, one after the other in rows of the shape [n, columns];
// a single column has the shape [n], unless Matrix.
type Result struct {
	Name    string
	Columns [][]float64
	Matrix  bool
	Binary  bool
}

// Append appends the answer to b, and says how many bytes of it are JSON; -1: all.
func (r *Response) Append(b []byte) (out []byte, header int) {
	start, binaries := len(b), false
	b = r.appendHead(b)
	b = append(b, `,"outputs":[`...)
	for i := range r.Outputs {
		if i > 0 {
			b = append(b, ',')
		}
		b = r.Outputs[i].appendJSON(b)
		binaries = binaries || r.Outputs[i].Binary
	}
	b = append(b, `]}`...)
	if !binaries {
		return b, -1
	}
	header = len(b) - start
	for i := range r.Outputs {
		if r.Outputs[i].Binary {
			b = r.Outputs[i].appendBinary(b)
		}
	}
	return b, header
}

// appendHead appends what stands before the outputs.
func (r *Response) appendHead(b []byte) []byte {
	b = append(b, `{"model_name":`...)
	b = AppendText(b, r.Model)
	b = append(b, `,"model_version":`...)
	b = AppendText(b, r.Version)
	if r.ID != "" {
		b = append(b, `,"id":`...)
		b = AppendText(b, r.ID)
	}
	if r.Parameters != nil {
		b = append(b, `,"parameters":`...)
		b = append(b, r.Parameters...)
	}
	return b
}

func (o *Result) rows() int {
	if len(o.Columns) == 0 {
		return 0
	}
	return len(o.Columns[0])
}

func (o *Result) appendJSON(b []byte) []byte {
	b = append(b, `{"name":`...)
	b = AppendText(b, o.Name)
	b = append(b, `,"datatype":"FP64","shape":[`...)
	b = strconv.AppendInt(b, int64(o.rows()), 10)
	if o.Matrix {
		b = append(b, ',')
		b = strconv.AppendInt(b, int64(len(o.Columns)), 10)
	}
	if o.Binary {
		b = append(b, `],"parameters":{"binary_data_size":`...)
		b = strconv.AppendInt(b, 8*int64(o.rows())*int64(len(o.Columns)), 10)
		return append(b, `}}`...)
	}
	b = append(b, `],"data":[`...)
	for i := range o.rows() {
		for j, c := range o.Columns {
			if i+j > 0 {
				b = append(b, ',')
			}
			b = AppendNumber(b, c[i])
		}
	}
	return append(b, `]}`...)
}

func (o *Result) appendBinary(b []byte) []byte {
	if len(o.Columns) == 1 {
		for _, v := range o.Columns[0] {
			b = binary.LittleEndian.AppendUint64(b, math.Float64bits(v))
		}
		return b
	}
	for i := range o.rows() {
		for _, c := range o.Columns {
			b = binary.LittleEndian.AppendUint64(b, math.Float64bits(c[i]))
		}
	}
	return b
}

// AppendNumber appends v so that reading it gives v; null if it is not finite.
func AppendNumber(b []byte, v float64) []byte {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return append(b, "null"...)
	}
	return decimal.Append(b, v)
}

// AppendText appends s as a JSON text.
func AppendText(b []byte, s string) []byte {
	const hex = "0123456789abcdef"
	b = append(b, '"')
	for i := 0; i < len(s); {
		c := s[i]
		if c >= utf8.RuneSelf {
			r, size := utf8.DecodeRuneInString(s[i:])
			b = utf8.AppendRune(b, r)
			i += size
			continue
		}
		switch {
		case c == '"' || c == '\\':
			b = append(b, '\\', c)
		case c < ' ':
			b = append(b, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
		default:
			b = append(b, c)
		}
		i++
	}
	return append(b, '"')
}
