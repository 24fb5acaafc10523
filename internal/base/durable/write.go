// Package durable writes files and directories so that a crash, of the program or
// of the machine, leaves what was there before or what was written, whole: under a
// hidden name first, then to the disk, then in place, then the directory to the disk.
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

// WriteFile replaces the file at path by what write writes, or leaves it as it was
// and returns an error. The new file has the mode, the owner and the group of the earlier one, as far as the
// process may give them. Links are followed. What is not a regular file (a pipe, a
// device) is written to as it is. u may be nil.
func (u *Unfinished) WriteFile(path string, write func(*os.File) error) error {
	target, err := Resolve(path)
	if err != nil {
		return fmt.Errorf("%q cannot be written: %w", path, err)
	}
	replaced, err := os.Stat(target)
	if err != nil {
		replaced = nil
	}
	if replaced != nil && !replaced.Mode().IsRegular() {
		if replaced.IsDir() {
			return fmt.Errorf("%q cannot be written: it is a directory", path)
		}
		f, err := os.OpenFile(target, os.O_WRONLY, 0)
		if err != nil {
			return fmt.Errorf("%q cannot be written: %w", path, Reason(err))
		}
		return errors.Join(write(f), f.Close())
	}
	RemoveLeftovers(target, nil)
	temp := TempName(target)
	mode := fs.FileMode(0o666)
	if replaced != nil {
		mode = 0o600 // nobody reads what the earlier file would not have let them
	}
	f, err := os.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return fmt.Errorf("%q cannot be written: %w", path, Reason(err))
	}
	u.Add(temp, func() { _ = os.Remove(temp) })
	forgotten := forgetReplaced(target)
	claim(f) // a run that comes between finds an empty file: the rename below then fails
	err = Finish(f, write)
	forgotten() // else it might be the new file that is
	if err != nil {
		_ = os.Remove(temp)
		u.Drop(temp)
		return err
	}
	if replaced != nil {
		err = inherit(temp, replaced)
	}
	if err == nil {
		err = u.Place(temp, func() error { return os.Rename(temp, target) })
	}
	if err != nil {
		_ = os.Remove(temp)
		u.Drop(temp)
		return fmt.Errorf("%q cannot be written: %w", path, Reason(err))
	}
	return SyncDir(filepath.Dir(target))
}

// WriteFile is that of an Unfinished that nobody discards.
func WriteFile(path string, write func(*os.File) error) error {
	return (*Unfinished)(nil).WriteFile(path, write)
}

// Finish lets write fill a new file, brings it to the disk and closes it.
func Finish(f *os.File, write func(*os.File) error) error {
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

// SyncDir brings the names in a directory to the disk, where the system can: not on
// Windows, not on every file system, and not without the right to read dir.
func SyncDir(dir string) error {
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
