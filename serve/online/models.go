package online

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/pho-go/pho/internal/app/resultdir"
	"github.com/pho-go/pho/serve"
)

// Models are decompositions by their names.
type Models struct {
	open  *serve.Options
	roots []root
	now   atomic.Pointer[map[string]*model]
	mu    sync.Mutex // of looking again
}

// root is a place that was named: a result, or a folder of results.
type root struct {
	name string // of the result; "": that of its folder
	dir  string
}

// model is a decomposition that is served.
type model struct {
	name string
	dir  string
	now  atomic.Pointer[generation]

	reloads, failures atomic.Int64
	failed            int    // looks, one after the other
	fault             string // that was told of them
	stale             atomic.Bool
	counts            modelCounts
}

// generation is what lay in a model's directory at a time.
type generation struct {
	*serve.Explainer
	version string
	mark    mark
	shape   shape
}

// mark is by what a changed result is known.
type mark struct{ decomposition, moments os.FileInfo }

func look(dir string) (m mark, err error) {
	if m.decomposition, err = os.Stat(filepath.Join(dir, resultdir.Decomposition)); err == nil {
		m.moments, err = os.Stat(filepath.Join(dir, resultdir.Moments))
	}
	return m, err
}

func (m mark) equal(o mark) bool {
	return unchanged(m.decomposition, o.decomposition) && unchanged(m.moments, o.moments)
}

func unchanged(a, b os.FileInfo) bool {
	if a == nil || b == nil {
		return a == nil && b == nil
	}
	return os.SameFile(a, b) && a.Size() == b.Size() && a.ModTime().Equal(b.ModTime())
}

// Open reads the decompositions that places name, each a directory that decompose wrote, or
// a folder of such, or NAME=DIR. The name of a model is that of its directory. o may be nil;
// its Model is for one decomposition alone. Errors: a place without a decomposition, one that
// cannot be opened, a name that two have.
func Open(places []string, o *serve.Options) (*Models, error) {
	ms := &Models{open: o}
	for _, p := range places {
		name, dir, named := strings.Cut(p, "=")
		if _, err := os.Stat(p); err == nil || !named || name == "" {
			name, dir = "", p
		}
		abs, err := filepath.Abs(dir)
		if err != nil {
			return nil, err
		}
		ms.roots = append(ms.roots, root{name, abs})
	}
	found, err := ms.find()
	if err != nil {
		return nil, err
	}
	if o != nil && o.Model != "" && len(found) > 1 {
		return nil, fmt.Errorf("a network's file is named, and there are %d decompositions: it would be that of all", len(found))
	}
	all := map[string]*model{}
	for _, name := range slices.Sorted(maps.Keys(found)) {
		m := &model{name: name, dir: found[name]}
		if err := m.load(o); err != nil {
			return nil, err
		}
		all[name] = m
	}
	ms.now.Store(&all)
	return ms, nil
}

// find looks for results below the roots: their directories by name.
func (ms *Models) find() (map[string]string, error) {
	out := map[string]string{}
	add := func(name, dir string) error {
		if other, taken := out[name]; taken {
			return fmt.Errorf("%q and %q would both be model %q: give one of them another name, as NAME=DIR", other, dir, name)
		}
		out[name] = dir
		return nil
	}
	for _, r := range ms.roots {
		if _, err := os.Stat(filepath.Join(r.dir, resultdir.Decomposition)); err == nil {
			name := r.name
			if name == "" {
				name = filepath.Base(r.dir)
			}
			if err := add(name, r.dir); err != nil {
				return nil, err
			}
			continue
		}
		inside, _ := filepath.Glob(filepath.Join(escaped(r.dir), "*", resultdir.Decomposition))
		if len(inside) == 0 {
			return nil, fmt.Errorf("%q is no directory that decompose wrote, and no folder of such", r.dir)
		}
		for _, path := range inside {
			dir := filepath.Dir(path)
			if strings.HasPrefix(filepath.Base(dir), ".") {
				continue // one that is being written
			}
			if err := add(filepath.Base(dir), dir); err != nil {
				return nil, err
			}
		}
	}
	return out, nil
}

// escaped is a path as a pattern that matches it alone.
func escaped(path string) string {
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(path)
}

// load reads the model's directory.
func (m *model) load(o *serve.Options) error {
	before, err := look(m.dir)
	if err != nil {
		return fmt.Errorf("model %q: %q holds no decomposition: %w", m.name, m.dir, err)
	}
	e, err := serve.Open(m.dir, o)
	if err != nil {
		return fmt.Errorf("model %q: %w", m.name, err)
	}
	m.now.Store(&generation{Explainer: e, version: e.Digest()[:16], mark: before, shape: shapeOf(e)})
	return nil
}

// get is the model of that name, nil if there is none.
func (ms *Models) get(name []byte) *model { return (*ms.now.Load())[string(name)] }

// all are the models by name.
func (ms *Models) all() []*model {
	now := *ms.now.Load()
	out := make([]*model, 0, len(now))
	for _, name := range slices.Sorted(maps.Keys(now)) {
		out = append(out, now[name])
	}
	return out
}

// watch looks at the directories now and then until ctx ends.
func (ms *Models) watch(ctx context.Context, every time.Duration, log *slog.Logger) {
	if every < 0 {
		return
	}
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			ms.again(log)
		}
	}
}

// again reads what has changed. What cannot be read leaves the old in its place.
func (ms *Models) again(log *slog.Logger) {
	ms.mu.Lock()
	defer ms.mu.Unlock()
	for _, m := range ms.all() {
		m.again(ms.open, log)
	}
}

func (m *model) again(o *serve.Options, log *slog.Logger) {
	seen, err := look(m.dir)
	old := m.now.Load()
	changed := err != nil || !seen.equal(old.mark)
	if changed && err == nil {
		err = m.load(o)
	}
	switch {
	case err == nil:
		m.failed, m.fault = 0, ""
		m.stale.Store(false)
	default:
		m.failed++
	}
	switch {
	case err == nil && changed:
		m.reloads.Add(1)
		log.Info("replaced", "model", m.name, "old_version", old.version, "version", m.now.Load().version)
	case m.failed > 1 && m.fault != err.Error(): // the first time it may be just being replaced; each fault once
		m.fault = err.Error()
		m.stale.Store(true)
		m.failures.Add(1)
		log.Error("the replacement cannot be used, the old one stays", "model", m.name, "version", old.version, "error", m.fault)
	}
}

// Served is a decomposition that is served.
type Served struct {
	Name, Version, Dir string
	Warnings           []string // serve.Explainer's
}

// Served lists them by name.
func (ms *Models) Served() []Served {
	var out []Served
	for _, m := range ms.all() {
		now := m.now.Load()
		out = append(out, Served{m.name, now.version, m.dir, now.Warnings()})
	}
	return out
}
