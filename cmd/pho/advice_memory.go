package main

import (
	"slices"
	"strings"

	"github.com/pho-go/pho/decompose"
)

// memoryInFlags says by flags what makes the parts of m smaller.
func memoryInFlags(m decompose.Memory) decompose.Memory {
	flags := strings.NewReplacer(decompose.FewerWorkers, "fewer --workers", decompose.OutputsInFile, "--zeta-cache FILE")
	m = slices.Clone(m)
	for i := range m {
		m[i].Advice = flags.Replace(m[i].Advice)
	}
	return m
}
