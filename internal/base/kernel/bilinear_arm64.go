//go:build arm64 && !purego

package kernel

//go:noescape
func bilinearNEON(b *band)

func runBilinear(b *band) { bilinearNEON(b) }
