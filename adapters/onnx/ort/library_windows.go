package ort

import (
	"path/filepath"
	"unicode/utf16"

	"golang.org/x/sys/windows"
)

// loadLibrary looks for what path's library needs beside it; a name without a folder is looked
// for where Windows keeps libraries and beside the program, not in the working directory.
func loadLibrary(path string) (uintptr, error) {
	flags := uintptr(windows.LOAD_LIBRARY_SEARCH_DEFAULT_DIRS)
	if filepath.Base(path) != path {
		var err error
		if path, err = filepath.Abs(path); err != nil {
			return 0, err
		}
		flags |= windows.LOAD_LIBRARY_SEARCH_DLL_LOAD_DIR
	}
	handle, err := windows.LoadLibraryEx(path, 0, flags)
	return uintptr(handle), err
}

func findSymbol(library uintptr, name string) (uintptr, error) {
	return windows.GetProcAddress(windows.Handle(library), name)
}

// pathStrings are paths as the C interface takes them: ORTCHAR_T is wchar_t.
func pathStrings(paths []string) []*uint16 {
	var all []*uint16
	for _, p := range paths {
		all = append(all, &append(utf16.Encode([]rune(p)), 0)[0])
	}
	return all
}
