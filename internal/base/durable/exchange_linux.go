package durable

import (
	"errors"

	"golang.org/x/sys/unix"
)

// exchange swaps two directories atomically, so that at every moment the target
// is either the earlier result or the new one.
func exchange(a, b string) error {
	err := unix.Renameat2(unix.AT_FDCWD, a, unix.AT_FDCWD, b, unix.RENAME_EXCHANGE)
	if errors.Is(err, unix.ENOSYS) || errors.Is(err, unix.EINVAL) { // old kernels, some file systems
		return exchangeByRename(a, b)
	}
	return err
}
