//go:build (!amd64 && !arm64) || purego

package kernel

func runUnit[T Float](isa, *unitTile) {}

func runPrefetch(*prefetch) {}

func runTurn[T Float](*turning) {}

func runUnitDot[T Float](*unitDot) {}

func runOneInput[T Float](*unitDot) {}
