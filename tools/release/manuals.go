package main

import (
	"context"
	"os"
	"path"
	"path/filepath"
	"time"
)

// completions are the shells that archives have completions for, and what their files are
// called where the shells look for them.
func completions() map[string]string {
	return map[string]string{"bash": "pho.bash", "zsh": "_pho", "fish": "pho.fish", "powershell": "pho.ps1"}
}

// manuals are the manual pages, dated at, and the completions for shells, as the command
// itself writes them: the same for all platforms.
func manuals(ctx context.Context, root string, at time.Time) ([]file, error) {
	dir, err := os.MkdirTemp("", "pho-manuals-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	program, pages := filepath.Join(dir, "pho"), filepath.Join(dir, "man1")
	if _, err := output(ctx, root, []string{"GOWORK=off"}, "go", "build", "-buildvcs=false", "-o", program, "./cmd/pho"); err != nil {
		return nil, err
	}
	if _, err := output(ctx, root, []string{"GOWORK=off"}, "go", "run", "./internal/command/manuals", "-date", at.Format(time.DateOnly), pages); err != nil {
		return nil, err
	}
	entries, err := os.ReadDir(pages) // by name
	if err != nil {
		return nil, err
	}
	var out []file
	for _, e := range entries {
		text, err := os.ReadFile(filepath.Join(pages, e.Name()))
		if err != nil {
			return nil, err
		}
		out = append(out, file{path.Join("man", "man1", e.Name()), 0o644, text})
	}
	for _, shell := range []string{"bash", "zsh", "fish", "powershell"} {
		text, err := output(ctx, root, nil, program, "completion", shell)
		if err != nil {
			return nil, err
		}
		out = append(out, file{path.Join("completions", completions()[shell]), 0o644, []byte(text)})
	}
	return out, nil
}
