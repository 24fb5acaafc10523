package ort

import (
	"errors"
	"fmt"
	"os"
	goruntime "runtime"
	"sync"

	runtime "github.com/yalue/onnxruntime_go"
)

// loaded is the one library of the process: ONNX Runtime's environment is a global of its
// C library.
var loaded struct {
	sync.Mutex
	path string
}

// load loads the library of that path, or the one that is found, unless it is loaded.
func load(path string) error {
	loaded.Lock()
	defer loaded.Unlock()
	if runtime.IsInitialized() {
		if path != "" && path != loaded.path {
			return fmt.Errorf("ort: the process has loaded ONNX Runtime from %q already; a second one, %q, cannot be loaded", loaded.path, path)
		}
		return nil
	}
	var faults []error
	for _, p := range candidates(path) {
		runtime.SetSharedLibraryPath(p)
		err := runtime.InitializeEnvironment()
		if err == nil {
			loaded.path = p
			return nil
		}
		faults = append(faults, err)
	}
	return fmt.Errorf("ort: ONNX Runtime's library cannot be loaded; give its path in Options.Library or in ORT_DYLIB_PATH: %w", errors.Join(faults...))
}

// candidates are the paths that are tried in turn.
func candidates(path string) []string {
	if path == "" {
		path = os.Getenv("ORT_DYLIB_PATH")
	}
	switch {
	case path != "":
		return []string{path}
	case goruntime.GOOS == "windows":
		return []string{"onnxruntime.dll"}
	case goruntime.GOOS == "darwin":
		return []string{"libonnxruntime.dylib", "onnxruntime.dylib"}
	}
	return []string{"libonnxruntime.so", "libonnxruntime.so.1", "onnxruntime.so"}
}
