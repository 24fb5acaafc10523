// Command pho-ort computes networks by ONNX Runtime for the program that starts it, pho, which
// feeds it through its standard input and output: see package adapters/onnx/onnxruntime. It loads
// ONNX Runtime's library from ORT_DYLIB_PATH, else from a Python package onnxruntime, else from
// where the system keeps libraries.
package main

import (
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/pho-go/pho/adapters/onnx/onnxruntime"
	"github.com/pho-go/pho/adapters/onnx/ort"
)

func main() {
	// Who started the helper decides when it ends, by closing its input.
	signal.Ignore(os.Interrupt, syscall.SIGTERM, syscall.SIGHUP) // which a terminal or a service sends to both
	runtime, library, fault := load()
	if err := onnxruntime.Serve(os.Stdin, os.Stdout, runtime, library, fault); err != nil {
		fmt.Fprintln(os.Stderr, "pho-ort:", err)
		os.Exit(1)
	}
}

// load loads the library that is found first.
func load() (onnxruntime.Runtime, string, error) {
	library := os.Getenv("ORT_DYLIB_PATH")
	if library == "" {
		library = inPython()
	}
	runtime, err := ort.Load(library, 1)
	if err != nil && os.Getenv("ORT_DYLIB_PATH") == "" {
		err = fmt.Errorf("install it, as by `pip install onnxruntime`, or name its library in the environment variable ORT_DYLIB_PATH (%w)", err)
	}
	return runtime, library, err
}
