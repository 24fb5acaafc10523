package main

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
)

// The committed assembly is what this generator writes, byte for byte.
func TestCommitted(t *testing.T) {
	want := files()
	for name, text := range want {
		got, err := os.ReadFile(filepath.Join("..", name))
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, text) {
			t.Errorf("%s is not what the generator writes; run go generate ./internal/base/kernel", name)
		}
	}
	found, err := filepath.Glob("../*.s")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range found {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		// Assembly written by hand does not claim to be generated.
		if _, ok := want[filepath.Base(path)]; !ok && bytes.HasPrefix(text, []byte("// Code generated")) {
			t.Errorf("%s: no generator writes it", path)
		}
	}
}
