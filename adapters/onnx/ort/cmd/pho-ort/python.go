package main

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"
)

// inPython is the library in the package onnxruntime of the Python that this program was
// installed with, or of the one on PATH; "" if there is none.
func inPython() string {
	for _, python := range interpreters() {
		if library := inPackage(python); library != "" {
			return library
		}
	}
	return ""
}

// interpreters are the programs that may be Python, those beside this one first.
func interpreters() []string {
	var folders []string
	if own, err := os.Executable(); err == nil {
		folder := filepath.Dir(own)
		if runtime.GOOS == "windows" && filepath.Base(folder) == "Scripts" { // of an installation, not of a virtual environment
			folders = append(folders, filepath.Dir(folder))
		}
		folders = append(folders, folder)
	}
	var all []string
	for _, folder := range append(folders, "") { // "": those on PATH
		for _, name := range []string{"python3", "python"} {
			if found, err := exec.LookPath(filepath.Join(folder, name)); err == nil {
				all = append(all, found)
			}
		}
	}
	return all
}

// inPackage asks an interpreter where its package onnxruntime is, which it does not import.
func inPackage(python string) string {
	const question = `
import sys
sys.path = [p for p in sys.path if p]
import importlib.util
found = importlib.util.find_spec("onnxruntime")
print(found and found.origin or "")
`
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	out, err := exec.CommandContext(ctx, python, "-c", question).Output()
	origin := strings.TrimSpace(string(out))
	if err != nil || origin == "" {
		return ""
	}
	pattern := "libonnxruntime.so.*"
	switch runtime.GOOS {
	case "windows":
		pattern = "onnxruntime.dll"
	case "darwin":
		pattern = "libonnxruntime.*dylib"
	}
	found, err := os.ReadDir(filepath.Join(filepath.Dir(origin), "capi"))
	if err != nil {
		return ""
	}
	for _, entry := range slices.Backward(found) {
		if matches, _ := filepath.Match(pattern, entry.Name()); matches {
			return filepath.Join(filepath.Dir(origin), "capi", entry.Name())
		}
	}
	return ""
}
