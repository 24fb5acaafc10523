package command

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/pho-go/pho/internal/app/resultdir"
	"github.com/pho-go/pho/internal/base/durable"
)

// Leftovers of dead runs into the same name go with the next run; directories that a
// process has claimed, that hold other files, or that have another name stay.
func TestLeftovers(t *testing.T) {
	if !durable.Claims {
		t.Skip("no locks that end with their process on this system")
	}
	temp := t.TempDir()
	place := func(names ...string) string { return filepath.Join(append([]string{temp}, names...)...) }
	for _, dir := range []string{
		".result.pho-AAAABBBBCCC2", ".result.pho-CLAIMEDCLAIM", ".result.pho-FOREIGNFOREI",
		".result.pho-AAAABBBBCCC2.old", ".result.pho-short", ".result.pho-aaaabbbbccc2", ".result2.pho-AAAABBBBCCC2", ".other.pho-AAAABBBBCCC2",
	} {
		mkdir(t, place(dir))
		write(t, place(dir, resultdir.Moments), "")
	}
	write(t, place(".result.pho-FOREIGNFOREI", "thesis.tex"), "")
	write(t, place(".result.pho-FILEFILEFILE"), "a file, not a directory")
	if err := os.Symlink(place(".other.pho-AAAABBBBCCC2"), place(".result.pho-LINKLINKLINK")); err != nil {
		t.Fatal(err)
	}
	held, ok := durable.Claimed(place(".result.pho-CLAIMEDCLAIM"))
	if !ok {
		t.Fatal("cannot be claimed")
	}
	defer held.Close()
	before := leftovers(t, temp)
	dir, err := durable.NewDir(nil, resultdir.Files(), place("result"))
	if err != nil {
		t.Fatal(err)
	}
	dir.Discard()
	after := leftovers(t, temp)
	if len(after) != len(before)-1 {
		t.Errorf("of %d there are %d left: %q", len(before), len(after), after)
	}
	if _, err := os.Stat(place(".result.pho-AAAABBBBCCC2")); err == nil {
		t.Error("the leftover is there")
	}
	// The run's own directory is claimed: another run into the name spares it.
	first, err := durable.NewDir(nil, resultdir.Files(), place("result"))
	if err != nil {
		t.Fatal(err)
	}
	second, err := durable.NewDir(nil, resultdir.Files(), place("result"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Dir(first.Path("x"))); err != nil {
		t.Errorf("a run at work lost its directory: %v", err)
	}
	first.Discard()
	second.Discard()

	write(t, place(".out.csv.pho-AAAABBBBCCC2"), "half of it")
	if err := durable.WriteFile(place("out.csv"), func(f *os.File) error { _, err := f.WriteString("all"); return err }); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(place(".out.csv.pho-AAAABBBBCCC2")); err == nil || read(t, place("out.csv")) != "all" {
		t.Error("the leftover of a file is there")
	}
}
