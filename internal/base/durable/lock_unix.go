//go:build unix && !solaris && !illumos && !aix

package durable

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// tryLock locks f unless somebody else has; it is unlocked when f is closed.
func tryLock(f *os.File) (bool, error) {
	for {
		err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		switch {
		case err == nil:
			return true, nil
		case errors.Is(err, unix.EWOULDBLOCK):
			return false, nil
		case !errors.Is(err, unix.EINTR):
			return false, err
		}
	}
}
