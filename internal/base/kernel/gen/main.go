// Command gen writes the assembly of package kernel, and the Go that calls it. It needs nothing but Go,
// and the same source always gives the same bytes.
//
// Usage, as go generate does: go run ./gen, in the directory of the package.
package main

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
)

func main() {
	out := files()
	for _, name := range slices.Sorted(maps.Keys(out)) {
		if err := os.WriteFile(name, out[name], 0o644); err != nil {
			fmt.Fprintln(os.Stderr, "gen:", err)
			os.Exit(1)
		}
	}
}

// files are the generated files by name.
func files() map[string][]byte {
	out := map[string][]byte{}
	for _, file := range []struct {
		name  string
		write func(*source)
	}{
		{"tile_avx512_amd64.s", func(s *source) { tiles(s, avx512) }},
		{"sparse_avx512_amd64.s", func(s *source) { sparses(s, avx512) }},
		{"sparse_avx2_amd64.s", func(s *source) { sparses(s, avx2) }},
		{"narrow_avx512_amd64.s", func(s *source) { narrow(s, avx512) }},
		{"narrow_avx2_amd64.s", func(s *source) { narrow(s, avx2) }},
		{"pack_avx512_amd64.s", func(s *source) { packs(s, avx512) }},
		{"pack_avx2_amd64.s", func(s *source) { packs(s, avx2) }},
		{"loop_avx512_amd64.s", func(s *source) { loops(s, avx512) }},
		{"loop_avx2_amd64.s", func(s *source) { loops(s, avx2) }},
		{"function_avx512_amd64.s", func(s *source) { transcendental(s, avx512) }},
		{"function_avx2_amd64.s", func(s *source) { transcendental(s, avx2) }},
		{"transpose_amd64.s", transpose},
		{"matrixunits_amd64.s", matrixUnits},
		{"train_amd64.s", train},
		{"unit_avx512_amd64.s", func(s *source) { unitTiles(s, avx512); turns(s); dots(s); adams(s) }},
		{"unit_avx2_amd64.s", func(s *source) { unitTiles(s, avx2); s.prefetchRows() }},
		{"band_avx512_amd64.s", func(s *source) { bands(s, avx512) }},
		{"band_avx2_amd64.s", func(s *source) { bands(s, avx2) }},
		{"bandapply_avx2_amd64.s", bandMul},
		{"bandrows_avx512_amd64.s", func(s *source) { bandsTimesRows(s, avx512) }},
		{"bandrows_avx2_amd64.s", func(s *source) { bandsTimesRows(s, avx2) }},
		{"bilinear_avx2_amd64.s", bilinear},
		{"rowsums_avx512_amd64.s", func(s *source) { rowSums(s, avx512) }},
		{"rowsums_avx2_amd64.s", func(s *source) { rowSums(s, avx2) }},
		{"scatter_avx512_amd64.s", func(s *source) { scatters(s, avx512) }},
		{"scatter_avx2_amd64.s", func(s *source) { scatters(s, avx2); scatterBand(s) }},
		{"trees_avx512_amd64.s", trees},
		{"lookup_avx512_amd64.s", lookUps},
		{"lookupsum_avx512_amd64.s", func(s *source) { lookUpSums(s, avx512) }},
		{"lookupsum_avx2_amd64.s", func(s *source) { lookUpSums(s, avx2) }},
		{"decimals_avx512_amd64.s", decimalTexts},
		{"convert_amd64.s", conversions},
		{"line_avx512_amd64.s", func(s *source) { lines(s, avx512) }},
		{"line_avx2_amd64.s", func(s *source) { lines(s, avx2) }},
		{"tile_avx2_amd64.s", func(s *source) { tiles(s, avx2) }},
		{"tile_neon_arm64.s", neonTiles},
		{"pack_neon_arm64.s", neonPacks},
		{"narrow_neon_arm64.s", neonNarrow},
		{"loop_neon_arm64.s", neonLoops},
		{"function_neon_arm64.s", neonFunctions},
		{"band_neon_arm64.s", neonBands},
		{"spline_neon_arm64.s", neonSpline},
		{"scatter_neon_arm64.s", neonScatters},
		{"train_neon_arm64.s", neonTrain},
		{"unit_neon_arm64.s", neonUnits},
		{"line_neon_arm64.s", neonLines},
		{"convert_neon_arm64.s", neonConversions},
		{"bilinear_neon_arm64.s", neonBilinear},
		{"rowsums_neon_arm64.s", neonRowSums},
		{"bandrows_neon_arm64.s", neonBandRows},
		{"transpose_neon_arm64.s", neonTransposes},
		{"lookupsum_neon_arm64.s", neonLookUpSums},
	} {
		s := &source{}
		s.header(architecture(file.name))
		file.write(s)
		out[file.name] = s.Bytes()
	}
	maps.Copy(out, callFiles())
	return out
}

// architecture ends the name of a file.
func architecture(name string) string {
	return strings.TrimSuffix(name[strings.LastIndexByte(name, '_')+1:], ".s")
}
