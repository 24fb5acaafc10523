package data

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// Expand is ExpandIn on the disk.
func Expand(patterns []string) ([]string, error) {
	return ExpandIn(context.Background(), Disk{}, patterns)
}

// ExpandIn replaces each pattern (*, ?, [...] as in filepath.Match) by the sorted
// names of the files that match it, in the order of patterns. Names without
// these marks, names of files that exist and "-" are passed through. Names that begin with . or _
// match only a pattern that does: programs keep notes in such files (_SUCCESS). A pattern
// that is malformed or matches nothing is an error. In a URL the first ? is no mark: its
// query begins there.
func ExpandIn(ctx context.Context, files Store, patterns []string) ([]string, error) {
	var names []string
	for _, p := range patterns {
		if !isPattern(p) || exists(p) {
			names = append(names, p)
			continue
		}
		matches, err := files.List(ctx, p)
		if errors.Is(err, filepath.ErrBadPattern) {
			return nil, fmt.Errorf("data: the pattern %q is malformed: %w", p, err)
		}
		if err != nil {
			return nil, fmt.Errorf("data: the files that match %q cannot be listed: %w", p, cause(err))
		}
		matches = slices.DeleteFunc(matches, func(name string) bool { return hidden(name) && !hidden(p) })
		if len(matches) == 0 {
			return nil, fmt.Errorf("data: no file matches %q", p)
		}
		names = append(names, matches...)
	}
	return names, nil
}

// hidden tells whether the last part of a name begins with . or _.
func hidden(name string) bool {
	base := path.Base(filepath.ToSlash(name))
	return strings.HasPrefix(base, ".") || strings.HasPrefix(base, "_")
}

func isPattern(name string) bool {
	if IsURL(name) {
		name, _, _ = strings.Cut(name, "?")
	}
	return strings.ContainsAny(name, "*?[")
}

func exists(name string) bool {
	_, err := os.Lstat(name)
	return err == nil
}
