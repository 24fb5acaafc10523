package experiment

import (
	"context"
	"encoding/json"
	"io"
	"math"
	"os/exec"
	"runtime"
	"strings"
	"time"
)

// provenance says how files came about.
type provenance struct {
	Command  string         `json:"command"`
	Commit   string         `json:"commit"`
	Go       string         `json:"go"`
	Platform string         `json:"platform"`
	Procs    int            `json:"gomaxprocs"`
	Started  string         `json:"started"`
	Seconds  float64        `json:"seconds"`
	Seed     uint64         `json:"seed"`
	Quick    bool           `json:"quick"`
	Settings map[string]any `json:"settings,omitempty"`
	Files    []string       `json:"files"`
}

// writeProvenance writes NAME.json next to the results of program NAME.
func (e *Experiment) writeProvenance(ctx context.Context) error {
	p := provenance{
		Command:  strings.Join(append([]string{"go run ./examples/paper/" + e.Name}, e.command...), " "),
		Commit:   commit(ctx),
		Go:       runtime.Version(),
		Platform: runtime.GOOS + "/" + runtime.GOARCH,
		Procs:    runtime.GOMAXPROCS(0),
		Started:  e.started.UTC().Format(time.RFC3339),
		Seconds:  math.Round(time.Since(e.started).Seconds()*10) / 10,
		Seed:     e.Seed,
		Quick:    e.Quick,
		Settings: e.settings,
		Files:    e.files,
	}
	return e.WriteFile(e.Name+".json", func(w io.Writer) error {
		enc := json.NewEncoder(w)
		enc.SetEscapeHTML(false)
		enc.SetIndent("", "  ")
		return enc.Encode(p)
	})
}

// commit is the checkout's, with "+changes" if files that it tracks are modified.
func commit(ctx context.Context) string {
	hash, err := exec.CommandContext(ctx, "git", "rev-parse", "--short=12", "HEAD").Output()
	if err != nil {
		return "unknown"
	}
	name := strings.TrimSpace(string(hash))
	if err := exec.CommandContext(ctx, "git", "diff", "--quiet", "HEAD", "--", "*.go", "*.s").Run(); err != nil {
		name += "+changes"
	}
	return name
}
