//go:build linux && amd64 && !purego

package kernel

import "golang.org/x/sys/unix"

// askForTiles asks Linux for the registers of tiles (arch_prctl, ARCH_REQ_XCOMP_PERM).
func askForTiles() bool {
	const (
		requestPermission = 0x1023
		tileData          = 18
	)
	_, _, errno := unix.RawSyscall(unix.SYS_ARCH_PRCTL, requestPermission, tileData, 0)
	return errno == 0
}
