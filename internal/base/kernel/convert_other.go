//go:build (!amd64 && !arm64) || purego

package kernel

func runToFloat32(*conversion) {}

func runToFloat64(*conversion) {}

func runRound(*conversion) {}
