//go:build amd64 && !purego

package kernel

//go:noescape
func bilinearAVX2(b *band)

func runBilinear(b *band) { bilinearAVX2(b) }
