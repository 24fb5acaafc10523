//go:build unix

package durable_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/pho-go/pho/internal/base/durable"
)

func rights(t *testing.T, path string) (mode fs.FileMode, owner, group int) {
	t.Helper()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	of := info.Sys().(*syscall.Stat_t)
	return info.Mode().Perm(), int(of.Uid), int(of.Gid)
}

// What replaces a file or a directory has its mode, owner and group, and nobody reads it before who may not then.
func TestRights(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "state.json")
	if err := durable.WriteFile(file, text("old")); err != nil {
		t.Fatal(err)
	}
	folder := filepath.Join(dir, "result")
	replace := func() {
		d, err := durable.NewDir(nil, durable.Files{"a", "b"}, folder)
		if err != nil {
			t.Fatal(err)
		}
		defer d.Discard()
		for _, name := range []string{"a", "b"} {
			if err := durable.WriteFile(d.Path(name), text(name)); err != nil {
				t.Fatal(err)
			}
		}
		if err := d.Commit(); err != nil {
			t.Fatal(err)
		}
	}
	replace()
	owner, group := os.Getuid(), os.Getgid()
	if owner == 0 { // else files cannot be given away
		owner, group = 4321, 8765
	}
	of := map[string]fs.FileMode{file: 0o600, folder: 0o750, filepath.Join(folder, "a"): 0o640, filepath.Join(folder, "b"): 0o666}
	for path, mode := range of {
		if err := os.Chown(path, owner, group); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
	}
	err := durable.WriteFile(file, func(f *os.File) error {
		if mode, _, _ := rights(t, f.Name()); mode != 0o600 {
			t.Errorf("while it is written its mode is %v", mode)
		}
		return text("new")(f)
	})
	if err != nil {
		t.Fatal(err)
	}
	replace()
	for path, want := range of {
		if mode, o, g := rights(t, path); mode != want || o != owner || g != group {
			t.Errorf("%s: mode %v of %d:%d, want %v of %d:%d", path, mode, o, g, want, owner, group)
		}
	}
}
