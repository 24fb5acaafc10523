//go:build !linux && amd64 && !purego

package kernel

// askForTiles is false: no other system has been tried.
func askForTiles() bool { return false }
