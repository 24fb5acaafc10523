//go:build !amd64 || purego

package kernel

func splitsHere() bool { return false }
