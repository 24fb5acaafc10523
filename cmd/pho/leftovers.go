package main

import (
	"os"
	"path/filepath"
	"strings"
)

// claimed opens a new unfinished file or directory, which nobody takes for one that
// was left behind as long as it is open. ok is false if somebody did before.
func claimed(path string) (f *os.File, ok bool) {
	f, err := os.Open(path)
	if err != nil {
		return nil, false
	}
	if claim(f) {
		here, err := os.Stat(path)
		mine, errMine := f.Stat()
		if err == nil && errMine == nil && os.SameFile(here, mine) {
			return f, true
		}
	}
	f.Close()
	return nil, false
}

// removeLeftovers removes what runs into target that were killed left beside it: a
// hidden sibling that tempName made, that no process has claimed, and that holds
// nothing but files of a result (files; nil: the sibling of a file).
func removeLeftovers(target string, files dirFiles) {
	if !claims {
		return
	}
	dir, name := filepath.Split(target)
	entries, err := os.ReadDir(filepath.Clean(dir))
	if err != nil {
		return
	}
	for _, e := range entries {
		random, ok := strings.CutPrefix(e.Name(), "."+name+tempMark)
		if !ok || len(random) != tempRandom || strings.Trim(random, "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567") != "" {
			continue
		}
		if e.IsDir() != (files != nil) || !e.IsDir() && !e.Type().IsRegular() {
			continue
		}
		removeLeftover(filepath.Join(dir, e.Name()), files)
	}
}

func removeLeftover(path string, files dirFiles) {
	f, ok := claimed(path)
	if !ok {
		return // its process is at work, or it is somebody else's
	}
	defer f.Close()
	if files == nil {
		_ = os.Remove(path)
		return
	}
	entries, err := os.ReadDir(path)
	if err != nil {
		return
	}
	for _, e := range entries {
		if !files.have(e) {
			return
		}
	}
	_ = os.RemoveAll(path)
}
