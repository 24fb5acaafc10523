//go:build amd64 && !purego

package kernel

//go:noescape
func lookUpAVX512(l *lookup)

func runLookUp(l *lookup) { lookUpAVX512(l) }
