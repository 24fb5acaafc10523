package operator

import (
	"strconv"
	"strings"

	"github.com/pho-go/pho/adapters/onnx/internal/graph"
)

// integer describes a type of whole numbers. Tensors hold them as int64; numbers of
// uint64 from 2^63 on as the int64 of the same bits.
type integer struct {
	bits     int
	unsigned bool
}

// integerOf reads the description off the type's ONNX name, so that it knows every type
// that the graph admits; ok is false for bool and for what is no integer.
func integerOf(t graph.DType) (i integer, ok bool) { return integerNamed(t.String()) }

func integerNamed(name string) (i integer, ok bool) {
	name, i.unsigned = strings.CutPrefix(name, "u")
	digits, ok := strings.CutPrefix(name, "int")
	bits, err := strconv.Atoi(digits)
	i.bits = bits
	return i, ok && err == nil && bits >= 2 && bits <= 64
}

// wrap is the number of that type with the lowest bits of v.
func (i integer) wrap(v int64) int64 {
	free := 64 - i.bits
	if i.unsigned {
		return int64(uint64(v) << free >> free)
	}
	return v << free >> free
}

// key orders the type's numbers: x < y if and only if key(x) < key(y).
func (i integer) key(v int64) int64 {
	if i.unsigned && i.bits == 64 {
		return v ^ -1<<63
	}
	return v
}

// least and most are the type's limits.
func (i integer) least() int64 {
	if i.unsigned {
		return 0
	}
	return -1 << (i.bits - 1)
}

func (i integer) most() int64 { return i.wrap(^i.least()) }

// real is the number as a float64.
func (i integer) real(v int64) float64 {
	if i.unsigned {
		return float64(uint64(v))
	}
	return float64(v)
}
