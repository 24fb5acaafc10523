// Package onnxruntime computes networks by ONNX Runtime, as an onnx.Engine. Its library is
// loaded by a program of its own, pho-ort, which is fed through pipes: a program that loads
// libraries is not static any more, and ends with what they do wrong. A process that loads it
// itself takes package adapters/onnx/ort.
package onnxruntime
