//go:build !amd64 || purego

package kernel

func runBilinear(*band) {}
