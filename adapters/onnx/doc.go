// Package onnx loads a network from an ONNX file, checks it, discovers its
// additive structure and runs it as a decompose.Model. Pure Go.
package onnx
