package data

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Expand replaces each pattern (*, ?, [...] as in filepath.Match) by the sorted
// names of the files that match it, in the order of patterns. Names without
// these marks, names of files that exist and "-" are passed through. A pattern
// that is malformed or matches nothing is an error.
func Expand(patterns []string) ([]string, error) {
	var names []string
	for _, p := range patterns {
		if !strings.ContainsAny(p, "*?[") || exists(p) {
			names = append(names, p)
			continue
		}
		matches, err := filepath.Glob(p)
		if err != nil {
			return nil, fmt.Errorf("data: the pattern %q is malformed: %w", p, err)
		}
		if len(matches) == 0 {
			return nil, fmt.Errorf("data: no file matches %q", p)
		}
		slices.Sort(matches)
		names = append(names, matches...)
	}
	return names, nil
}

func exists(name string) bool {
	_, err := os.Lstat(name)
	return err == nil
}
