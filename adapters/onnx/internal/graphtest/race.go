//go:build race

package graphtest

// The race detector makes sync.Pool forget at random.
const RaceDetector = true
