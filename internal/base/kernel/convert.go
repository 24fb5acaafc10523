package kernel

import "unsafe"

// conversion is the argument of the assembly that moves numbers between float64 and
// float32. It knows the offsets of the fields.
type conversion struct {
	dst, src unsafe.Pointer
	n        uintptr // a multiple of 8, at least 8
}

// ToFloat32 rounds src to float32, infinite beyond its range; dst is as long.
func ToFloat32(dst []float32, src []float64) { toFloat32(best(), dst, src) }

func toFloat32(s isa, dst []float32, src []float64) {
	dst = dst[:len(src)]
	i := len(src) &^ 7
	if s == plain || i == 0 {
		i = 0
	} else {
		runToFloat32(&conversion{at(dst, 0), at(src, 0), uintptr(i)})
	}
	for i := i; i < len(src); i++ {
		dst[i] = float32(src[i])
	}
}

// ToFloat64 sets dst to the numbers of src; dst is as long.
func ToFloat64(dst []float64, src []float32) { toFloat64(best(), dst, src) }

func toFloat64(s isa, dst []float64, src []float32) {
	dst = dst[:len(src)]
	i := len(src) &^ 7
	if s == plain || i == 0 {
		i = 0
	} else {
		runToFloat64(&conversion{at(dst, 0), at(src, 0), uintptr(i)})
	}
	for i := i; i < len(src); i++ {
		dst[i] = float64(src[i])
	}
}

// RoundToFloat32 sets dst to the numbers of float32 nearest to src, infinite beyond their
// range. dst may be src.
func RoundToFloat32(dst, src []float64) { roundToFloat32(best(), dst, src) }

func roundToFloat32(s isa, dst, src []float64) {
	dst = dst[:len(src)]
	i := len(src) &^ 7
	if s == plain || i == 0 {
		i = 0
	} else {
		runRound(&conversion{at(dst, 0), at(src, 0), uintptr(i)})
	}
	for i := i; i < len(src); i++ {
		dst[i] = float64(float32(src[i]))
	}
}
