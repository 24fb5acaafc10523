package durable

import (
	"crypto/rand"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// TempMark is in the names of unfinished files and directories.
const TempMark = ".pho-"

// tempRandom is the length of the random part of a hidden name.
const tempRandom = 12

// TempName is a new hidden name beside path.
func TempName(path string) string {
	dir, name := filepath.Split(path)
	return filepath.Join(dir, "."+name+TempMark+rand.Text()[:tempRandom])
}

// Named is the name of the file that an unfinished one of this name was to become;
// ok is false if the name is not that of an unfinished file.
func Named(name string) (finished string, ok bool) {
	before, _, ok := strings.Cut(name, TempMark)
	return strings.TrimPrefix(before, "."), ok
}

// Claimed opens a new unfinished file or directory, which nobody takes for one that
// was left behind as long as it is open. ok is false if somebody did before.
func Claimed(path string) (f *os.File, ok bool) {
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
// hidden sibling that TempName made, that no process has claimed, and that holds
// nothing but entries that own takes for its own (nil: the sibling of a file).
func removeLeftovers(target string, own func(os.DirEntry) bool) {
	if !Claims {
		return
	}
	dir, name := filepath.Split(target)
	entries, err := os.ReadDir(filepath.Clean(dir))
	if err != nil {
		return
	}
	for _, e := range entries {
		random, ok := strings.CutPrefix(e.Name(), "."+name+TempMark)
		if !ok || len(random) != tempRandom || strings.Trim(random, "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567") != "" {
			continue
		}
		if e.IsDir() != (own != nil) || !e.IsDir() && !e.Type().IsRegular() {
			continue
		}
		removeLeftover(filepath.Join(dir, e.Name()), own)
	}
}

func removeLeftover(path string, own func(os.DirEntry) bool) {
	f, ok := Claimed(path)
	if !ok {
		return // its process is at work, or it is somebody else's
	}
	defer f.Close()
	if own == nil {
		_ = os.Remove(path)
		return
	}
	entries, err := os.ReadDir(path)
	if err != nil {
		return
	}
	for _, e := range entries {
		if !own(e) {
			return
		}
	}
	_ = os.RemoveAll(path)
}

// RemoveDir removes a directory: a kill leaves it whole, or hides what is left of it, which the next
// call for the same name removes.
func RemoveDir(path string) error {
	path = filepath.Clean(path)
	removeLeftovers(path, func(os.DirEntry) bool { return true })
	hidden := TempName(path)
	if err := os.Rename(path, hidden); err != nil {
		return fmt.Errorf("%q cannot be removed: %w", path, Reason(err))
	}
	if err := os.RemoveAll(hidden); err != nil {
		return fmt.Errorf("%q cannot be removed: %w", hidden, Reason(err))
	}
	return nil
}
