package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// platform is an operating system and a processor as Go names them.
type platform struct{ system, processor string }

func (p platform) environment() []string {
	return []string{"CGO_ENABLED=0", "GOWORK=off", "GOFLAGS=", "GOOS=" + p.system, "GOARCH=" + p.processor, "GOAMD64=v1", "GOARM64=v8.0"}
}

// program is a command of a release: pho, and the helper that loads ONNX Runtime for it.
type program struct{ name, module string }

// programs are those of every archive.
func programs() []program {
	return []program{{"pho", "."}, {"pho-ort", "adapters/onnx/ort"}}
}

// release writes an archive for each platform and SHA256SUMS to out, and returns
// the text of the latter.
func release(ctx context.Context, root, out string) (sums string, err error) {
	if status, err := output(ctx, root, nil, "git", "status", "--porcelain"); err != nil {
		return "", err
	} else if status != "" {
		return "", fmt.Errorf("%s differs from its commit; commit or put away:\n%s", root, status)
	}
	seconds, err := output(ctx, root, nil, "git", "log", "-1", "--format=%ct")
	if err != nil {
		return "", err
	}
	unix, err := strconv.ParseInt(strings.TrimSpace(seconds), 10, 64)
	if err != nil {
		return "", err
	}
	version, err := versionOf(ctx, root)
	if err != nil {
		return "", err
	}
	if err := checkTag(ctx, root, version); err != nil {
		return "", err
	}
	if err := os.MkdirAll(out, 0o755); err != nil {
		return "", err
	}
	at := time.Unix(unix, 0).UTC()
	further, err := manuals(ctx, root, at)
	if err != nil {
		return "", err
	}
	var lines strings.Builder
	for _, p := range platforms() {
		archive, name, err := build(ctx, root, version, p, at, further)
		if err != nil {
			return "", fmt.Errorf("%s/%s: %w", p.system, p.processor, err)
		}
		if err := os.WriteFile(filepath.Join(out, name), archive, 0o644); err != nil {
			return "", err
		}
		fmt.Fprintf(&lines, "%x  %s\n", sha256.Sum256(archive), name)
	}
	return lines.String(), os.WriteFile(filepath.Join(out, "SHA256SUMS"), []byte(lines.String()), 0o644)
}

// versionOf asks the command itself: "pho 0.1.0 (...)".
func versionOf(ctx context.Context, root string) (string, error) {
	text, err := output(ctx, root, []string{"GOWORK=off"}, "go", "run", "./cmd/pho", "--version")
	if err != nil {
		return "", err
	}
	words := strings.Fields(text)
	if len(words) < 2 {
		return "", fmt.Errorf("pho --version prints %q, which names no version", text)
	}
	return words[1], nil
}

// checkTag refuses a commit whose tag, if it has one, names another version than the
// command does.
func checkTag(ctx context.Context, root, version string) error {
	tags, err := output(ctx, root, nil, "git", "tag", "--points-at", "HEAD", "--list", "v*")
	if err != nil {
		return err
	}
	for tag := range strings.FieldsSeq(tags) {
		if tag != "v"+version {
			return fmt.Errorf("the commit is tagged %s, but pho --version says %s: change it in internal/base/revision/release.go, or the tag", tag, version)
		}
	}
	return nil
}

// build makes the archive of one platform: the stripped programs, what one reads
// first, the licences, and further files.
func build(ctx context.Context, root, version string, p platform, at time.Time, further []file) (archive []byte, name string, err error) {
	dir, err := os.MkdirTemp("", "pho-build-")
	if err != nil {
		return nil, "", err
	}
	defer os.RemoveAll(dir)
	var files []file
	for _, own := range programs() {
		binary := own.name
		if p.system == "windows" {
			binary += ".exe"
		}
		path := filepath.Join(dir, binary)
		if _, err := output(ctx, filepath.Join(root, own.module), p.environment(), "go", "build", "-trimpath", "-buildvcs=true", "-ldflags=-s -w", "-o", path, "./cmd/"+own.name); err != nil {
			return nil, "", err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return nil, "", err
		}
		files = append(files, file{binary, 0o755, text})
	}
	for _, read := range []string{"README.md", "CHANGELOG.md", "LICENSE"} {
		text, err := os.ReadFile(filepath.Join(root, read))
		if err != nil {
			return nil, "", err
		}
		files = append(files, file{read, 0o644, text})
	}
	licences, err := licencesOf(ctx, root, p)
	if err != nil {
		return nil, "", err
	}
	files = append(files, file{"THIRD_PARTY_LICENSES.txt", 0o644, licences})
	files = append(files, further...)
	base := fmt.Sprintf("pho_%s_%s_%s", version, p.system, p.processor)
	if p.system == "windows" {
		archive, err = zipped(base, files, at)
		return archive, base + ".zip", err
	}
	archive, err = tarred(base, files, at)
	return archive, base + ".tar.gz", err
}

// output runs a command in dir with additions to the environment.
func output(ctx context.Context, dir string, environment []string, name string, arguments ...string) (string, error) {
	c := exec.CommandContext(ctx, name, arguments...)
	c.Dir, c.Env = dir, append(os.Environ(), environment...)
	var stderr bytes.Buffer
	c.Stderr = &stderr
	text, err := c.Output()
	if exit := new(exec.ExitError); errors.As(err, &exit) {
		return "", fmt.Errorf("%s %s: %w\n%s", name, strings.Join(arguments, " "), err, stderr.Bytes())
	}
	return string(text), err
}
