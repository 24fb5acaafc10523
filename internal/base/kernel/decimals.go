package kernel

import "unsafe"

// DecimalRoom is how many bytes of dst WriteDecimals wants for a number.
const DecimalRoom = 32

// PowersOfTen are those from 10^-65 to 10^65, each times the power of two that makes it a number of 128 bits,
// rounded down: the upper 64 and the lower.
type PowersOfTen [131][2]uint64

// WritesDecimals reports whether WriteDecimals does anything on this machine.
func WritesDecimals() bool { return best() == avx512 && hasDecimals() }

// WriteDecimals writes the shortest decimals that read back as v to dst, as strconv.AppendFloat does with format 'g', and behind each
// the byte that behind has for it. It ends before the first number that it cannot tell the decimal of: one that is not finite, below 1e-47 or above 1e75, a
// power of two of more than 16 digits, or, seldom, another one. dst has DecimalRoom bytes for each of v, all of which it may
// overwrite. done is how many numbers are written, in n bytes.
func WriteDecimals(dst []byte, v []float64, behind []byte, powers *PowersOfTen) (done, n int) {
	if len(v) == 0 || !WritesDecimals() {
		return 0, 0
	}
	_, _ = dst[:len(v)*DecimalRoom], behind[:len(v)]
	d := decimalTexts{
		dst: unsafe.Pointer(&dst[0]), values: unsafe.Pointer(&v[0]), n: uintptr(len(v)),
		behind: unsafe.Pointer(&behind[0]), powers: unsafe.Pointer(powers),
	}
	runDecimals(&d)
	return len(v) - int(d.n), int(uintptr(d.dst) - uintptr(unsafe.Pointer(&dst[0])))
}

// decimalTexts is the argument of the assembly that writes decimals. It knows the offsets of the fields.
type decimalTexts struct {
	dst    unsafe.Pointer // then what is behind the last text
	values unsafe.Pointer // float64
	n      uintptr        // of them, at least one; then those left from the first on that has no text here
	behind unsafe.Pointer // a byte for each number
	powers unsafe.Pointer // *PowersOfTen
	// Memory for 16 texts in the making, in whole lines of the cache.
	scratch [16*(32+8+8) + 63]byte //lint:ignore U1000 the assembly's
}
