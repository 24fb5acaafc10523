//go:build !linux

package durable

func exchange(a, b string) error { return exchangeByRename(a, b) }
