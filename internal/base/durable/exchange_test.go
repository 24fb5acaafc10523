package durable

import (
	"os"
	"path/filepath"
	"testing"
)

// Without an exchange in one step, directories are swapped by renames, and put
// back if that fails.
func TestExchangeByRename(t *testing.T) {
	temp := t.TempDir()
	name := func(dir string) string {
		text, err := os.ReadFile(filepath.Join(dir, "name"))
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	a, b := filepath.Join(temp, "a"), filepath.Join(temp, "b")
	for _, dir := range []string{a, b} {
		if err := os.Mkdir(dir, 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "name"), []byte(dir), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	if err := exchangeByRename(a, b); err != nil {
		t.Fatal(err)
	}
	if name(a) != b || name(b) != a {
		t.Error("not swapped")
	}
	if err := exchangeByRename(filepath.Join(temp, "none"), b); err == nil {
		t.Error("a missing directory was swapped")
	}
	if name(b) != a {
		t.Error("not put back")
	}
}
