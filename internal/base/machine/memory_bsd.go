//go:build darwin || freebsd

package machine

import (
	"runtime"

	"golang.org/x/sys/unix"
)

func bounds() []int64 {
	name := "hw.memsize"
	if runtime.GOOS != "darwin" {
		name = "hw.physmem"
	}
	bytes, err := unix.SysctlUint64(name)
	if err != nil {
		return nil
	}
	return []int64{int64(bytes)}
}
