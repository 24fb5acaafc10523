// Package store reads and writes whole files by name, wherever a program keeps them: on the
// disk, or as objects of an object store. Names of files on the disk are paths; others are
// URLs (data.IsURL).
package store

import (
	"bytes"
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

// Base is the last part of a name.
func Base(name string) string {
	if data.IsURL(name) {
		name, _, _ = strings.Cut(name, "?")
		return name[strings.LastIndexByte(name, '/')+1:]
	}
	return filepath.Base(name)
}

// ReadFile is the content of a file of at most limit bytes (0: of any size). Errors of files
// that are not there are fs.ErrNotExist.
func ReadFile(ctx context.Context, s data.Store, name string, limit int64) ([]byte, error) {
	f, err := s.Open(ctx, name)
	if err != nil {
		return nil, fmt.Errorf("%q cannot be read: %w", name, reason(err))
	}
	defer f.Close()
	n := f.Size()
	if limit > 0 && n > limit {
		return nil, fmt.Errorf("%q has %d bytes; %d are possible: is it what it should be?", name, n, limit)
	}
	r := data.Section(f, 0, n)
	defer r.Close()
	b := bytes.NewBuffer(make([]byte, 0, min(n, 1<<20)+bytes.MinRead))
	if got, err := io.Copy(b, r); err != nil || got != n {
		return nil, fmt.Errorf("%q cannot be read: %w", name, errors.Join(reason(err), short(got, n)))
	}
	return b.Bytes(), nil
}

// WriteFile writes content as Store.Write does.
func WriteFile(ctx context.Context, s Store, name string, content []byte) error {
	return s.Write(ctx, name, func(w io.Writer) error {
		_, err := w.Write(content)
		return err
	})
}

// Exists reports whether a file can be opened; an error is one that does not tell.
func Exists(ctx context.Context, s data.Store, name string) (bool, error) {
	f, err := s.Open(ctx, name)
	switch {
	case err == nil:
		return true, f.Close()
	case errors.Is(err, fs.ErrNotExist):
		return false, nil
	}
	return false, fmt.Errorf("%q cannot be read: %w", name, reason(err))
}

func short(got, want int64) error {
	if got == want {
		return nil
	}
	return fmt.Errorf("it has %d bytes, of which %d can be read", want, got)
}

func reason(err error) error {
	if err == nil {
		return nil
	}
	return durable.Reason(err)
}
