//go:build !windows && (!unix || solaris || illumos || aix)

package durable

import (
	"errors"
	"os"
)

// tryLock is an error where no lock ends with its process.
func tryLock(*os.File) (bool, error) { return false, errors.ErrUnsupported }
