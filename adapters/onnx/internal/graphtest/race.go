//go:build race

package onnx

// The race detector makes sync.Pool forget at random.
const raceDetector = true
