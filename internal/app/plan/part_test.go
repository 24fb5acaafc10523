package plan

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/pho-go/pho/decompose"
)

// partOf is a part of shards that holds nothing.
func partOf(t testing.TB, change func(*Header), shards ...int) *Part {
	t.Helper()
	h := Header{Plan: "p", Stage: "s", Pass: Scan, Round: "terms", Kernel: "fma/amd64", Networks: []string{"n"}, Of: 10_000}
	for _, i := range shards {
		h.Shards = append(h.Shards, Shard{Shard: i, Rows: int64(100 + i), Dropped: int64(i % 3), Digest: fmt.Sprintf("d%d", i)})
	}
	if change != nil {
		change(&h)
	}
	p, err := NewPart(h, &decompose.Scanned{})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func save(t testing.TB, p *Part, name string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := p.WriteFile(nil, path); err != nil {
		t.Fatal(err)
	}
	return path
}

// A part is read as it was written, and a part that lacks bytes, has more, or other ones
// is refused.
func TestDamagedParts(t *testing.T) {
	path := save(t, partOf(t, nil, 1, 5), "part.pho")
	p, err := ReadPart(path)
	if err != nil {
		t.Fatal(err)
	}
	if rows, dropped := p.Rows(); rows != 206 || dropped != 3 || p.Of != 10_000 {
		t.Errorf("%d rows, %d left out", rows, dropped)
	}
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for n := range raw {
		if _, err := readPart(bytes.NewReader(raw[:n]), int64(n)); err == nil {
			t.Fatalf("the first %d of %d bytes are read", n, len(raw))
		}
		other := slices.Clone(raw)
		other[n] ^= 0x20
		if _, err := readPart(bytes.NewReader(other), int64(n)); err == nil {
			t.Fatalf("byte %d is another, and it is read", n)
		}
	}
	if _, err := readPart(bytes.NewReader(append(slices.Clone(raw), 0)), int64(len(raw)+1)); err == nil {
		t.Error("a byte behind the end is read")
	}
}

func FuzzReadPart(f *testing.F) {
	var b bytes.Buffer
	if _, err := partOf(f, nil, 0, 1).WriteTo(&b); err != nil {
		f.Fatal(err)
	}
	f.Add(b.Bytes())
	f.Fuzz(func(t *testing.T, raw []byte) {
		p, err := readPart(bytes.NewReader(raw), int64(len(raw)))
		if err != nil {
			return
		}
		var again bytes.Buffer
		if _, err := p.WriteTo(&again); err != nil {
			t.Fatal(err)
		}
		if _, err := readPart(&again, int64(again.Len())); err != nil {
			t.Errorf("what was read is not read again: %v", err)
		}
	})
}

// Parts that do not belong together are refused, by the names of both.
func TestMergeRefuses(t *testing.T) {
	one := save(t, partOf(t, nil, 0, 1), "one.pho")
	for want, change := range map[string]func(*Header){
		"different plans":    func(h *Header) { h.Plan = "q" },
		"of pass fit":        func(h *Header) { h.Pass, h.Round = Fit, "" },
		"earlier passes":     func(h *Header) { h.Stage = "t" },
		"different networks": func(h *Header) { h.Networks = []string{"m"} },
		"shard 1 is in":      func(h *Header) { h.Shards[0].Shard = 1 },
	} {
		two := save(t, partOf(t, change, 2), "two.pho")
		_, err := Merge(t.Context(), []string{one, two})
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "one.pho") || !strings.Contains(err.Error(), "two.pho") {
			t.Errorf("%s: %v", want, err)
		}
	}
	if _, err := Merge(t.Context(), []string{one, one}); err == nil || !strings.Contains(err.Error(), "shard 0 is in") {
		t.Errorf("a part twice: %v", err)
	}
	for _, path := range []string{filepath.Join(t.TempDir(), "none.pho"), t.TempDir()} {
		if _, err := Merge(t.Context(), []string{one, path}); err == nil {
			t.Errorf("%s is merged", path)
		}
	}
}

// Ten thousand parts merge, in any grouping to the same bytes, with a handful of files open at a
// time.
func TestMergeManyParts(t *testing.T) {
	const n = 10_000
	dir := t.TempDir()
	paths := make([]string, n)
	for i := range n {
		paths[i] = filepath.Join(dir, fmt.Sprint(i))
		f, err := os.Create(paths[i])
		if err != nil {
			t.Fatal(err)
		}
		if _, err := partOf(t, nil, i).WriteTo(f); err != nil {
			t.Fatal(err)
		}
		f.Close()
	}
	r := rand.New(rand.NewPCG(1, 2))
	r.Shuffle(n, func(i, j int) { paths[i], paths[j] = paths[j], paths[i] })
	all, err := Merge(t.Context(), paths)
	if err != nil {
		t.Fatal(err)
	}
	if all.Missing() != nil || len(all.Shards) != n {
		t.Errorf("%d shards, missing %v", len(all.Shards), all.Missing())
	}
	var groups []string
	for from := 0; from < n; {
		to := min(n, from+1+r.IntN(2000))
		part, err := Merge(t.Context(), paths[from:to])
		if err != nil {
			t.Fatal(err)
		}
		groups = append(groups, save(t, part, "group"))
		from = to
	}
	grouped, err := Merge(t.Context(), groups)
	if err != nil {
		t.Fatal(err)
	}
	var a, b bytes.Buffer
	_, _ = all.WriteTo(&a)
	_, _ = grouped.WriteTo(&b)
	if !bytes.Equal(a.Bytes(), b.Bytes()) {
		t.Error("grouped parts merge to other bytes")
	}
	if runtime.GOOS == "linux" {
		open, _ := os.ReadDir("/proc/self/fd")
		if len(open) > 100 {
			t.Errorf("%d files are open", len(open))
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Merge(ctx, paths); err == nil {
		t.Error("a merge that was interrupted goes on")
	}
}

// Shards cover all rows once, in order, at multiples of the chunk; rows that are brought begin
// chunks of their own.
func TestRanges(t *testing.T) {
	for _, rows := range []int64{0, 1, 4096, 4097, 50_000, 1 << 40} {
		for _, shards := range []int{1, 2, 7, 1000} {
			for _, chunk := range []int{4096, 65536} {
				p := &Plan{Rows: rows, Shards: shards}
				at := int64(0)
				for i := range shards {
					r, err := p.Range(i, chunk)
					if err != nil || r.First != at || r.Next < r.First || r.First < rows && r.First%int64(chunk) != 0 {
						t.Fatalf("%d rows, shard %d of %d, chunk %d: %+v after %d, %v", rows, i, shards, chunk, r, at, err)
					}
					at = r.Next
				}
				if at != rows {
					t.Errorf("%d rows in %d shards: %d are covered", rows, shards, at)
				}
			}
		}
	}
	p := &Plan{Rows: 10_000, Shards: 4, Counts: []int64{5000, 0, 4096, 904}}
	for i, want := range []Range{{0, 5000, 0}, {8192, 8192, 2}, {8192, 12288, 2}, {12288, 13192, 3}} {
		if r, err := p.Range(i, 4096); err != nil || r != want {
			t.Errorf("shard %d: %+v, want %+v, %v", i, r, want, err)
		}
	}
	if _, err := p.Range(4, 4096); err == nil {
		t.Error("there is a shard 4 of 4")
	}
}
