package kernel

import "unsafe"

// Zeros returns n zeros for sums to be added to. Memory that is new to a program and that it reads before
// it writes is at first a page of zeros that all share, and another page from the first write on; that
// exchange interrupts every processor on which the program runs. So a number of each page is written.
func Zeros[T Float](n int) []T {
	const page = 4096 // bytes, on most systems; on none are there fewer
	v := make([]T, n)
	for i := 0; i < n; i += page / int(unsafe.Sizeof(v[0])) {
		v[i] = 0
	}
	return v
}
