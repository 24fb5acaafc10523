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
	dir := filepath.Join(place, "result")
	file := filepath.Join(dir, "file")
	if err := os.Mkdir(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	put := func(between func()) {
		t.Helper()
		err := WriteFile(file, func(f *os.File) error {
			between()
			_, err := f.WriteString("text")
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		if !held(t, file) {
			t.Fatal("the new file is forgotten")
		}
	}
	put(func() {})
	// The system may have a page in use just then.
	tries := func(what string, forgotten func() bool) {
		t.Helper()
		for range 20 {
			if forgotten() {
				return
			}
		}
		t.Errorf("what is replaced is not forgotten: %s", what)
	}
	tries("a file", func() (gone bool) {
		put(func() {
			time.Sleep(5 * time.Millisecond)
			gone = !held(t, file)
		})
		return gone
	})
	tries("a directory", func() bool {
		d, err := NewDir(nil, Files{"file"}, dir)
		if err != nil {
			t.Fatal(err)
		}
		defer d.Discard()
		d.forgotten()
		return !held(t, file)
	})
	if raw, err := os.ReadFile(file); err != nil || string(raw) != "text" {
		t.Errorf("%q, %v", raw, err)
	}
}
