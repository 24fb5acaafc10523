package machine

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// The memory is the machine's, or the limit of a control group of either version, at any level above the process.
func TestMemory(t *testing.T) {
	if m := Memory(); m < 64<<20 || m > 1<<50 {
		t.Errorf("%d bytes", m)
	}
	root := t.TempDir()
	for name, text := range map[string]string{
		"memory.max": "max\n", "pod/memory.max": "1000000\n", "pod/box/memory.max": "max\n",
		"memory/pod/memory.limit_in_bytes": "2000000\n", "memory/memory.limit_in_bytes": "9223372036854771712\n",
	} {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	for groups, want := range map[string][]int64{
		"0::/pod/box\n":               {1000000},
		"0::/\n":                      nil,
		"":                            nil,
		"3:cpu:/pod\n4:memory:/pod\n": {2000000, 0},
	} {
		if got := groupBounds(root, groups); !slices.Equal(got, want) {
			t.Errorf("%q: %d, want %d", groups, got, want)
		}
	}
}
