//go:build unix && !solaris && !illumos && !aix

package durable

import "os"

// claim locks an unfinished file or directory for as long as it is open, that is, at
// most until the process ends, however it ends. It reports whether nobody else has.
func claim(f *os.File) bool {
	locked, err := tryLock(f)
	return locked && err == nil
}

// Claims reports whether this system ends the claims of a process with the process.
const Claims = true
