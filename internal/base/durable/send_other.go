//go:build !linux

package durable

import (
	"errors"
	"os"
)

// send does nothing where only whole files can be sent to the disk.
func send(*os.File, int64, int64) error { return errors.ErrUnsupported }
