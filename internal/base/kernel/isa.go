package kernel

//go:generate go run ./gen

// isa is the instruction set that a call runs on.
//
// avx2, avx512 and neon give the same bits in every function of this package: the same
// fused multiply-adds in the same order, whatever the length of their vectors. (Which NaN a
// result is, is not said.) plain rounds products before it adds them, uses package math in the functions of one number (Exp, Gelu, ...), and
// adds up a Dot in order: its results equal those of avx2 up to rounding. Functions without
// such sums (Add, Relu, Splines, MulBand, MulBandRows, RowDots, AddBilinear, AdamStep) give the same bits everywhere.
// Statistics and artifacts so have the same bytes with avx2 and avx512. Those of arm64 agree to
// rounding: Go fuses multiply-adds there outside of this package.
type isa uint8

const (
	plain  isa = iota // Go
	avx2              // AVX2, FMA and BMI1
	avx512            // AVX-512 F, BW, DQ and VL
	neon              // ASIMD of arm64
)

func (s isa) String() string { return [...]string{"plain", "avx2", "avx512", "neon"}[s] }

// vector is the size of a vector in bytes: a register, or on neon two of them, so that
// shapes and sums are those of avx2.
func (s isa) vector() int {
	if s == avx512 {
		return 64
	}
	return 32
}

// height is the number of rows of the next tile when left are left.
func (s isa) height(left int) int {
	switch {
	case s == avx512 && left >= 12:
		return 12
	case s == avx512 && left >= 8:
		return 8
	case (s == avx2 || s == neon) && left >= 6:
		return 6
	case left >= 4:
		return 4
	case left >= 2:
		return 2
	}
	return 1
}
