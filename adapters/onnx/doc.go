// Package onnx loads a network from an ONNX file, checks it, discovers its
// additive structure and runs it as a decompose.Model. Pure Go.
//
// Load reads a Graph, Bind says which data columns fill its inputs, and NewModel makes
// the Model; Discover alone tells the structure. Options.Engine gives the computing of
// tensors to another runtime.
package onnx
