//go:build !linux

package main

func exchange(a, b string) error { return exchangeByRename(a, b) }
