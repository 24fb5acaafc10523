package durable

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
)

// Files are the names of the files of one kind of directory. The first is in every
// directory of the kind.
type Files []string

// Dir is a directory under construction: a hidden sibling of its target that takes the
// target's place in one rename when everything is written.
type Dir struct {
	target, temp string // absolute; temp is "" once it has taken its place, or is gone
	files        Files
	made         string   // the topmost parent that did not exist before; "" if all did
	claim        *os.File // of temp, see Claimed
	unfinished   *Unfinished
	forgotten    func() // waits until the system has forgotten the files in target
}

// DirError is why a directory cannot be written.
type DirError struct {
	Path   string
	Reason string // follows the quoted path in the message
	Err    error  // the cause; nil if the directory itself is in the way
}

// Error is the quoted path and the reason.
func (e *DirError) Error() string { return fmt.Sprintf("%q%s", e.Path, e.Reason) }

// Unwrap is the cause.
func (e *DirError) Unwrap() error { return e.Err }

func dirErrorf(path string, cause error, format string, args ...any) error {
	return &DirError{Path: path, Reason: fmt.Sprintf(format, args...), Err: cause}
}

// NewDir checks that target may be replaced (it is absent, empty, or a directory of the
// same kind without foreign files) and makes the sibling. The new directory takes mode, owner and group of the old
// one, and its files those of the earlier files, as far as the process may give them. u may be nil. Commit puts the
// new directory in place; Discard, which is to be called in any case, removes it if Commit did not.
//
// Errors: *DirError.
func NewDir(u *Unfinished, files Files, target string) (*Dir, error) {
	d := &Dir{files: files, unfinished: u, forgotten: func() {}}
	var err error
	if d.target, err = Resolve(target); err != nil {
		return nil, dirErrorf(target, err, ": %v", err)
	}
	exists, err := d.files.replaceable(d.target)
	if err != nil {
		return nil, err
	}
	mode := fs.FileMode(0o777)
	if exists {
		mode = 0o700 // nobody reads what the earlier directory would not have let them
	}
	if err := d.makeParent(); err != nil {
		d.Discard()
		return nil, dirErrorf(d.target, err, " cannot be written: %v", Reason(err))
	}
	removeLeftovers(d.target, d.files.have)
	for d.claim == nil { // again if another run took it for one that was left behind
		temp := TempName(d.target)
		if err := os.Mkdir(temp, mode); err != nil {
			d.Discard()
			return nil, dirErrorf(d.target, err, " cannot be written: no directory can be made beside it: %v", Reason(err))
		}
		u.Add(temp, func() { _ = os.RemoveAll(temp); d.removeParents() })
		d.claim, _ = Claimed(temp)
		d.temp = temp
	}
	d.forgotten = forgetReplaced(d.replaced()...)
	return d, nil
}

// replaceable reports whether target exists, and an error unless it is absent,
// empty, or an earlier result without foreign files.
func (files Files) replaceable(target string) (exists bool, err error) {
	entries, err := os.ReadDir(target)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, dirErrorf(target, err, ": %v: give a directory", Reason(err))
	}
	if here, err := os.Getwd(); err == nil && sameFile(here, target) {
		return false, dirErrorf(target, nil, " is the working directory, and a result takes its directory's place: give a directory in it")
	}
	earlier := false
	for _, e := range entries {
		earlier = earlier || e.Name() == files[0]
		if !files.have(e) {
			return false, dirErrorf(target, nil, " holds %q, which is not part of a result: give an empty or a new directory", e.Name())
		}
	}
	if len(entries) > 0 && !earlier {
		return false, dirErrorf(target, nil, " is neither empty nor a result (it has no %s): give an empty or a new directory", files[0])
	}
	return true, nil
}

// replaced are the files of the earlier result that may be there.
func (d *Dir) replaced() (paths []string) {
	for _, name := range d.files {
		paths = append(paths, filepath.Join(d.target, name))
	}
	return paths
}

// have reports whether an entry of a result directory is part of a result, or
// what an interrupted report left of one.
func (files Files) have(e fs.DirEntry) bool {
	if e.IsDir() {
		return false
	}
	name := e.Name()
	if finished, ok := Named(name); ok {
		name = finished
	}
	return slices.Contains(files, name)
}

// makeParent makes the target's parents and remembers the topmost new one.
func (d *Dir) makeParent() error {
	parent := filepath.Dir(d.target)
	for p := parent; ; p = filepath.Dir(p) {
		if _, err := os.Stat(p); !errors.Is(err, fs.ErrNotExist) || p == filepath.Dir(p) {
			break
		}
		d.made = p
	}
	return os.MkdirAll(parent, 0o777)
}

// Target is the absolute path that the directory will have, links followed.
func (d *Dir) Target() string { return d.target }

// Path is where the file of that name is to be written.
func (d *Dir) Path(name string) string { return filepath.Join(d.temp, name) }

// Commit brings the new directory, whose files are there already, to the disk and
// puts it in the target's place.
func (d *Dir) Commit() error {
	exists, err := d.files.replaceable(d.target) // again: hours may have passed
	if err != nil {
		return err
	}
	if exists {
		if err := inheritAll(d.temp, d.target); err != nil {
			return dirErrorf(d.target, err, " cannot be written: %v", Reason(err))
		}
	}
	if err := syncDir(d.temp); err != nil {
		return err
	}
	d.forgotten()
	err = d.unfinished.Place(d.temp, func() error {
		if exists {
			return exchange(d.temp, d.target)
		}
		return os.Rename(d.temp, d.target)
	})
	if err != nil {
		return dirErrorf(d.target, err, " cannot be written: %v", Reason(err))
	}
	old := d.temp // now the earlier result; the new one is in place
	d.temp = ""
	d.claim.Close()
	if err := d.syncParents(); err != nil {
		return err
	}
	d.made = ""
	if exists {
		_ = os.RemoveAll(old)
	}
	return nil
}

// syncParents brings the name of the target to the disk, and those of its parents
// that are new.
func (d *Dir) syncParents() error {
	for p := filepath.Dir(d.target); ; p = filepath.Dir(p) {
		if err := syncDir(p); err != nil || d.made == "" || len(p) < len(d.made) {
			return err
		}
	}
}

// Discard removes what was written; the target is as it was. After Commit it does
// nothing.
func (d *Dir) Discard() {
	d.forgotten()
	if d.temp != "" {
		_ = os.RemoveAll(d.temp)
		d.unfinished.Drop(d.temp)
		d.temp = ""
	}
	if d.claim != nil {
		d.claim.Close()
	}
	d.removeParents()
	d.made = ""
}

// removeParents removes the parents that did not exist before, while they are empty.
func (d *Dir) removeParents() {
	if d.made == "" {
		return
	}
	for p := filepath.Dir(d.target); os.Remove(p) == nil && p != d.made; {
		p = filepath.Dir(p)
	}
}

// exchangeByRename swaps two directories where the system cannot do it in one
// step.
func exchangeByRename(a, b string) error {
	old := a + ".old"
	if err := os.Rename(b, old); err != nil {
		return err
	}
	if err := os.Rename(a, b); err != nil {
		return errors.Join(err, os.Rename(old, b))
	}
	return os.Rename(old, a)
}

func sameFile(a, b string) bool {
	x, errX := os.Stat(a)
	y, errY := os.Stat(b)
	return errX == nil && errY == nil && os.SameFile(x, y)
}
