package durable

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// send begins to write bytes of a file to the disk, and does not wait.
func send(f *os.File, from, n int64) error {
	raw, err := f.SyscallConn()
	if err != nil {
		return err
	}
	var failed error
	err = raw.Control(func(fd uintptr) { failed = unix.SyncFileRange(int(fd), from, n, unix.SYNC_FILE_RANGE_WRITE) })
	return errors.Join(err, failed)
}
