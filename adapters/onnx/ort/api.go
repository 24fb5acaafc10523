package ort

import (
	"errors"
	"unsafe"

	"github.com/ebitengine/purego"
)

// apiVersion is the version of the C interface that is asked for: that of ONNX Runtime 1.18.
// Later libraries have it, too.
const apiVersion = 18

// Places of functions in OrtApi (onnxruntime_c_api.h), which grows at its end alone.
const (
	getErrorMessage                = 2
	createEnv                      = 3
	disableTelemetryEvents         = 6
	createSessionFromArray         = 8
	run                            = 9
	createSessionOptions           = 10
	setIntraOpNumThreads           = 24
	setInterOpNumThreads           = 25
	createTensorWithData           = 49 // CreateTensorWithDataAsOrtValue
	createCPUMemoryInfo            = 69
	releaseStatus                  = 93
	releaseSession                 = 95
	releaseValue                   = 96
	releaseSessionOptions          = 100
	addExternalInitializersFromRAM = 279 // AddExternalInitializersFromFilesInMemory

	functionCount = 280
)

// elementTypes are ONNXTensorElementDataType.
var elementTypes = map[string]uintptr{
	"float": 1, "uint8": 2, "int8": 3, "uint16": 4, "int16": 5, "int32": 6, "int64": 7,
	"bool": 9, "double": 11, "uint32": 12, "uint64": 13,
}

// call calls a function that returns an OrtStatus, which is null if it has done what it should.
//
//go:uintptrescapes
func (l *library) call(function int, args ...uintptr) error {
	status, _, _ := purego.SyscallN(l.functions[function], args...)
	if status == 0 {
		return nil
	}
	text, _, _ := purego.SyscallN(l.functions[getErrorMessage], status)
	err := errors.New(goString(text))
	l.release(releaseStatus, status)
	return err
}

// release frees what the library has made; null is left alone.
func (l *library) release(function int, object uintptr) {
	if object != 0 {
		purego.SyscallN(l.functions[function], object)
	}
}

// cString is s with a zero behind it.
func cString(s string) *byte { return &append([]byte(s), 0)[0] }

// cStrings are names as C takes them: pointers to the texts, in one array. It has one element
// at least, so that there is an address.
func cStrings(names []string) []*byte {
	all := make([]*byte, 0, max(len(names), 1))
	for _, name := range names {
		all = append(all, cString(name))
	}
	return all[:max(len(names), 1)]
}

// goString copies a text of C.
func goString(text uintptr) string {
	start := *(*unsafe.Pointer)(unsafe.Pointer(&text))
	if start == nil {
		return ""
	}
	n := 0
	for *(*byte)(unsafe.Add(start, n)) != 0 {
		n++
	}
	return string(unsafe.Slice((*byte)(start), n))
}
