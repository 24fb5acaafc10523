package cloud_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/internal/app/store"
)

// An object is replaced only while it is the one that was read, or is not there yet; a store that cannot be asked
// for that refuses.
func TestReplace(t *testing.T) {
	write := func(text string) func(io.Writer) error {
		return func(w io.Writer) error { _, err := io.WriteString(w, text); return err }
	}
	for _, in := range []func(testing.TB) place{amazon, google, memory} {
		p := in(t)
		t.Run(p.name, func(t *testing.T) {
			replace := func(was data.File, text string) error {
				return p.store.Replace(t.Context(), p.url("state.json"), was, write(text))
			}
			if err := replace(nil, "one"); err != nil {
				t.Fatal(err)
			}
			if err := replace(nil, "other"); !errors.Is(err, store.ErrReplaced) {
				t.Error("it was there already:", err)
			}
			one, err := p.store.Open(t.Context(), p.url("state.json"))
			if err != nil {
				t.Fatal(err)
			}
			err = replace(one, "two")
			if p.name == "memory" {
				if err == nil || string(p.get(t, "state.json")) != "one" {
					t.Error("written without a condition:", err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if err := replace(one, "three"); !errors.Is(err, store.ErrReplaced) || string(p.get(t, "state.json")) != "two" {
				t.Error("it is another by now:", err)
			}
		})
	}
	p := file(t)
	if err := p.store.Replace(t.Context(), p.url("state.json"), nil, write("one")); err == nil {
		t.Error("a file of the disk was replaced without its lock")
	}
}

// The state of pho monitor lies in a store: rows are added to it there, and one of two additions at the same
// time fails rather than lose the other's rows.
func TestMonitorInStore(t *testing.T) {
	p := amazon(t)
	dir := t.TempDir()
	paths := make([]string, 4)
	for i := range paths {
		paths[i] = filepath.Join(dir, fmt.Sprint(i, ".csv"))
		if err := os.WriteFile(paths[i], rows(200+i), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	result := filepath.Join(dir, "result")
	done(t, nil, "decompose", "--model", "../testdata/golden/models/blackbox.onnx", "--data", paths[0], "--formula", "y ~ x2", "--out", result)
	add := func(i int) outcome {
		return call(t, p.store, "monitor", result, "--data", paths[i], "--period", fmt.Sprint(i), "--state", p.url("state.json"))
	}
	for i := range 2 {
		if o := add(i); o.status != 0 {
			t.Fatal(o.err)
		}
	}
	var added atomic.Int32
	var both sync.WaitGroup
	for i := 2; i < 4; i++ {
		both.Go(func() {
			if o := add(i); o.status == 0 {
				added.Add(1)
			} else if !strings.Contains(o.err, store.ErrReplaced.Error()) {
				t.Error(o.err)
			}
		})
	}
	both.Wait()
	var state struct{ Sources []any }
	if err := json.Unmarshal(p.get(t, "state.json"), &state); err != nil || added.Load() == 0 || len(state.Sources) != 2+int(added.Load()) {
		t.Errorf("%v: %d files are in the state, %d calls were done", err, len(state.Sources), 2+added.Load())
	}
}
