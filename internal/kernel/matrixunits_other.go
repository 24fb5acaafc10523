//go:build !amd64 || purego

package kernel

func matrixUnits() bool { return false }

func runUnit(*unitBlock, int) {}

func runSplit(*splitRows, bool) {}
