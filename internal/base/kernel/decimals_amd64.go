//go:build amd64 && !purego

package kernel

import "golang.org/x/sys/cpu"

//go:noescape
func decimalsAVX512(d *decimalTexts)

// hasDecimals: the system saves the registers of AVX-512.
func hasDecimals() bool {
	x := &cpu.X86
	return x.HasAVX512CD && x.HasAVX512IFMA && x.HasAVX512VBMI && x.HasAVX512VBMI2
}

func runDecimals(d *decimalTexts) { decimalsAVX512(d) }
