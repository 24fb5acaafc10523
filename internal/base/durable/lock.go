package durable

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"
)

// LockSuffix ends the name of the file that is locked in the place of another.
const LockSuffix = ".lock"

// lockEvery is how often a lock that somebody else holds is tried.
const lockEvery = 20 * time.Millisecond

// Lock keeps other processes that lock path from it, until unlock is called or the process ends: for a file that
// is read, changed and replaced. What is locked is a file beside it, which is made if it is not there and never
// removed: path itself is replaced, so that a lock of it would be one of a file that is gone. While somebody else
// holds the lock it waits, at most until ctx is done, and calls waits once.
//
// Errors: path is no regular file, the file beside it cannot be opened, or files cannot be locked there.
func Lock(ctx context.Context, path string, waits func()) (unlock func() error, err error) {
	target, err := Resolve(path)
	if err != nil {
		return nil, fmt.Errorf("%q cannot be locked: %w", path, err)
	}
	if info, err := os.Stat(target); err == nil && !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%q cannot be locked: it is not a regular file", path)
	}
	name := target + LockSuffix
	f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o666)
	if errors.Is(err, fs.ErrPermission) {
		f, err = os.Open(name) // somebody else's, which may be locked all the same
	}
	if err != nil {
		return nil, fmt.Errorf("%q cannot be written: its lock %q: %w", path, name, Reason(err))
	}
	for first := true; ; first = false {
		locked, err := tryLock(f)
		switch {
		case err != nil:
			return nil, errors.Join(fmt.Errorf("%q cannot be locked: %w", name, err), f.Close())
		case locked:
			return f.Close, nil
		case first && waits != nil:
			waits()
		}
		select {
		case <-ctx.Done():
			return nil, errors.Join(ctx.Err(), f.Close())
		case <-time.After(lockEvery):
		}
	}
}
