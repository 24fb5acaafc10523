package durable_test

import (
	"errors"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/pho-go/pho/internal/base/durable"
)

func text(s string) func(*os.File) error {
	return func(f *os.File) error { _, err := f.WriteString(s); return err }
}

func content(t *testing.T, path string) string {
	t.Helper()
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

func names(t *testing.T, dir string) int {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	return len(entries)
}

// A file is replaced whole or stays as it was, and nothing is left beside it.
func TestWriteFile(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "out.csv")
	for _, s := range []string{"first", "second"} {
		if err := durable.WriteFile(path, text(s)); err != nil || content(t, path) != s {
			t.Errorf("%v, %q", err, content(t, path))
		}
	}
	broken := errors.New("broken")
	err := durable.WriteFile(path, func(f *os.File) error { return errors.Join(text("half")(f), broken) })
	if !errors.Is(err, broken) || content(t, path) != "second" {
		t.Errorf("%v, %q", err, content(t, path))
	}
	if err := durable.WriteFile(dir, text("x")); err == nil {
		t.Error("a directory was replaced")
	}
	if n := names(t, dir); n != 1 {
		t.Errorf("%d files", n)
	}
}

// What is discarded while it is written is gone and does not come back; what was put
// in place before stays.
func TestDiscard(t *testing.T) {
	dir := t.TempDir()
	var u durable.Unfinished
	if err := u.WriteFile(filepath.Join(dir, "before"), text("x")); err != nil {
		t.Fatal(err)
	}
	var writing, discarded sync.WaitGroup
	writing.Add(1)
	discarded.Add(1)
	go func() {
		writing.Wait()
		u.Discard()
		discarded.Done()
	}()
	err := u.WriteFile(filepath.Join(dir, "during"), func(f *os.File) error {
		err := text("half")(f)
		writing.Done()
		discarded.Wait()
		return err
	})
	if !errors.Is(err, durable.ErrDiscarded) {
		t.Errorf("during: %v", err)
	}
	if err := u.WriteFile(filepath.Join(dir, "after"), text("x")); !errors.Is(err, durable.ErrDiscarded) {
		t.Errorf("after: %v", err)
	}
	if n := names(t, dir); n != 1 || content(t, filepath.Join(dir, "before")) != "x" {
		t.Errorf("%d files", n)
	}
}

// A directory is removed with what a kill left of an earlier one of its name, and with nothing else.
func TestRemoveDir(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "kept")
	for _, name := range []string{path, durable.TempName(path), durable.TempName(path + "2")} {
		if err := errors.Join(os.MkdirAll(filepath.Join(name, "inside"), 0o777), os.WriteFile(filepath.Join(name, "file"), nil, 0o666)); err != nil {
			t.Fatal(err)
		}
	}
	if err := durable.RemoveDir(path + "/"); err != nil {
		t.Fatal(err)
	}
	want := 1
	if !durable.Claims {
		want = 2
	}
	if n := names(t, dir); n != want {
		t.Errorf("%d directories are left", n)
	}
	if err := durable.RemoveDir(path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a directory that is not there: %v", err)
	}
}
