//go:build !race

package onnx

const raceDetector = false
