package decompose

import (
	"maps"
	"slices"
)

func contains(names []string, name string) bool { return slices.Contains(names, name) }

// union appends to a the names of b that it lacks, in order.
func union(a, b []string) []string {
	for _, name := range b {
		if !contains(a, name) {
			a = append(a, name)
		}
	}
	return a
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
