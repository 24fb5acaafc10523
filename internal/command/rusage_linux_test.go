package command

import (
	"os"
	"syscall"
)

// memoryOf is the most memory that a process held, in KiB.
func memoryOf(p *os.ProcessState) int64 {
	if usage, ok := p.SysUsage().(*syscall.Rusage); ok {
		return usage.Maxrss
	}
	return 0
}
