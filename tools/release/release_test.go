package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"context"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
)

// TestArchivesHoldTheFiles reads both kinds back; equal input gives equal bytes.
func TestArchivesHoldTheFiles(t *testing.T) {
	at := time.Unix(1_700_000_000, 0).UTC()
	files := []file{{"pho", 0o755, bytes.Repeat([]byte("binary "), 10_000)}, {"LICENSE", 0o644, []byte("text")}}
	var made [2][2][]byte
	for i := range made {
		var err error
		if made[i][0], err = tarred("base", files, at); err != nil {
			t.Fatal(err)
		}
		if made[i][1], err = zipped("base", files, at); err != nil {
			t.Fatal(err)
		}
	}
	if !bytes.Equal(made[0][0], made[1][0]) || !bytes.Equal(made[0][1], made[1][1]) {
		t.Error("two archives of the same files differ")
	}
	z, err := gzip.NewReader(bytes.NewReader(made[0][0]))
	if err != nil {
		t.Fatal(err)
	}
	r := tar.NewReader(z)
	for _, f := range files {
		h, err := r.Next()
		if err != nil {
			t.Fatal(err)
		}
		data, err := io.ReadAll(r)
		if err != nil || h.Name != "base/"+f.name || h.Mode != f.mode || !h.ModTime.Equal(at) || !bytes.Equal(data, f.data) {
			t.Errorf("tar: %v %v %v", h, len(data), err)
		}
	}
	zr, err := zip.NewReader(bytes.NewReader(made[0][1]), int64(len(made[0][1])))
	if err != nil {
		t.Fatal(err)
	}
	for i, f := range files {
		open, err := zr.File[i].Open()
		if err != nil {
			t.Fatal(err)
		}
		data, err := io.ReadAll(open)
		if err != nil || zr.File[i].Name != "base/"+f.name || !bytes.Equal(data, f.data) {
			t.Errorf("zip: %v %v %v", zr.File[i].Name, len(data), err)
		}
	}
}

// TestLicencesAreThoseLinked: all modules that the programs' binaries name; on Windows
// there is one more.
func TestLicencesAreThoseLinked(t *testing.T) {
	root := filepath.Join("..", "..")
	p := platform{runtime.GOOS, runtime.GOARCH}
	ctx := context.Background()
	text, err := licencesOf(ctx, root, p)
	if err != nil {
		t.Fatal(err)
	}
	count := 0
	for _, own := range programs() {
		binary := filepath.Join(t.TempDir(), own.name)
		if _, err := output(ctx, filepath.Join(root, own.module), p.environment(), "go", "build", "-buildvcs=false", "-o", binary, "./cmd/"+own.name); err != nil {
			t.Fatal(err)
		}
		about, err := exec.Command("go", "version", "-m", binary).Output()
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(about)) {
			if words := strings.Fields(line); len(words) > 2 && words[0] == "dep" && words[1] != "github.com/pho-go/pho" {
				count++
				if !bytes.Contains(text, []byte(words[1]+" "+words[2]+": ")) {
					t.Errorf("no licence of %s %s", words[1], words[2])
				}
			}
		}
	}
	if count < 5 || !bytes.Contains(text, []byte("The Go Authors")) {
		t.Errorf("%d modules are linked, Go's own licence among them: %v", count, bytes.Contains(text, []byte("The Go Authors")))
	}
	if bytes.Contains(text, []byte("pgregory.net/rapid")) {
		t.Error("rapid, under the Mozilla Public License, is for tests and is linked into the command")
	}
	if !bytes.Contains(text, []byte(": zstd/internal/xxhash/LICENSE")) {
		t.Error("no licence of a package that a module took from elsewhere")
	}
	if text, err = licencesOf(ctx, root, platform{"windows", "amd64"}); err != nil || !bytes.Contains(text, []byte("mousetrap")) {
		t.Errorf("what Windows needs has no licence: %v", err)
	}
}

// TestChangedCheckoutIsRefused: files that are not committed would be missing in anyone
// else's build.
func TestChangedCheckoutIsRefused(t *testing.T) {
	dir := t.TempDir()
	for _, c := range [][]string{{"init", "-q"}, {"-c", "user.name=a", "-c", "user.email=a@example.org", "commit", "-q", "--allow-empty", "-m", "one"}} {
		if text, err := exec.Command("git", append([]string{"-C", dir}, c...)...).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, text)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "new.go"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	out := filepath.Join(dir, "dist")
	if _, err := release(context.Background(), dir, out); err == nil || !strings.Contains(err.Error(), "new.go") {
		t.Errorf("a changed checkout: %v", err)
	}
	if _, err := os.Stat(out); err == nil {
		t.Error("archives were written")
	}
}

// TestTagNamesTheVersion: a tag of another version is refused, one of this or none is not.
func TestTagNamesTheVersion(t *testing.T) {
	dir := t.TempDir()
	ctx := context.Background()
	git := func(arguments ...string) {
		if _, err := output(ctx, dir, nil, "git", append([]string{"-c", "user.name=a", "-c", "user.email=a@example.org"}, arguments...)...); err != nil {
			t.Fatal(err)
		}
	}
	git("init", "-q")
	git("commit", "-q", "--allow-empty", "-m", "one")
	if err := checkTag(ctx, dir, "1.2.3"); err != nil {
		t.Error(err)
	}
	git("tag", "v1.2.3")
	if err := checkTag(ctx, dir, "1.2.3"); err != nil {
		t.Error(err)
	}
	if err := checkTag(ctx, dir, "1.2.4"); err == nil || !strings.Contains(err.Error(), "tagged v1.2.3, but pho --version says 1.2.4") {
		t.Error(err)
	}
}
