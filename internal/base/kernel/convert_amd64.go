//go:build amd64 && !purego

package kernel

//go:noescape
func toFloat32AVX2(c *conversion)

//go:noescape
func toFloat64AVX2(c *conversion)

//go:noescape
func roundAVX2(c *conversion)

func runToFloat32(c *conversion) { toFloat32AVX2(c) }

func runToFloat64(c *conversion) { toFloat64AVX2(c) }

func runRound(c *conversion) { roundAVX2(c) }
