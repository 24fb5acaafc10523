package machine

import (
	"unsafe"

	"golang.org/x/sys/windows"
)

func bounds() []int64 {
	var status struct { // MEMORYSTATUSEX
		length, load uint32
		total        uint64
		others       [6]uint64
	}
	status.length = uint32(unsafe.Sizeof(status))
	ask := windows.NewLazySystemDLL("kernel32.dll").NewProc("GlobalMemoryStatusEx")
	if ask.Find() != nil {
		return nil
	}
	if ok, _, _ := ask.Call(uintptr(unsafe.Pointer(&status))); ok == 0 {
		return nil
	}
	return []int64{int64(status.total)}
}
