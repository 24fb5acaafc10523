// Package revision holds the version that this tree is released as, and tells which
// commit a program was built from, out of what the linker wrote into it: a checkout may
// have moved on since then.
package revision

import (
	"errors"
	"fmt"
	"runtime/debug"
)

// length of a commit's short name.
const length = 12

// Of is the commit in a program's build information, its first 12 digits; modified
// tells that files of the checkout differed from it, new ones among them. Nil
// information, or none about version control, is an error.
func Of(info *debug.BuildInfo) (commit string, modified bool, err error) {
	if info != nil {
		for _, s := range info.Settings {
			switch s.Key {
			case "vcs.revision":
				commit = s.Value[:min(length, len(s.Value))]
			case "vcs.modified":
				modified = s.Value == "true"
			}
		}
	}
	if commit == "" {
		return "", false, errors.New("this program does not know its commit: build it by `go build -buildvcs=true` in a clone (a linked worktree does not do)")
	}
	return commit, modified, nil
}

// Name is the commit for people to read: with "+changes" behind it if files of the
// checkout differed, and "" where the program does not know its commit.
func Name(info *debug.BuildInfo) string {
	commit, modified, err := Of(info)
	switch {
	case err != nil:
		return ""
	case modified:
		return commit + "+changes"
	}
	return commit
}

// Clean is the commit that holds all of the program: one of a modified checkout is
// an error.
func Clean(info *debug.BuildInfo) (commit string, err error) {
	commit, modified, err := Of(info)
	if err == nil && modified {
		return "", fmt.Errorf("this program was built from a checkout that differs from its commit %s: commit the changes, or build it in a clone", commit)
	}
	return commit, err
}
