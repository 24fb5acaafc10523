//go:build unix

package durable

import (
	"io/fs"
	"os"
	"syscall"
)

// giveTo gives path to the owner and the group that info names, and reports whether it has the group.
func giveTo(path string, info fs.FileInfo) bool {
	of, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return false
	}
	return os.Chown(path, int(of.Uid), int(of.Gid)) == nil || os.Chown(path, -1, int(of.Gid)) == nil
}
