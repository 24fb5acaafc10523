//go:build linux && amd64 && !purego

package kernel

import "maps"

// entryPoints are the functions of the assembly by name, with the shapes that their
// argument types allow.
func entryPoints() map[string]entryPoint {
	points := map[string]entryPoint{
		"transposeF64AVX2": {avx2, transposes[float64](transposeF64AVX2)},
		"transposeF32AVX2": {avx2, transposes[float32](transposeF32AVX2)},

		"bandOuterAVX512":  {avx512, outers(bandOuterAVX512)},
		"bandOuterAVX2":    {avx2, outers(bandOuterAVX2)},
		"bandScaleAVX512":  {avx512, scales(bandScaleAVX512)},
		"bandScaleAVX2":    {avx2, scales(bandScaleAVX2)},
		"bandFoldAVX2":     {avx2, folds},
		"bandNormAVX2":     {avx2, norms(bandNormAVX2)},
		"bandSplineAVX512": {avx512, splinesOf(bandSplineAVX512, avx512)},
		"bandSplineAVX2":   {avx2, splinesOf(bandSplineAVX2, avx2)},
		"boundsAVX2":       {avx2, boundsOf(boundsAVX2)},
		"bandMulAVX2":      {avx2, bandMuls(bandMulAVX2)},
		"rowDotsAVX512":    {avx512, rowSumsOf(rowDotsAVX512)},
		"rowDotsAVX2":      {avx2, rowSumsOf(rowDotsAVX2)},
		"rowSizesAVX512":   {avx512, rowSumsOf(rowSizesAVX512)},
		"rowSizesAVX2":     {avx2, rowSumsOf(rowSizesAVX2)},
		"bandRowsAVX512":   {avx512, bandRowsOf(bandRowsAVX512)},
		"bandRowsAVX2":     {avx2, bandRowsOf(bandRowsAVX2)},
		"bilinearAVX2":     {avx2, bilinears},
		"scatterAVX512":    {avx512, scatters(scatterAVX512)},
		"scatterAVX2":      {avx2, scatters(scatterAVX2)},
		"scatterBandAVX2":  {avx2, scatterBands(scatterBandAVX2)},

		"lookUpAVX512":    {avx512, lookUpCases},
		"decimalsAVX512":  {avx512, decimalCases},
		"treesAVX512":     {avx512, treeWalks(treesAVX512, inRegisters)},
		"wideTreesAVX512": {avx512, treeWalks(wideTreesAVX512, 1, 5, 40)},

		"toFloat32AVX2": {avx2, conversions[float32, float64](toFloat32AVX2)},
		"toFloat64AVX2": {avx2, conversions[float64, float32](toFloat64AVX2)},
		"roundAVX2":     {avx2, conversions[float64, float64](roundAVX2)},
	}
	precision := func(name string, of map[string]entryPoint) {
		for k, p := range of {
			points[name+k] = p
		}
	}
	precision("tile", map[string]entryPoint{
		"F64AVX512": {avx512, tiles[float64](tileF64AVX512, avx512)}, "F32AVX512": {avx512, tiles[float32](tileF32AVX512, avx512)},
		"F64AVX2": {avx2, tiles[float64](tileF64AVX2, avx2)}, "F32AVX2": {avx2, tiles[float32](tileF32AVX2, avx2)},
	})
	precision("line", map[string]entryPoint{
		"F64AVX512": {avx512, lines[float64](lineF64AVX512, avx512)}, "F32AVX512": {avx512, lines[float32](lineF32AVX512, avx512)},
		"F64AVX2": {avx2, lines[float64](lineF64AVX2, avx2)}, "F32AVX2": {avx2, lines[float32](lineF32AVX2, avx2)},
	})
	precision("lookUpSum", map[string]entryPoint{
		"F64AVX512": {avx512, lookUpSums[float64](lookUpSumF64AVX512, avx512)}, "F32AVX512": {avx512, lookUpSums[float32](lookUpSumF32AVX512, avx512)},
		"F64AVX2": {avx2, lookUpSums[float64](lookUpSumF64AVX2, avx2)}, "F32AVX2": {avx2, lookUpSums[float32](lookUpSumF32AVX2, avx2)},
	})
	precision("nonzeros", map[string]entryPoint{
		"F64AVX512": {avx512, nonzerosOf[float64](nonzerosF64AVX512)}, "F32AVX512": {avx512, nonzerosOf[float32](nonzerosF32AVX512)},
		"F64AVX2": {avx2, nonzerosOf[float64](nonzerosF64AVX2)}, "F32AVX2": {avx2, nonzerosOf[float32](nonzerosF32AVX2)},
	})
	precision("sparse", map[string]entryPoint{
		"2x1F64AVX512": {avx512, sparses[float64](sparse2x1F64AVX512, 2, 1, avx512)}, "2x1F32AVX512": {avx512, sparses[float32](sparse2x1F32AVX512, 2, 1, avx512)},
		"3x1F64AVX512": {avx512, sparses[float64](sparse3x1F64AVX512, 3, 1, avx512)}, "3x1F32AVX512": {avx512, sparses[float32](sparse3x1F32AVX512, 3, 1, avx512)},
		"4x1F64AVX512": {avx512, sparses[float64](sparse4x1F64AVX512, 4, 1, avx512)}, "4x1F32AVX512": {avx512, sparses[float32](sparse4x1F32AVX512, 4, 1, avx512)},
		"5x1F64AVX512": {avx512, sparses[float64](sparse5x1F64AVX512, 5, 1, avx512)}, "5x1F32AVX512": {avx512, sparses[float32](sparse5x1F32AVX512, 5, 1, avx512)},
		"6x1F64AVX512": {avx512, sparses[float64](sparse6x1F64AVX512, 6, 1, avx512)}, "6x1F32AVX512": {avx512, sparses[float32](sparse6x1F32AVX512, 6, 1, avx512)},
		"2x2F64AVX512": {avx512, sparses[float64](sparse2x2F64AVX512, 2, 2, avx512)}, "2x2F32AVX512": {avx512, sparses[float32](sparse2x2F32AVX512, 2, 2, avx512)},
		"3x2F64AVX512": {avx512, sparses[float64](sparse3x2F64AVX512, 3, 2, avx512)}, "3x2F32AVX512": {avx512, sparses[float32](sparse3x2F32AVX512, 3, 2, avx512)},
		"4x2F64AVX512": {avx512, sparses[float64](sparse4x2F64AVX512, 4, 2, avx512)}, "4x2F32AVX512": {avx512, sparses[float32](sparse4x2F32AVX512, 4, 2, avx512)},
		"3x1F64AVX2": {avx2, sparses[float64](sparse3x1F64AVX2, 3, 1, avx2)}, "3x1F32AVX2": {avx2, sparses[float32](sparse3x1F32AVX2, 3, 1, avx2)},
		"4x1F64AVX2": {avx2, sparses[float64](sparse4x1F64AVX2, 4, 1, avx2)}, "4x1F32AVX2": {avx2, sparses[float32](sparse4x1F32AVX2, 4, 1, avx2)},
		"5x1F64AVX2": {avx2, sparses[float64](sparse5x1F64AVX2, 5, 1, avx2)}, "5x1F32AVX2": {avx2, sparses[float32](sparse5x1F32AVX2, 5, 1, avx2)},
		"6x1F64AVX2": {avx2, sparses[float64](sparse6x1F64AVX2, 6, 1, avx2)}, "6x1F32AVX2": {avx2, sparses[float32](sparse6x1F32AVX2, 6, 1, avx2)},
		"3x2F64AVX2": {avx2, sparses[float64](sparse3x2F64AVX2, 3, 2, avx2)}, "3x2F32AVX2": {avx2, sparses[float32](sparse3x2F32AVX2, 3, 2, avx2)},
	})
	precision("pack", map[string]entryPoint{
		"F64AVX512": {avx512, packs[float64](packF64AVX512, avx512)}, "F32AVX512": {avx512, packs[float32](packF32AVX512, avx512)},
		"F64AVX2": {avx2, packs[float64](packF64AVX2, avx2)}, "F32AVX2": {avx2, packs[float32](packF32AVX2, avx2)},
	})
	precision("loop", map[string]entryPoint{
		"F64AVX512": {avx512, loops(loopF64AVX512, avx512)}, "F32AVX512": {avx512, loops(loopF32AVX512, avx512)},
		"F64AVX2": {avx2, loops(loopF64AVX2, avx2)}, "F32AVX2": {avx2, loops(loopF32AVX2, avx2)},
	})
	precision("function", map[string]entryPoint{
		"F64AVX512": {avx512, functions(functionF64AVX512, avx512)}, "F32AVX512": {avx512, functions(functionF32AVX512, avx512)},
		"F64AVX2": {avx2, functions(functionF64AVX2, avx2)}, "F32AVX2": {avx2, functions(functionF32AVX2, avx2)},
	})
	precision("column", map[string]entryPoint{
		"F64AVX512": {avx512, columns(columnF64AVX512)}, "F32AVX512": {avx512, columns(columnF32AVX512)},
		"F64AVX2": {avx2, columns(columnF64AVX2)}, "F32AVX2": {avx2, columns(columnF32AVX2)},
	})
	precision("rankOne", map[string]entryPoint{
		"F64AVX512": {avx512, rankOnes(rankOneF64AVX512, avx512)}, "F32AVX512": {avx512, rankOnes(rankOneF32AVX512, avx512)},
		"F64AVX2": {avx2, rankOnes(rankOneF64AVX2, avx2)}, "F32AVX2": {avx2, rankOnes(rankOneF32AVX2, avx2)},
	})
	maps.Copy(points, map[string]entryPoint{
		"adamF64AVX2": {avx2, adams(adamF64AVX2, avx2)}, "adamF32AVX2": {avx2, adams(adamF32AVX2, avx2)},
		"adamF64AVX512": {avx512, adams(adamF64AVX512, avx512)}, "adamF32AVX512": {avx512, adams(adamF32AVX512, avx512)},
		"reluGradF64AVX2": {avx2, reluGrads(reluGradF64AVX2)}, "reluGradF32AVX2": {avx2, reluGrads(reluGradF32AVX2)},
		"sumRowsF64AVX2": {avx2, sumRowsCases[float64](sumRowsF64AVX2)}, "sumRowsF32AVX2": {avx2, sumRowsCases[float32](sumRowsF32AVX2)},
	})
	maps.Copy(points, unitPoints())
	maps.Copy(points, matrixUnitPoints())
	return points
}

// unitPoints are the entry points of what training goes through.
func unitPoints() map[string]entryPoint {
	points := map[string]entryPoint{
		"turnF64AVX512": {avx512, turns[float64](turnF64AVX512)}, "turnF32AVX512": {avx512, turns[float32](turnF32AVX512)},
		"unitDotF64AVX512": {avx512, unitDots[float64](unitDotF64AVX512)}, "unitDotF32AVX512": {avx512, unitDots[float32](unitDotF32AVX512)},
		"oneInputF64AVX512": {avx512, oneInputs[float64](oneInputF64AVX512)}, "oneInputF32AVX512": {avx512, oneInputs[float32](oneInputF32AVX512)},
		"prefetchRowsAVX2": {avx2, prefetches},
	}
	maps.Copy(points, map[string]entryPoint{
		"unitF64AVX512": {avx512, unitTiles[float64](unitF64AVX512, avx512)}, "unitF32AVX512": {avx512, unitTiles[float32](unitF32AVX512, avx512)},
		"unitF64AVX2": {avx2, unitTiles[float64](unitF64AVX2, avx2)}, "unitF32AVX2": {avx2, unitTiles[float32](unitF32AVX2, avx2)},
	})
	return points
}
