package online_test

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/pho-go/pho/serve/online"
)

// TestReload: clients ask all the time while the directory is replaced again and again, also
// by what is broken. Every answer equals, bit for bit, the decomposition of the version that
// it names; none is lost; each decomposition is seen.
func TestReload(t *testing.T) {
	t.Parallel()
	a, b := two(t)
	reloads := 100 // 1,000 with PHO_LONG
	switch {
	case os.Getenv("PHO_LONG") != "":
		reloads = 1000
	case testing.Short():
		reloads = 20
	}
	dir := filepath.Join(filepath.Dir(a), "served") // as deep as where the network's file is named from
	copyTo(t, a, dir)
	log := new(strings.Builder)
	var mu sync.Mutex
	base := started(t, &online.Options{Poll: time.Millisecond, Workers: 1, Log: slog.New(slog.NewTextHandler(locked{log, &mu}, nil))}, dir)
	type parts struct {
		values [][]float64
		names  []string
	}
	known, version := map[string]parts{}, map[string]string{}
	for _, d := range []string{a, b} {
		v, names, own := want(t, d, false)
		known[own], version[d] = parts{v, names}, own
	}
	ctx, stop := context.WithCancel(t.Context())
	var clients sync.WaitGroup
	var seen sync.Map
	var answers atomic.Int64
	for c := range 6 {
		clients.Go(func() {
			for k := 0; ctx.Err() == nil; k++ {
				from := (c*97 + k*13) % (n - 5)
				got, err := ask(base+"/v2/models/served/infer", body(t, inputs(from, from+1+k%4), map[string]any{"parameters": map[string]any{"terms": true}}), nil)
				if err != nil || got.status != 200 {
					t.Errorf("%+v, %v", got, err)
					return
				}
				seen.Store(got.Version, true)
				answers.Add(1)
				p := known[got.Version]
				for j, name := range p.names {
					if v := got.column(name); !slices.EqualFunc(v, p.values[j][from:from+len(v)], equal) || len(v) != 1+k%4 {
						t.Errorf("version %s, %s at %d: %v", got.Version, name, from, v)
						return
					}
				}
			}
		})
	}
	put := func(from string, i int, broken bool) {
		next, old := filepath.Join(filepath.Dir(dir), "next"+strconv.Itoa(i)), filepath.Join(filepath.Dir(dir), "old"+strconv.Itoa(i))
		copyTo(t, from, next)
		if broken {
			if err := os.Truncate(filepath.Join(next, "moments.bin"), 100); err != nil {
				t.Fatal(err)
			}
		}
		if err := errors.Join(os.Rename(dir, old), os.Rename(next, dir), os.RemoveAll(old)); err != nil {
			t.Fatal(err)
		}
	}
	told := func() int {
		mu.Lock()
		defer mu.Unlock()
		return strings.Count(log.String(), "the replacement cannot be used")
	}
	for i := range reloads {
		if i%7 == 3 {
			before := told()
			put(a, reloads+i, true)
			for begun := time.Now(); told() == before && time.Since(begun) < 20*time.Second; {
				time.Sleep(time.Millisecond)
			}
		}
		from := []string{b, a}[i%2]
		put(from, i, false)
		for begun := time.Now(); post(t, base+"/v2/models/served/infer", body(t, inputs(0, 1), nil)).Version != version[from]; time.Sleep(time.Millisecond) {
			if time.Since(begun) > 20*time.Second {
				t.Fatalf("replacement %d is not served", i)
			}
		}
	}
	stop()
	clients.Wait()
	if text := metrics(t, base); strings.Contains(text, "pho_batched_requests_total 0") {
		t.Error("no requests were computed together")
	}
	count := 0
	seen.Range(func(any, any) bool { count++; return true })
	mu.Lock()
	defer mu.Unlock()
	if replaced := strings.Count(log.String(), "msg=replaced"); count != 2 || replaced < reloads || strings.Count(log.String(), "the replacement cannot be used") < (reloads+3)/7 {
		t.Errorf("%d versions were seen, %d reloads:\n%.2000s", count, replaced, log)
	}
	t.Logf("%d reloads, %d answers", reloads, answers.Load())
}

// locked is a writer that several goroutines share with the test.
type locked struct {
	to *strings.Builder
	mu *sync.Mutex
}

func (l locked) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.to.Write(b)
}

func copyTo(t *testing.T, from, to string) {
	t.Helper()
	if err := os.CopyFS(to, os.DirFS(from)); err != nil {
		t.Fatal(err)
	}
}
