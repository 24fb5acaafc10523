package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Files of a result directory.
const (
	fileDecomposition = "decomposition.json"
	fileMoments       = "moments.bin"
	fileContributions = "contributions.csv"
	fileEffects       = "effects.csv"
	fileReport        = "report.html"
	fileRun           = "run.json"
)

func resultFiles() []string {
	return []string{fileDecomposition, fileMoments, fileContributions, fileEffects, fileReport, fileRun}
}

// resultDir is a result directory under construction: a hidden sibling of the
// target that takes its place in one rename when everything is written.
type resultDir struct {
	target, temp string
	replaces     bool
}

// newResultDir checks that target is absent, empty, or an earlier result
// without foreign files, and makes the sibling.
func newResultDir(target string) (*resultDir, error) {
	target, err := filepath.Abs(target)
	if err != nil {
		return nil, err
	}
	d := &resultDir{target: target}
	entries, err := os.ReadDir(target)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return nil, fmt.Errorf("--out %q: %w: give a directory", target, err)
	default:
		d.replaces = true
		earlier := false
		for _, e := range entries {
			earlier = earlier || e.Name() == fileDecomposition
			if !slices.Contains(resultFiles(), e.Name()) || e.IsDir() {
				return nil, fmt.Errorf("--out %q holds %q, which is not part of a result: give an empty or a new directory", target, e.Name())
			}
		}
		if len(entries) > 0 && !earlier {
			return nil, fmt.Errorf("--out %q is neither empty nor a result (it has no %s): give an empty or a new directory", target, fileDecomposition)
		}
	}
	parent, name := filepath.Split(target)
	if err := os.MkdirAll(parent, 0o777); err != nil {
		return nil, fmt.Errorf("--out %q: %w", target, err)
	}
	if d.temp, err = os.MkdirTemp(parent, "."+name+".pho-*"); err != nil {
		return nil, fmt.Errorf("--out %q cannot be written: %w", target, err)
	}
	if err := os.Chmod(d.temp, 0o755); err != nil {
		d.discard()
		return nil, err
	}
	return d, nil
}

func (d *resultDir) path(name string) string { return filepath.Join(d.temp, name) }

// commit puts the new directory in the target's place.
func (d *resultDir) commit() error {
	if !d.replaces {
		if err := os.Rename(d.temp, d.target); err != nil {
			return fmt.Errorf("--out %q: %w", d.target, err)
		}
		return nil
	}
	if err := exchange(d.temp, d.target); err != nil {
		return fmt.Errorf("--out %q: %w", d.target, err)
	}
	return os.RemoveAll(d.temp) // now the earlier result
}

// discard removes what was written; the target is as it was.
func (d *resultDir) discard() {
	if d.temp != "" && strings.Contains(filepath.Base(d.temp), ".pho-") {
		_ = os.RemoveAll(d.temp)
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

// writeFile writes a file in a hidden sibling first, so that a failure leaves
// what was there.
func writeFile(path string, write func(*os.File) error) (err error) {
	dir, name := filepath.Split(path)
	f, err := os.CreateTemp(filepath.Clean(dir+"."), "."+name+".pho-*")
	if err != nil {
		return fmt.Errorf("%q cannot be written: %w", path, err)
	}
	defer func() {
		if err != nil {
			_ = f.Close()
			_ = os.Remove(f.Name())
		}
	}()
	if err := write(f); err != nil {
		return err
	}
	if err := f.Chmod(0o644); err != nil {
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}
