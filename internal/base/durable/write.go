// Package durable writes files and directories so that a crash, of the program or
// of the machine, leaves the old or the new one, whole: under a hidden name first, then to the
// disk, then in place, then the directory to the disk.
package durable

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"syscall"
)

// File is a file to write, and what writes it.
type File struct {
	Path  string
	Write func(*os.File) error
}

// WriteFile replaces the file at path by what write writes, or leaves it as it was
// and returns an error. The new file has the mode, the owner and the group of the earlier one, as far as the
// process may give them. Links are followed. What is not a regular file (a pipe, a
// device) is written to as it is. u may be nil.
func (u *Unfinished) WriteFile(path string, write func(*os.File) error) error {
	return u.WriteFiles(File{path, write})
}

// WriteFiles is WriteFile for several files: none is replaced before all are written.
func (u *Unfinished) WriteFiles(files ...File) error {
	var ready []*ready
	for _, f := range files {
		r, err := u.prepare(f)
		if err != nil {
			for _, r := range ready {
				u.discard(r)
			}
			return err
		}
		if r != nil {
			ready = append(ready, r)
		}
	}
	var faults []error
	for _, r := range ready {
		if err := u.Place(r.temp, func() error { return os.Rename(r.temp, r.target) }); err != nil {
			u.discard(r)
			faults = append(faults, fmt.Errorf("%q cannot be written: %w", r.path, Reason(err)))
			continue
		}
		faults = append(faults, syncDir(filepath.Dir(r.target)))
	}
	return errors.Join(faults...)
}

// ready is a file that is written, under a hidden name beside its place.
type ready struct{ path, target, temp string }

func (u *Unfinished) discard(r *ready) {
	_ = os.Remove(r.temp)
	u.Drop(r.temp)
}

// prepare writes a file beside its place; nil if it was written where it is, being no regular file.
func (u *Unfinished) prepare(file File) (*ready, error) {
	target, err := Resolve(file.Path)
	if err != nil {
		return nil, fmt.Errorf("%q cannot be written: %w", file.Path, err)
	}
	replaced, err := os.Stat(target)
	if err != nil {
		replaced = nil
	}
	if replaced != nil && !replaced.Mode().IsRegular() {
		if replaced.IsDir() {
			return nil, fmt.Errorf("%q cannot be written: it is a directory", file.Path)
		}
		f, err := os.OpenFile(target, os.O_WRONLY, 0)
		if err != nil {
			return nil, fmt.Errorf("%q cannot be written: %w", file.Path, Reason(err))
		}
		return nil, errors.Join(file.Write(f), f.Close())
	}
	removeLeftovers(target, nil)
	r := &ready{file.Path, target, TempName(target)}
	mode := fs.FileMode(0o666)
	if replaced != nil {
		mode = 0o600 // nobody reads what the earlier file would not have let them
	}
	f, err := os.OpenFile(r.temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return nil, fmt.Errorf("%q cannot be written: %w", file.Path, Reason(err))
	}
	u.Add(r.temp, func() { _ = os.Remove(r.temp) })
	forgotten := forgetReplaced(target)
	claim(f) // a run that comes between finds an empty file: the rename then fails
	err = finish(f, file.Write)
	forgotten() // else it might be the new file that is
	if err == nil && replaced != nil {
		if err = inherit(r.temp, replaced); err != nil {
			err = fmt.Errorf("%q cannot be written: %w", file.Path, Reason(err))
		}
	}
	if err != nil {
		u.discard(r)
		return nil, err
	}
	return r, nil
}

// WriteFile is that of an Unfinished that nobody discards.
func WriteFile(path string, write func(*os.File) error) error {
	return (*Unfinished)(nil).WriteFile(path, write)
}

// finish lets write fill a new file, brings it to the disk and closes it.
func finish(f *os.File, write func(*os.File) error) error {
	stop := Follow(context.Background(), f)
	err := write(f)
	stop()
	if err == nil {
		if err = f.Sync(); err != nil {
			err = fmt.Errorf("%q cannot be brought to the disk: %w", f.Name(), Reason(err))
		}
	}
	return errors.Join(err, f.Close())
}

// syncDir brings the names in a directory to the disk, where the system can: not on
// Windows, not on every file system, and not without the right to read dir.
func syncDir(dir string) error {
	if runtime.GOOS == "windows" {
		return nil
	}
	f, err := os.Open(dir)
	if err != nil {
		return nil
	}
	defer f.Close()
	err = f.Sync()
	if err == nil || errors.Is(err, errors.ErrUnsupported) || errors.Is(err, syscall.EINVAL) {
		return nil
	}
	return fmt.Errorf("directory %q cannot be brought to the disk: %w", dir, Reason(err))
}

// Resolve is the absolute path of target, links followed: the place that a rename
// replaces.
func Resolve(target string) (string, error) {
	abs, err := filepath.Abs(target)
	if err != nil {
		return "", err
	}
	if followed, err := filepath.EvalSymlinks(abs); err == nil {
		return followed, nil
	}
	return abs, nil
}

// Reason is the cause of a file error without the operation and the path, which
// messages name themselves.
func Reason(err error) error {
	var path *fs.PathError
	if errors.As(err, &path) {
		return path.Err
	}
	var link *os.LinkError
	if errors.As(err, &link) {
		return link.Err
	}
	return err
}
