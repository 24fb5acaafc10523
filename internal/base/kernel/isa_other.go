//go:build (!amd64 && !arm64) || purego

package kernel

func best() isa { return plain }

func runTile[T Float](isa, *tile) {}

func runPack[T Float](isa, *pack) {}

func runLoop[T Float](isa, *loop[T]) {}

func runColumn[T Float](isa, *column[T]) {}

func runRankOne[T Float](isa, *rankOne[T]) {}

func runTranspose(*squares) {}

func runOuter(isa, *band) {}

func runScaled(isa, *band) {}

func runFold(*band) {}

func runNorm(*band) {}

func runSpline(isa, *spline) {}

func runBounds(*band) {}

func runMulBand(*band) {}

func runMulBandRows(isa, *band) {}

func runRowDots(isa, *rowSums) {}

func runRowSizes(isa, *rowSums) {}

func runScatter(isa, *scatter) {}

func runScatterBand(*scatter) {}
