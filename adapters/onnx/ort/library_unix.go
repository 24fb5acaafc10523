//go:build !windows

package ort

import "github.com/ebitengine/purego"

func loadLibrary(path string) (uintptr, error) {
	return purego.Dlopen(path, purego.RTLD_NOW|purego.RTLD_LOCAL)
}

func findSymbol(library uintptr, name string) (uintptr, error) {
	return purego.Dlsym(library, name)
}

// pathStrings are paths as the C interface takes them: ORTCHAR_T is char.
func pathStrings(paths []string) []*byte { return cStrings(paths) }
