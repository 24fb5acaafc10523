package durable_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"testing"

	"github.com/pho-go/pho/internal/base/durable"
)

// Additions to a file that is read and replaced are all in it if each is made under its lock, by whatever
// name, and whether or not the file was there.
func TestLock(t *testing.T) {
	dir := t.TempDir()
	path, link := filepath.Join(dir, "count"), filepath.Join(dir, "link")
	const adders, additions = 4, 25
	if err := os.Symlink(path, link); err != nil {
		link = path // a system without links
	}
	add := func(name string) error {
		unlock, err := durable.Lock(t.Context(), name, nil)
		if err != nil {
			return err
		}
		raw, _ := os.ReadFile(name)
		n, _ := strconv.Atoi(string(raw))
		return errors.Join(durable.WriteFile(name, text(strconv.Itoa(n+1))), unlock())
	}
	if err := add(path); err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	for i := range adders {
		all.Go(func() {
			for range additions {
				if err := add([]string{path, link}[i%2]); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	if got := content(t, path); got != strconv.Itoa(adders*additions+1) {
		t.Errorf("%s additions of %d", got, adders*additions+1)
	}
	if _, err := os.Stat(path + durable.LockSuffix); err != nil {
		t.Error("the lock is gone, so that the next process locks another:", err)
	}
}

// Who waits for a lock says so and ends when it has to; what is no file is not locked.
func TestLockWaits(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state")
	unlock, err := durable.Lock(t.Context(), path, nil)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	if _, err := durable.Lock(ctx, path, cancel); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if err := unlock(); err != nil {
		t.Fatal(err)
	}
	if unlock, err = durable.Lock(t.Context(), path, func() { t.Error("it waits") }); err != nil {
		t.Fatal(err)
	}
	defer unlock()
	if _, err := durable.Lock(t.Context(), filepath.Dir(path), nil); err == nil {
		t.Error("a directory is locked")
	}
}
