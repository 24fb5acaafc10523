package ort

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"sync"
	"unsafe"

	"github.com/ebitengine/purego"

	"github.com/pho-go/pho/adapters/onnx/onnxruntime"
)

// loaded is the one library of the process: ONNX Runtime's environment is a global of its
// C library.
var loaded struct {
	sync.Mutex
	*library
}

// library is ONNX Runtime's, whose functions never change their place in its table.
type library struct {
	path, version string
	functions     *[functionCount]uintptr
	environment   uintptr
	memory        uintptr // OrtMemoryInfo: the processor's
}

// Load loads ONNX Runtime's library, once in a process, for sessions that use so many threads
// within an operator (0: one). library and errors are as in New.
func Load(path string, threads int) (onnxruntime.Runtime, error) {
	loaded.Lock()
	defer loaded.Unlock()
	if l := loaded.library; l != nil {
		if path != "" && path != l.path {
			return nil, fmt.Errorf("ort: the process has loaded ONNX Runtime from %q already; a second one, %q, cannot be loaded", l.path, path)
		}
		return runtimeOf{l, max(threads, 1)}, nil
	}
	var faults []error
	for _, p := range candidates(path) {
		l, err := open(p)
		if err == nil {
			loaded.library = l
			return runtimeOf{l, max(threads, 1)}, nil
		}
		faults = append(faults, err)
	}
	return nil, fmt.Errorf("ort: ONNX Runtime's library cannot be loaded; give its path in Options.Library or in ORT_DYLIB_PATH: %w", errors.Join(faults...))
}

// candidates are the paths that are tried in turn.
func candidates(path string) []string {
	if path == "" {
		path = os.Getenv("ORT_DYLIB_PATH")
	}
	switch {
	case path != "":
		return []string{path}
	case runtime.GOOS == "windows":
		return []string{"onnxruntime.dll"}
	case runtime.GOOS == "darwin":
		return []string{"libonnxruntime.dylib", "onnxruntime.dylib"}
	}
	return []string{"libonnxruntime.so", "libonnxruntime.so.1", "onnxruntime.so"}
}

// open loads the library of that path and takes its table of functions.
func open(path string) (*library, error) {
	handle, err := loadLibrary(path)
	if err != nil {
		return nil, fmt.Errorf("%q: %w", path, err)
	}
	base, err := findSymbol(handle, "OrtGetApiBase")
	if err != nil {
		return nil, fmt.Errorf("%q is not ONNX Runtime: %w", path, err)
	}
	table, _, _ := purego.SyscallN(base) // OrtApiBase: GetApi, GetVersionString
	if table == 0 {
		return nil, fmt.Errorf("%q has no interface of ONNX Runtime", path)
	}
	entry := *(**[2]uintptr)(unsafe.Pointer(&table))
	text, _, _ := purego.SyscallN(entry[1])
	l := &library{path: path, version: goString(text)}
	api, _, _ := purego.SyscallN(entry[0], apiVersion)
	if api == 0 {
		return nil, fmt.Errorf("%q is ONNX Runtime %s; 1.%d or later is needed", path, l.version, apiVersion)
	}
	l.functions = *(**[functionCount]uintptr)(unsafe.Pointer(&api))
	// Of its messages those of errors: what a call says is in its status.
	const severityError = 3
	name := cString("pho")
	if err := l.call(createEnv, severityError, uintptr(unsafe.Pointer(name)), uintptr(unsafe.Pointer(&l.environment))); err != nil {
		return nil, fmt.Errorf("%q: %w", path, err)
	}
	if err := l.call(disableTelemetryEvents, l.environment); err != nil {
		return nil, fmt.Errorf("%q: %w", path, err)
	}
	const arena, defaultMemory = 1, 0
	if err := l.call(createCPUMemoryInfo, arena, defaultMemory, uintptr(unsafe.Pointer(&l.memory))); err != nil {
		return nil, fmt.Errorf("%q: %w", path, err)
	}
	return l, nil
}
