package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/pho-go/pho/internal/durable"
)

// Files of a result directory.
const (
	fileDecomposition = "decomposition.json"
	fileMoments       = "moments.bin"
	fileContributions = "contributions.csv"
	fileParquet       = "contributions.parquet" // in its place, if asked for
	fileEffects       = "effects.csv"
	fileReport        = "report.html"
	fileRun           = "run.json"
)

func resultFiles() dirFiles {
	return dirFiles{fileDecomposition, fileMoments, fileContributions, fileParquet, fileEffects, fileReport, fileRun}
}

// dirFiles are the files of one kind of result directory. The first is in every
// one of them.
type dirFiles []string

// resultDir is a result directory under construction: a hidden sibling of the
// target that takes its place in one rename when everything is written.
type resultDir struct {
	target, temp string
	files        dirFiles
	made         string   // the topmost parent that did not exist before; "" if all did
	claim        *os.File // of temp, see durable.Claimed
	unfinished   *durable.Unfinished
}

// newResultDir checks that target may be replaced and makes the sibling.
func newResultDir(u *durable.Unfinished, files dirFiles, target string) (*resultDir, error) {
	d := &resultDir{files: files, unfinished: u}
	var err error
	if d.target, err = durable.Resolve(target); err != nil {
		return nil, fmt.Errorf("--out %q: %w", target, err)
	}
	if _, err := d.files.replaceable(d.target); err != nil {
		return nil, err
	}
	if err := d.makeParent(); err != nil {
		d.discard()
		return nil, fmt.Errorf("--out %q cannot be written: %w", d.target, durable.Reason(err))
	}
	durable.RemoveLeftovers(d.target, d.files.have)
	for d.claim == nil { // again if another run took it for one that was left behind
		temp := durable.TempName(d.target)
		if err := os.Mkdir(temp, 0o777); err != nil {
			d.discard()
			return nil, fmt.Errorf("--out %q cannot be written: no directory can be made beside it: %w", d.target, durable.Reason(err))
		}
		u.Add(temp, func() { _ = os.RemoveAll(temp); d.removeParents() })
		d.claim, _ = durable.Claimed(temp)
		d.temp = temp
	}
	return d, nil
}

// replaceable reports whether target exists, and an error unless it is absent,
// empty, or an earlier result without foreign files.
func (files dirFiles) replaceable(target string) (exists bool, err error) {
	entries, err := os.ReadDir(target)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("--out %q: %w: give a directory", target, durable.Reason(err))
	}
	if here, err := os.Getwd(); err == nil && sameFile(here, target) {
		return false, fmt.Errorf("--out %q is the working directory, and a result takes its directory's place: give a directory in it", target)
	}
	earlier := false
	for _, e := range entries {
		earlier = earlier || e.Name() == files[0]
		if !files.have(e) {
			return false, fmt.Errorf("--out %q holds %q, which is not part of a result: give an empty or a new directory", target, e.Name())
		}
	}
	if len(entries) > 0 && !earlier {
		return false, fmt.Errorf("--out %q is neither empty nor a result (it has no %s): give an empty or a new directory", target, files[0])
	}
	return true, nil
}

// have reports whether an entry of a result directory is part of a result, or
// what an interrupted report left of one.
func (files dirFiles) have(e fs.DirEntry) bool {
	if e.IsDir() {
		return false
	}
	name := e.Name()
	if finished, ok := durable.Named(name); ok {
		name = finished
	}
	return slices.Contains(files, name)
}

// makeParent makes the target's parents and remembers the topmost new one.
func (d *resultDir) makeParent() error {
	parent := filepath.Dir(d.target)
	for p := parent; ; p = filepath.Dir(p) {
		if _, err := os.Stat(p); !errors.Is(err, fs.ErrNotExist) || p == filepath.Dir(p) {
			break
		}
		d.made = p
	}
	return os.MkdirAll(parent, 0o777)
}

func (d *resultDir) path(name string) string { return filepath.Join(d.temp, name) }

// commit brings the new directory, whose files are there already, to the disk and
// puts it in the target's place.
func (d *resultDir) commit() error {
	exists, err := d.files.replaceable(d.target) // again: hours may have passed
	if err != nil {
		return err
	}
	if err := durable.SyncDir(d.temp); err != nil {
		return err
	}
	err = d.unfinished.Place(d.temp, func() error {
		if exists {
			return exchange(d.temp, d.target)
		}
		return os.Rename(d.temp, d.target)
	})
	if err != nil {
		return fmt.Errorf("--out %q cannot be written: %w", d.target, durable.Reason(err))
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
func (d *resultDir) syncParents() error {
	for p := filepath.Dir(d.target); ; p = filepath.Dir(p) {
		if err := durable.SyncDir(p); err != nil || d.made == "" || len(p) < len(d.made) {
			return err
		}
	}
}

// discard removes what was written; the target is as it was.
func (d *resultDir) discard() {
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
func (d *resultDir) removeParents() {
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
