//go:build arm64 && !purego

package kernel

// best is neon: every arm64 processor has ASIMD.
func best() isa { return neon }
