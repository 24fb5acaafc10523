package command

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/pho-go/pho/internal/app/resultdir"
)

// Every file is brought to the disk before it takes its place, and every directory
// after a name in it has changed: as the system's calls are, where strace can see them.
func TestSyncBeforeRename(t *testing.T) {
	if testing.Short() {
		t.Skip("SKIPPED: it takes long, and starts nothing that the race detector, which runs -short, could see")
	}
	strace, err := exec.LookPath("strace")
	if err != nil {
		t.Skip("no strace to see the system's calls with")
	}
	temp := t.TempDir()
	place := func(names ...string) string { return filepath.Join(append([]string{temp}, names...)...) }
	write(t, place("rows.csv"), rows(40))
	decompose := []string{"decompose", "--model", golden("ssn_op13"), "--data", place("rows.csv"), "--input", "x=x0..x4", "--formula", "~ g"}
	for _, c := range []struct {
		args    []string
		out     string
		renames int
	}{
		{append(decompose[:9:9], "--out", place("new", "er", "result")), place("new", "er", "result"), 6},
		{append(decompose[:9:9], "--out", place("new", "er", "result")), place("new", "er", "result"), 6},
		{append(decompose[:9:9], "--contributions", "parquet", "--out", place("parquet")), place("parquet"), 6},
		{[]string{"apply", "--decomposition", place("new", "er", "result"), "--data", place("rows.csv"), "--out", place("applied.csv")}, place("applied.csv"), 1},
		{[]string{"train", "--data", place("rows.csv"), "--formula", "y ~ x0", "--deep", "x1", "--epochs", "2", "--checkpoint", place("state"), "--out", place("trained")}, place("trained"), 4},
		{[]string{"verify", place("new", "er", "result"), "--sign"}, place("new", "er", "result", resultdir.Decomposition), 1},
	} {
		if c.args[0] == "verify" { // what has to be signed is written
			write(t, c.out, read(t, c.out)+"\n")
		}
		log := place("strace.log")
		cmd := exec.Command(strace, append([]string{"-f", "-y", "-s", "4096", "-e", "trace=fsync,rename,renameat,renameat2", "-o", log, os.Args[0]}, c.args...)...)
		cmd.Env = append(os.Environ(), "PHO_TEST_COMMAND=1")
		if out, err := cmd.CombinedOutput(); err != nil {
			if strings.Contains(string(out), "ptrace") || strings.Contains(string(out), "PTRACE") {
				t.Skipf("strace is not allowed to look: %s", out)
			}
			t.Fatalf("pho %q: %v\n%s", c.args, err, out)
		}
		checkCalls(t, c.args[0], read(t, log), c.out, c.renames)
	}
}

var (
	syncCall   = regexp.MustCompile(`fsync\(\d+<([^>]*)>`)
	renameCall = regexp.MustCompile(`rename(?:at2?)?\([^"]*"([^"]*)",[^"]*"([^"]*)"`)
)

// checkCalls reads the calls of a command: each rename follows a sync of what is
// renamed and precedes one of the directory; the last but one is of out.
func checkCalls(t *testing.T, command, log, out string, renames int) {
	t.Helper()
	synced, waiting, found := map[string]bool{}, map[string]bool{}, 0
	for _, line := range strings.Split(log, "\n") {
		if m := syncCall.FindStringSubmatch(line); m != nil {
			synced[m[1]] = true
			delete(waiting, m[1])
		}
		m := renameCall.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		found++
		if !synced[m[1]] {
			t.Errorf("%s: %q was renamed before it was on the disk", command, m[1])
		}
		waiting[filepath.Dir(m[2])] = true
		synced[m[2]] = true
		if m[2] != out {
			continue
		}
		entries, _ := os.ReadDir(out) // a directory, or nothing
		for _, e := range entries {
			if name := filepath.Join(m[1], e.Name()); !synced[name] {
				t.Errorf("%s: %q was not on the disk when the result took its place", command, name)
			}
		}
	}
	for dir := range waiting {
		t.Errorf("%s: the names in %q did not come to the disk", command, dir)
	}
	if found < renames {
		t.Errorf("%s: %d renames, want %d:\n%s", command, found, renames, log)
	}
}
