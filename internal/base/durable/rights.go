package durable

import (
	"io/fs"
	"os"
	"path/filepath"
)

// inherit gives a new file or directory the owner, the group and the mode of what it is about to replace, as
// far as the process may. To a group that is not the earlier one it gives no more than to everybody.
func inherit(path string, replaced fs.FileInfo) error {
	mode := replaced.Mode() & (fs.ModePerm | fs.ModeSetgid | fs.ModeSticky)
	if !giveTo(path, replaced) {
		mode &^= 0o070 &^ (mode << 3)
	}
	return os.Chmod(path, mode)
}

// inheritAll gives a new directory and its files what the earlier ones of the same names have.
func inheritAll(dir, replaced string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if info, err := os.Lstat(filepath.Join(replaced, e.Name())); err == nil && info.Mode().IsRegular() {
			if err := inherit(filepath.Join(dir, e.Name()), info); err != nil {
				return err
			}
		}
	}
	info, err := os.Stat(replaced)
	if err != nil {
		return err
	}
	return inherit(dir, info)
}
