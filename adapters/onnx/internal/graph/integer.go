package graph

import "math"

// Bits is how many bits a number of the type has in a file.
func (t DType) Bits() int {
	switch t {
	case Int4, Uint4:
		return 4
	case Int8, Uint8, Bool:
		return 8
	case Int16, Uint16, Float16, BFloat16:
		return 16
	case Int32, Uint32, Float32:
		return 32
	}
	return 64
}

// Integer reports whether t is a type of integers.
func (t DType) Integer() bool {
	switch t {
	case Int4, Uint4, Int8, Uint8, Int16, Uint16, Int32, Uint32, Int64, Uint64:
		return true
	}
	return false
}

// Unsigned reports whether t is a type of integers without sign.
func (t DType) Unsigned() bool {
	switch t {
	case Uint4, Uint8, Uint16, Uint32, Uint64:
		return true
	}
	return false
}

// Limits are the least and the largest integer of t; of Uint64 the largest is that of
// Int64. Only for types of integers.
func (t DType) Limits() (lo, hi int64) {
	switch t {
	case Int4, Int8, Int16, Int32, Int64:
		return -1 << (t.Bits() - 1), 1<<(t.Bits()-1) - 1
	case Uint64:
		return 0, math.MaxInt64
	}
	return 0, 1<<t.Bits() - 1
}

// Wrap is the number of t that has the low bits of v, as integer arithmetic of t leaves
// it; of Bool whether v is not 0.
func (t DType) Wrap(v int64) int64 {
	switch t {
	case Bool:
		if v != 0 {
			return 1
		}
		return 0
	case Int64, Uint64:
		return v
	case Int4, Int8, Int16, Int32:
		unused := 64 - t.Bits()
		return v << unused >> unused
	}
	return v & (1<<t.Bits() - 1)
}

// WrapAll wraps every number of x.
func (t DType) WrapAll(x []int64) {
	switch t {
	case Int64, Uint64:
	case Int32:
		for i, v := range x {
			x[i] = int64(int32(v))
		}
	default:
		for i, v := range x {
			x[i] = t.Wrap(v)
		}
	}
}

// Number is what v, which holds an integer of type t, is as a number.
func (t DType) Number(v int64) float64 {
	if t == Uint64 {
		return float64(uint64(v))
	}
	return float64(v)
}

// Order maps the int64 that holds an integer of type t to one that compares as the integer does in t.
func (t DType) Order(v int64) int64 {
	if t == Uint64 {
		return v ^ math.MinInt64
	}
	return v
}

// Truncated is x without its fraction as an integer of type t, and whether x is not 0 as
// a Bool. NaN is 0. What 32 or 64 bits with a sign cannot hold becomes their limit;
// shorter types, and those without a sign, keep the low bits, as most runtimes do. (ONNX
// leaves both open.)
func (t DType) Truncated(x float64) int64 {
	switch {
	case t == Bool:
		if x != 0 {
			return 1
		}
		return 0
	case math.IsNaN(x):
		return 0
	case t == Int32:
		return int64(min(max(x, math.MinInt32), math.MaxInt32))
	case t == Uint64 && x >= math.MaxInt64:
		if x >= math.MaxUint64 {
			return -1
		}
		return int64(uint64(x))
	case x >= math.MaxInt64:
		return t.Wrap(math.MaxInt64)
	case x <= math.MinInt64:
		return t.Wrap(math.MinInt64)
	}
	return t.Wrap(int64(x))
}
