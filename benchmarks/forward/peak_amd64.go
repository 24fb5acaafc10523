//go:build !purego

package main

import "golang.org/x/sys/cpu"

// fma512 and fma256 run n turns of twelve multiply-adds of registers.
func fma512(n int)
func fma256(n int)

// registerAdds is a loop of so many vector multiply-adds of registers a turn, of vectors of so
// many bytes; nil: there is none for this processor.
func registerAdds() (run func(n int), many, bytes int) {
	switch {
	case cpu.X86.HasAVX512F:
		return fma512, 12, 64
	case cpu.X86.HasAVX2 && cpu.X86.HasFMA:
		return fma256, 12, 32
	}
	return nil, 0, 0
}
