// Package machine knows what the machine has.
package machine

// Memory is how many bytes of memory this process can have: those of the machine, or fewer where its container or a
// limit of the process says so; 0 where that is not known. What others use at the moment is not taken off.
func Memory() int64 {
	least := int64(0)
	for _, bytes := range bounds() {
		if bytes > 0 && (least == 0 || bytes < least) {
			least = bytes
		}
	}
	return least
}
