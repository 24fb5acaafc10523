//go:build !linux

package durable

// forget does nothing where the system is not told.
func forget(string) {}
