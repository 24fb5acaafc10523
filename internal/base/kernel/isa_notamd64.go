//go:build !amd64 || purego

package kernel

func hasDecimals() bool { return false }

func matrixUnits() bool { return false }

func runUnitBlock(*unitBlock, int) {}

func runSplit(*splitRows, bool) {}
