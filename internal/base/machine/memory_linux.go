package machine

import (
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// bounds are the memory of the machine, of the process' control groups, and of its address space.
func bounds() []int64 {
	var all []int64
	var info unix.Sysinfo_t
	if unix.Sysinfo(&info) == nil {
		all = append(all, clipped(uint64(info.Totalram)*uint64(info.Unit)))
	}
	var limit unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_AS, &limit) == nil {
		all = append(all, clipped(limit.Cur))
	}
	groups, _ := os.ReadFile("/proc/self/cgroup") // without it there are none
	return append(all, groupBounds("/sys/fs/cgroup", string(groups))...)
}

// groupBounds are the limits of the control groups that a process is in, and of those around them, of either version;
// root is where the system shows them, groups what /proc/self/cgroup says.
func groupBounds(root, groups string) (all []int64) {
	for line := range strings.Lines(groups) { // number:controllers:path
		part := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(part) < 3 {
			continue
		}
		top, name := root, "memory.max"
		if part[1] != "" {
			top, name = filepath.Join(root, "memory"), "memory.limit_in_bytes"
		}
		if part[1] != "" && part[1] != "memory" {
			continue
		}
		for dir := filepath.Clean("/" + part[2]); ; dir = filepath.Dir(dir) {
			text, err := os.ReadFile(filepath.Join(top, dir, name))
			if bytes, bad := strconv.ParseUint(strings.TrimSpace(string(text)), 10, 64); err == nil && bad == nil { // "max": none
				all = append(all, clipped(bytes))
			}
			if dir == "/" {
				break
			}
		}
	}
	return all
}

// clipped is a number of bytes; 0, not known, for one that no machine has.
func clipped(bytes uint64) int64 {
	if bytes > math.MaxInt64/2 {
		return 0
	}
	return int64(bytes)
}
