//go:build arm64 && !purego

package kernel

//go:noescape
func toFloat32NEON(c *conversion)

//go:noescape
func toFloat64NEON(c *conversion)

//go:noescape
func roundNEON(c *conversion)

func runToFloat32(c *conversion) { toFloat32NEON(c) }

func runToFloat64(c *conversion) { toFloat64NEON(c) }

func runRound(c *conversion) { roundNEON(c) }
