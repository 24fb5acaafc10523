package experiment

import (
	"cmp"
	"encoding/json"
	"io"
	"math"
	"os"
	"runtime"
	"runtime/debug"
	"strings"
	"time"

	"github.com/pho-go/pho/internal/base/revision"
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
func (e *Experiment) writeProvenance() error {
	seconds := e.seconds
	if seconds == 0 {
		seconds = time.Since(e.started).Seconds()
	}
	p := provenance{
		Command:  strings.Join(append([]string{"examples/paper/" + e.Name}, e.command...), " "),
		Commit:   commit(),
		Go:       runtime.Version(),
		Platform: runtime.GOOS + "/" + runtime.GOARCH,
		Procs:    runtime.GOMAXPROCS(0),
		Started:  e.started.UTC().Format(time.RFC3339),
		Seconds:  math.Round(seconds*10) / 10,
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

// commit is the one that the program was built from, with "+changes" if files of the
// checkout differed; "unknown" where the program was not told, as by go run.
func commit() string {
	info, _ := debug.ReadBuildInfo()
	return cmp.Or(revision.Name(info), "unknown")
}

// Took says when a run began and how long it took, where it was made in several
// sittings; otherwise both are this program's.
func (e *Experiment) Took(began time.Time, seconds float64) {
	e.started, e.seconds = began, seconds
}

// Machine names the processor; it is the architecture's name where the system does
// not tell.
func Machine() string {
	info, err := os.ReadFile("/proc/cpuinfo")
	if err != nil {
		return runtime.GOARCH
	}
	for line := range strings.Lines(string(info)) {
		if name, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(name) == "model name" {
			return strings.TrimSpace(value)
		}
	}
	return runtime.GOARCH
}
