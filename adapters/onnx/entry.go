package onnx

import (
	"fmt"
	"math"

	"github.com/pho-go/pho/internal/kernel"
)

// Round is the value of type t that is nearest to x, ties to even: for float infinite
// beyond its range. Types other than float leave x as it is: double holds it, and what
// integers hold is checked (integer).
func (t DType) Round(x float64) float64 {
	if t == Float32 {
		return float64(float32(x))
	}
	return x
}

// Largest is the largest finite value of a floating type; of others that of double.
func (t DType) Largest() float64 {
	if t == Float32 {
		return math.MaxFloat32
	}
	return math.MaxFloat64
}

// Enter rounds numbers to type t on their way into a tensor: dst[i*stride] is src[i].
func Enter[T kernel.Float](dst []T, stride int, src []float64, t DType) {
	if t == Float32 {
		for i, x := range src {
			dst[i*stride] = T(float32(x))
		}
		return
	}
	for i, x := range src {
		dst[i*stride] = T(x)
	}
}

// EntryType is the type that the numbers of a graph input are rounded to: the one it
// declares, or that of the Cast which all its readers are.
func (v *Value) EntryType() DType {
	if v.entry != 0 {
		return v.entry
	}
	return v.Type
}

// Narrows reports whether a conversion may change a number: float holds the integers
// up to 2^24 alone.
func Narrows(from, to DType) bool {
	return to == Float32 && (from == Float64 || from == Int64 || from == Int32)
}

// entries are the types that data columns are rounded to on their way into the
// network, by column. A column that different inputs would round differently is an
// error: the network would see two numbers where its terms have one.
func entries(g *Graph, bind Binding) (map[string]DType, error) {
	types, from := map[string]DType{}, map[string]*Value{}
	for i, v := range g.Inputs {
		t := v.EntryType()
		if !t.Floating() || i >= len(bind) {
			continue
		}
		for _, c := range bind[i].Columns {
			if have, ok := types[c]; ok && have != t {
				return nil, fmt.Errorf("onnx: column %q is bound to input %q, which takes %s, and to input %q, which takes %s: these round it differently; bind a copy of the column to one of them",
					c, from[c].Name, have, v.Name, t)
			}
			types[c], from[c] = t, v
		}
	}
	return types, nil
}
