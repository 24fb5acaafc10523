package main

import (
	"fmt"
	"os"
)

// writeFile writes a file under a hidden name beside it first, so that a failure
// leaves what was there. What is not a regular file (a pipe, a device) is
// written to as it is.
func writeFile(path string, write func(*os.File) error) error {
	target, err := resolve(path)
	if err != nil {
		return fmt.Errorf("%q cannot be written: %w", path, err)
	}
	if info, err := os.Stat(target); err == nil && !info.Mode().IsRegular() {
		if info.IsDir() {
			return fmt.Errorf("%q cannot be written: it is a directory", path)
		}
		f, err := os.OpenFile(target, os.O_WRONLY, 0)
		if err != nil {
			return fmt.Errorf("%q cannot be written: %w", path, reason(err))
		}
		return finish(f, write)
	}
	removeLeftovers(target, nil)
	temp := tempName(target)
	f, err := os.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return fmt.Errorf("%q cannot be written: %w", path, reason(err))
	}
	claim(f) // a run that comes between finds an empty file: the rename below then fails
	if err := finish(f, write); err != nil {
		_ = os.Remove(temp)
		return err
	}
	if err := os.Rename(temp, target); err != nil {
		_ = os.Remove(temp)
		return fmt.Errorf("%q cannot be written: %w", path, reason(err))
	}
	return nil
}

// finish writes and closes f.
func finish(f *os.File, write func(*os.File) error) error {
	err := write(f)
	if closed := f.Close(); err == nil {
		err = closed
	}
	return err
}
