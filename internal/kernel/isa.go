package kernel

//go:generate go run ./gen

// isa is the instruction set that a call runs on. Fused multiply-adds make the
// results of avx2 and avx512 equal bit for bit; plain rounds products first.
type isa uint8

const (
	plain  isa = iota // Go
	avx2              // AVX2 and FMA
	avx512            // AVX-512 F, BW, DQ and VL
)

func (s isa) String() string { return [...]string{"plain", "avx2", "avx512"}[s] }

// vector is the size of a vector register in bytes.
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
	case s == avx2 && left >= 6:
		return 6
	case left >= 4:
		return 4
	case left >= 2:
		return 2
	}
	return 1
}
