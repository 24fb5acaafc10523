package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pho-go/pho/internal/command"
)

// A page for each command, with its flags, and the same bytes each time.
func TestManualPages(t *testing.T) {
	dirs := [2]string{filepath.Join(t.TempDir(), "a"), filepath.Join(t.TempDir(), "b")}
	for _, dir := range dirs {
		if err := write(dir, "2024-05-17"); err != nil {
			t.Fatal(err)
		}
	}
	read := func(dir, name string) string {
		text, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	for _, c := range command.Root().Commands() {
		if !c.IsAvailableCommand() || c.Name() == "help" {
			continue
		}
		name := "pho-" + c.Name() + ".1"
		text := read(dirs[0], name)
		if text != read(dirs[1], name) || !strings.Contains(text, "pho-"+c.Name()) || strings.Contains(text, "Auto generated") {
			t.Errorf("%s: %.200s", name, text)
		}
	}
	if err := write(dirs[0], "today"); err == nil {
		t.Error("a date of today")
	}
}
