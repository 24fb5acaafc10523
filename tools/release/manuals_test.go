package main

import (
	"bytes"
	"context"
	"path/filepath"
	"slices"
	"testing"
	"time"
)

// TestManuals: a page for each command and a script for each shell, dated as asked for
// and by nothing else, so that equal commits give equal bytes.
func TestManuals(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the command")
	}
	at := time.Date(2024, 5, 17, 23, 0, 0, 0, time.UTC)
	root := filepath.Join("..", "..")
	files, err := manuals(context.Background(), root, at)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, f := range files {
		names = append(names, f.name)
		if len(f.data) < 500 || bytes.Contains(f.data, []byte(t.TempDir())) {
			t.Errorf("%s: %d bytes", f.name, len(f.data))
		}
		if filepath.Ext(f.name) == ".1" && !bytes.Contains(f.data, []byte(`"May 2024"`)) {
			t.Errorf("%s has another date:\n%.200s", f.name, f.data)
		}
	}
	for _, want := range []string{"man/man1/pho.1", "man/man1/pho-decompose.1", "man/man1/pho-explain.1", "completions/pho.bash", "completions/_pho", "completions/pho.fish", "completions/pho.ps1"} {
		if !slices.Contains(names, want) {
			t.Errorf("no %s among %q", want, names)
		}
	}
	again, err := manuals(context.Background(), root, at)
	if err != nil {
		t.Fatal(err)
	}
	for i, f := range again {
		if f.name != files[i].name || !bytes.Equal(f.data, files[i].data) {
			t.Errorf("%s differs the second time", f.name)
		}
	}
}
