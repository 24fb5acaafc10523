package revision

import (
	"runtime/debug"
	"strings"
	"testing"
)

func TestClean(t *testing.T) {
	const hash = "0123456789abcdef0123456789abcdef01234567"
	stamped := func(modified string) *debug.BuildInfo {
		return &debug.BuildInfo{Settings: []debug.BuildSetting{{Key: "vcs", Value: "git"}, {Key: "vcs.revision", Value: hash}, {Key: "vcs.modified", Value: modified}}}
	}
	if commit, err := Clean(stamped("false")); commit != hash[:12] || err != nil {
		t.Error(commit, err)
	}
	if commit, modified, err := Of(stamped("true")); commit != hash[:12] || !modified || err != nil {
		t.Error(commit, modified, err)
	}
	if commit, err := Clean(stamped("true")); commit != "" || err == nil || !strings.Contains(err.Error(), "differs from its commit 0123456789ab") {
		t.Error(commit, err)
	}
	if clean, changed := Name(stamped("false")), Name(stamped("true")); clean != hash[:12] || changed != hash[:12]+"+changes" {
		t.Error(clean, changed)
	}
	for _, info := range []*debug.BuildInfo{nil, {}} {
		if name := Name(info); name != "" {
			t.Error(name)
		}
		if commit, err := Clean(info); commit != "" || err == nil || !strings.Contains(err.Error(), "-buildvcs=true") {
			t.Error(commit, err)
		}
	}
}
