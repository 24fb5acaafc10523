//go:build amd64 && !purego

package kernel

import "golang.org/x/sys/cpu"

// best is the widest instruction set that processor and operating system have.
func best() isa {
	x := &cpu.X86
	switch {
	// The package reports AVX and AVX-512 only if the system saves their
	// registers; FMA has no such check of its own.
	case !x.HasAVX || !x.HasAVX2 || !x.HasFMA || !x.HasBMI1:
		return plain
	case x.HasAVX512F && x.HasAVX512BW && x.HasAVX512DQ && x.HasAVX512VL:
		return avx512
	}
	return avx2
}

// hasDecimals: the system saves the registers of AVX-512.
func hasDecimals() bool {
	x := &cpu.X86
	return x.HasAVX512CD && x.HasAVX512IFMA && x.HasAVX512VBMI && x.HasAVX512VBMI2
}
