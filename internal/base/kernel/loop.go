package kernel

import "unsafe"

// loop is the argument of the assembly that runs one elementwise operation.
type loop[T Float] struct {
	dst, a, b unsafe.Pointer
	n         uintptr // elements: whole vectors of them, at least one
	op        operation
	scalar    T // dot leaves its result here
	second    T
}

// operation numbers the loops of the assembly.
type operation uintptr

const (
	opAdd operation = iota // dst = a + b
	opAddScalar
	opSub
	opSubScalar // a - scalar
	opScalarSub // scalar - a
	opMul
	opMulScalar
	opDiv
	opDivScalar
	opScalarDiv
	opMax // the larger; either if one is NaN
	opRelu
	opLeakyRelu // scalar times what is negative
	opAtLeast   // scalar where a is less
	opAtMost    // scalar where a is more
	opAxpy      // dst += scalar a, fused
	opDot
	opExp // the first of the functions
	opSigmoid
	opTanh
	opSiLU
	opSoftplus
	opElu // scalar times exp(a) - 1 for what is negative
	opErf
	opGelu
	opGeluTanh
	opMish
	opSoftsign
	opHardSigmoid // scalar a + second
	opHardSwish
	opXLogX // of float64 alone

	lastFunction = opXLogX
)

// runOperation runs l in the assembly that has its operation.
func runOperation[T Float](s isa, l *loop[T]) {
	if l.op >= opExp {
		runFunction(s, l)
	} else {
		runLoop(s, l)
	}
}

// wholeVectors runs an operation on as many elements as fill whole vectors and returns how
// many those were: the rest is up to the caller. b may be nil if the operation does not
// read it.
func wholeVectors[T Float](s isa, op operation, dst, a, b []T, scalar T) int {
	n := len(a)
	if s == plain {
		return 0
	}
	if n -= n % lanes[T](s); n == 0 {
		return 0
	}
	l := loop[T]{dst: at(dst, 0), a: at(a, 0), b: at(b, 0), n: uintptr(n), op: op, scalar: scalar}
	runOperation(s, &l)
	return n
}

// paddedVectors is wholeVectors of l's operation and scalars, with the rest in a vector that is
// filled up with zeros: all elements go through the same instructions, wherever they are.
func paddedVectors[T Float](s isa, l loop[T], dst, a []T) {
	n := len(a) - len(a)%lanes[T](s)
	if n > 0 {
		l.dst, l.a, l.n = at(dst, 0), at(a, 0), uintptr(n)
		runOperation(s, &l)
	}
	if n == len(a) {
		return
	}
	var x, y [64 / 4]T
	copy(x[:], a[n:])
	copy(y[:], dst[n:])
	l.dst, l.a, l.n = at(y[:], 0), at(x[:], 0), uintptr(lanes[T](s))
	runOperation(s, &l)
	copy(dst[n:], y[:len(a)-n])
}
