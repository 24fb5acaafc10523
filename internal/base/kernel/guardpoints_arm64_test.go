//go:build linux && arm64 && !purego

package kernel

// entryPoints are the functions of the assembly by name, with the shapes that their
// argument types allow.
func entryPoints() map[string]entryPoint {
	return map[string]entryPoint{
		"tileF64NEON": {neon, tiles[float64](tileF64NEON, neon)}, "tileF32NEON": {neon, tiles[float32](tileF32NEON, neon)},
		"packF64NEON": {neon, packs[float64](packF64NEON, neon)}, "packF32NEON": {neon, packs[float32](packF32NEON, neon)},
		"loopF64NEON": {neon, loops(loopF64NEON, neon)}, "loopF32NEON": {neon, loops(loopF32NEON, neon)},
		"functionF64NEON": {neon, functions(functionF64NEON, neon)}, "functionF32NEON": {neon, functions(functionF32NEON, neon)},
		"columnF64NEON": {neon, columns(columnF64NEON)}, "columnF32NEON": {neon, columns(columnF32NEON)},
		"rankOneF64NEON": {neon, rankOnes(rankOneF64NEON, neon)}, "rankOneF32NEON": {neon, rankOnes(rankOneF32NEON, neon)},

		"transposeF64NEON": {neon, transposes[float64](transposeF64NEON)},
		"transposeF32NEON": {neon, transposes[float32](transposeF32NEON)},
		"bandOuterNEON":    {neon, outers(bandOuterNEON)},
		"bandScaleNEON":    {neon, scales(bandScaleNEON)},
		"bandFoldNEON":     {neon, folds},
		"bandNormNEON":     {neon, norms(bandNormNEON)},
		"bandSplineNEON":   {neon, splinesOf(bandSplineNEON, neon)},
		"boundsNEON":       {neon, boundsOf(boundsNEON)},
		"bandMulNEON":      {neon, bandMuls(bandMulNEON)},
		"rowDotsNEON":      {neon, rowSumsOf(rowDotsNEON)},
		"rowSizesNEON":     {neon, rowSumsOf(rowSizesNEON)},
		"bandRowsNEON":     {neon, bandRowsOf(bandRowsNEON)},
		"bilinearNEON":     {neon, bilinears},
		"scatterNEON":      {neon, scatters(scatterNEON)},
		"scatterBandNEON":  {neon, scatterBands(scatterBandNEON)},

		"toFloat32NEON": {neon, conversions[float32, float64](toFloat32NEON)},
		"toFloat64NEON": {neon, conversions[float64, float32](toFloat64NEON)},
		"roundNEON":     {neon, conversions[float64, float64](roundNEON)},
		"lineF64NEON":   {neon, lines[float64](lineF64NEON, neon)}, "lineF32NEON": {neon, lines[float32](lineF32NEON, neon)},

		"adamF64NEON": {neon, adams(adamF64NEON, neon)}, "adamF32NEON": {neon, adams(adamF32NEON, neon)},
		"reluGradF64NEON": {neon, reluGrads(reluGradF64NEON)}, "reluGradF32NEON": {neon, reluGrads(reluGradF32NEON)},
		"unitF64NEON": {neon, unitTiles[float64](unitF64NEON, neon)}, "unitF32NEON": {neon, unitTiles[float32](unitF32NEON, neon)},
		"lookUpSumF64NEON": {neon, lookUpSums[float64](lookUpSumF64NEON, neon)}, "lookUpSumF32NEON": {neon, lookUpSums[float32](lookUpSumF32NEON, neon)},
		"sumRowsF64NEON": {neon, sumRowsCases[float64](sumRowsF64NEON)}, "sumRowsF32NEON": {neon, sumRowsCases[float32](sumRowsF32NEON)},
	}
}
