//go:build !amd64 || purego

package kernel

func hasDecimals() bool { return false }

func runDecimals(*decimalTexts) {}
