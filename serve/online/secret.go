package online

import (
	"crypto/sha256"
	"crypto/subtle"
)

// sameSecret compares in a time that tells nothing about where they differ, or of their
// lengths.
func sameSecret(given []byte, want string) bool {
	a, b := sha256.Sum256(given), sha256.Sum256([]byte(want))
	return want != "" && subtle.ConstantTimeCompare(a[:], b[:]) == 1
}
