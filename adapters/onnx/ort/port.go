package ort

import (
	"fmt"
	"math"
	goruntime "runtime"
	"slices"

	runtime "github.com/yalue/onnxruntime_go"

	"github.com/pho-go/pho/adapters/onnx"
)

// port is a tensor of a fixed number of rows that ONNX Runtime reads or writes.
type port interface {
	// bind gives ONNX Runtime its memory, which stays where it is until p unpins it.
	bind(p *goruntime.Pinner) (runtime.Value, error)
	// enter writes n rows, rows first, and fills the others with copies of the last.
	enter(src []float64, n int) error
	// leave reads the first n rows, rows first.
	leave(dst []float64, n int)
}

// newPort is the tensor t of g with so many rows; nil for a type that is none of these.
func newPort(g *onnx.Graph, t onnx.Tensor, rows int) port {
	switch t.Type {
	case "float":
		return newNumbers[float32](g, t, rows, fromFloat)
	case "double":
		return newNumbers[float64](g, t, rows, fromFloat)
	case "int8":
		return newNumbers[int8](g, t, rows, fromInteger)
	case "uint8":
		return newNumbers[uint8](g, t, rows, fromInteger)
	case "int16":
		return newNumbers[int16](g, t, rows, fromInteger)
	case "uint16":
		return newNumbers[uint16](g, t, rows, fromInteger)
	case "int32":
		return newNumbers[int32](g, t, rows, fromInteger)
	case "uint32":
		return newNumbers[uint32](g, t, rows, fromInteger)
	case "int64":
		return newNumbers[int64](g, t, rows, fromInteger)
	case "uint64":
		return newNumbers[uint64](g, t, rows, fromInteger)
	case "bool":
		return &truths{numbers: *newNumbers[uint8](g, t, rows, fromTruth)}
	}
	return nil
}

type number interface {
	float32 | float64 | int8 | uint8 | int16 | uint16 | int32 | uint32 | int64 | uint64
}

// numbers is a port of elements T.
type numbers[T number] struct {
	data         []T
	shape        runtime.Shape
	outer, inner int // elements of a row before and after the batch axis
	rows         int
	from         func(dst []T, src []float64) error
}

// batchAxis is the axis that holds the rows, some of them several times: its size is
// negative.
func batchAxis(t onnx.Tensor) int {
	return slices.IndexFunc(t.Shape, func(d int) bool { return d < 0 })
}

func newNumbers[T number](g *onnx.Graph, t onnx.Tensor, rows int, from func(dst []T, src []float64) error) *numbers[T] {
	p := &numbers[T]{rows: rows, from: from, data: make([]T, rows*t.Width())}
	p.outer, p.inner = g.RowLayout(t.Name)
	at := batchAxis(t)
	for i, d := range t.Shape {
		switch {
		case i < at:
			p.outer *= d
		case i > at:
			p.inner *= d
		default:
			d *= onnx.Batch * rows
		}
		p.shape = append(p.shape, int64(d))
	}
	return p
}

func (p *numbers[T]) bind(pin *goruntime.Pinner) (runtime.Value, error) {
	p.pin(pin)
	return runtime.NewTensor(p.shape, p.data)
}

// pin keeps the memory where it is, as C needs it.
func (p *numbers[T]) pin(pin *goruntime.Pinner) {
	if len(p.data) > 0 {
		pin.Pin(&p.data[0])
	}
}

func (p *numbers[T]) enter(src []float64, n int) error {
	width := p.outer * p.inner
	for r := range p.rows {
		from := src[min(r, n-1)*width:]
		for o := range p.outer {
			if err := p.from(p.data[(o*p.rows+r)*p.inner:], from[o*p.inner:(o+1)*p.inner]); err != nil {
				return fmt.Errorf("row %d: %w", r, err)
			}
		}
	}
	return nil
}

func (p *numbers[T]) leave(dst []float64, n int) {
	width := p.outer * p.inner
	for r := range n {
		for o := range p.outer {
			for i, v := range p.data[(o*p.rows+r)*p.inner:][:p.inner] {
				dst[r*width+o*p.inner+i] = float64(v)
			}
		}
	}
}

// truths are booleans, one byte each, 0 or 1.
type truths struct{ numbers[uint8] }

func (p *truths) bind(pin *goruntime.Pinner) (runtime.Value, error) {
	p.pin(pin)
	return runtime.NewCustomDataTensor(p.shape, p.data, runtime.TensorElementDataTypeBool)
}

func fromFloat[T float32 | float64](dst []T, src []float64) error {
	for i, x := range src {
		dst[i] = T(x)
	}
	return nil
}

// fromInteger converts exactly or not at all.
func fromInteger[T int8 | uint8 | int16 | uint16 | int32 | uint32 | int64 | uint64](dst []T, src []float64) error {
	for i, x := range src {
		v := T(x)
		if !(math.Abs(x) <= 1<<53) || float64(v) != x {
			return fmt.Errorf("%g is not a value of type %T", x, v)
		}
		dst[i] = v
	}
	return nil
}

func fromTruth(dst []uint8, src []float64) error {
	for i, x := range src {
		if x != 0 && x != 1 {
			return fmt.Errorf("%g is not a value of type bool", x)
		}
		dst[i] = uint8(x)
	}
	return nil
}
