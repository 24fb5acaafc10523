// Package store reads and writes whole files by name, wherever a program keeps them: on the
// disk, or as objects of an object store. Names of files on the disk are paths; others are
// URLs (data.IsURL).
package store

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/internal/base/durable"
)

// Store is a data.Store that can be written to. It is safe for concurrent use.
type Store interface {
	data.Store
	// Write makes what write writes the content of the file name, or leaves the file as it
	// was (also absent) and returns an error: nobody ever sees a part of it.
	Write(ctx context.Context, name string, write func(io.Writer) error) error
	// Replace is Write if the file is still the one that was opened as was, or, of nil, is still absent. Else
	// the error wraps ErrReplaced. A store that cannot write on that condition refuses.
	Replace(ctx context.Context, name string, was data.File, write func(io.Writer) error) error
	// MakeDir makes sure that files can be written into the directory. Stores without
	// directories do nothing.
	MakeDir(ctx context.Context, name string) error
	// Remove removes a file; that it is not there is no error.
	Remove(ctx context.Context, name string) error
}

// ErrReplaced is why a file is not written that somebody else has written since it was read.
var ErrReplaced = errors.New("somebody else has written it since it was read: run this again, nothing has been added")

// Disk is the Store of the file system. Unfinished, which may be nil, lists what is being
// written.
type Disk struct {
	data.Disk
	Unfinished *durable.Unfinished
}

// Write replaces a file as durable.WriteFile does.
func (d Disk) Write(_ context.Context, name string, write func(io.Writer) error) error {
	if data.IsURL(name) {
		return fmt.Errorf("%q cannot be written: %w", name, data.ErrURL)
	}
	return d.Unfinished.WriteFile(name, func(f *os.File) error { return write(f) })
}

// Replace refuses: on the disk who replaces what they read holds a lock (durable.Lock).
func (Disk) Replace(_ context.Context, name string, _ data.File, _ func(io.Writer) error) error {
	return fmt.Errorf("%q cannot be written on a condition: name the file by its path", name)
}

// MakeDir makes the directory and its parents.
func (Disk) MakeDir(_ context.Context, name string) error {
	if data.IsURL(name) {
		return fmt.Errorf("%q cannot be written: %w", name, data.ErrURL)
	}
	if err := os.MkdirAll(name, 0o777); err != nil {
		return fmt.Errorf("directory %q cannot be made: %w", name, durable.Reason(err))
	}
	return nil
}

// Remove removes a file.
func (Disk) Remove(_ context.Context, name string) error {
	if err := os.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%q cannot be removed: %w", name, durable.Reason(err))
	}
	return nil
}

// Join is the name of a file in a directory.
func Join(dir, name string) string {
	if data.IsURL(dir) {
		base, query, has := strings.Cut(dir, "?")
		joined := strings.TrimSuffix(base, "/") + "/" + name
		if has {
			joined += "?" + query
		}
		return joined
	}
	return filepath.Join(dir, name)
}
