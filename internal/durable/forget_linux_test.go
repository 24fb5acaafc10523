package durable

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// held reports whether the system has the beginning of a file in memory.
func held(t *testing.T, path string) bool {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	_, err = unix.Preadv2(int(f.Fd()), [][]byte{make([]byte, 1)}, 0, unix.RWF_NOWAIT)
	return !errors.Is(err, unix.EAGAIN)
}

// TestForget: the memory that holds a file is given back while its successor, or that of its directory, is written.
func TestForget(t *testing.T) {
	place := t.TempDir()
	var system unix.Statfs_t
	if err := unix.Statfs(place, &system); err != nil || system.Type != unix.EXT4_SUPER_MAGIC && system.Type != unix.XFS_SUPER_MAGIC {
		t.Skip("only some file systems tell what of a file is in memory")
	}
	dir, other := filepath.Join(place, "result"), filepath.Join(place, "other")
	file := filepath.Join(dir, "file")
	put := func(path string, between func()) {
		t.Helper()
		err := WriteFile(path, func(f *os.File) error {
			between()
			_, err := f.WriteString("text")
			return err
		})
		if err != nil || !held(t, path) {
			t.Fatalf("%q: %v, in memory: %t", path, err, err == nil)
		}
	}
	if err := os.Mkdir(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	put(file, func() {})
	put(other, func() {})
	put(file, func() {
		for end := time.Now().Add(10 * time.Second); held(t, file); time.Sleep(time.Millisecond) {
			if time.Now().After(end) {
				t.Fatal("the file that is being replaced is not forgotten")
			}
		}
		if !held(t, other) {
			t.Error("a file that stays was forgotten")
		}
	})
	d, err := NewDir(nil, Files{"file"}, dir)
	if err != nil {
		t.Fatal(err)
	}
	d.Discard()
	if raw, err := os.ReadFile(file); err != nil || string(raw) != "text" {
		t.Errorf("%q, %v", raw, err)
	}
	if d, err = NewDir(nil, Files{"file"}, dir); err != nil {
		t.Fatal(err)
	}
	defer d.Discard()
	d.forgotten()
	if held(t, file) {
		t.Error("a directory's file is not forgotten")
	}
}
