package cloud_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/pho-go/pho/data"
)

// Every store opens, lists, writes and removes alike.
func TestStores(t *testing.T) {
	for _, in := range []func(testing.TB) place{memory, amazon, google, file} {
		p := in(t)
		t.Run(p.name, func(t *testing.T) {
			ctx := t.Context()
			content := random(3 << 20)
			p.put(t, "b.bin", content)
			p.put(t, "a.bin", []byte("first"))
			p.put(t, "a.bin", []byte("second"))
			if err := p.store.MakeDir(ctx, p.url("deep")); err != nil {
				t.Fatal(err)
			}
			p.put(t, "deep/c.bin", nil)
			if got := p.get(t, "a.bin"); string(got) != "second" {
				t.Errorf("%q", got)
			}
			if got := p.get(t, "deep/c.bin"); len(got) != 0 {
				t.Errorf("%q", got)
			}
			f, err := p.store.Open(ctx, p.url("b.bin"))
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			if f.Size() != int64(len(content)) {
				t.Error(f.Size())
			}
			r := rand.New(rand.NewPCG(1, 2))
			for range 20 {
				off, n := r.IntN(len(content)), 1+r.IntN(200_000)
				want := content[off:min(off+n, len(content))]
				buf := bytes.Repeat([]byte{7}, n)
				got, err := f.ReadAt(buf, int64(off))
				if got != len(want) || !bytes.Equal(buf[:got], want) || (err == io.EOF) != (got < n) || err != nil && err != io.EOF {
					t.Fatalf("%d bytes at %d: %d, %v", n, off, got, err)
				}
				section := data.Section(f, int64(off), int64(len(want)))
				all, err := io.ReadAll(section)
				if err := errors.Join(err, section.Close()); err != nil || !bytes.Equal(all, want) {
					t.Fatalf("%d bytes at %d: %d, %v", n, off, len(all), err)
				}
			}
			for pattern, want := range map[string]int{"*.bin": 2, "*/*.bin": 1, "[a]*.bin": 1, "none*": 0, "de*/c.?in": 1} {
				if p.name == "file" && strings.Contains(pattern, "?") {
					continue
				}
				got, err := p.store.List(ctx, p.url(strings.ReplaceAll(pattern, "?", "[b]")))
				if err != nil || len(got) != want {
					t.Errorf("%s: %q, %v", pattern, got, err)
				}
			}
			names, err := data.ExpandIn(ctx, p.store, []string{p.url("*.bin")})
			if err != nil || len(names) != 2 || !strings.HasSuffix(strings.TrimSuffix(names[0], p.query), "/a.bin") {
				t.Errorf("%q, %v", names, err)
			}
			// What is half written is not there.
			broken := errors.New("broken")
			err = p.store.Write(ctx, p.url("a.bin"), func(w io.Writer) error {
				_, err := w.Write(content)
				return errors.Join(err, broken)
			})
			if !errors.Is(err, broken) || string(p.get(t, "a.bin")) != "second" {
				t.Errorf("%v, %.20q", err, p.get(t, "a.bin"))
			}
			for range 2 {
				if err := p.store.Remove(ctx, p.url("a.bin")); err != nil {
					t.Error(err)
				}
			}
			_, err = p.store.Open(ctx, p.url("a.bin"))
			if !errors.Is(err, fs.ErrNotExist) {
				t.Error(err)
			}
			if got := p.get(t, "b.bin"); len(got) == 0 {
				t.Error("nothing is left")
			}
		})
	}
}

func random(n int) []byte {
	b := make([]byte, n)
	r := rand.New(rand.NewPCG(3, 4))
	for i := range b {
		b[i] = byte(r.Uint32())
	}
	return b
}

// An object that was replaced after it was opened is refused, never mixed.
func TestReplacedObject(t *testing.T) {
	for _, in := range []func(testing.TB) place{amazon, google} {
		p := in(t)
		t.Run(p.name, func(t *testing.T) {
			name := p.put(t, "x", bytes.Repeat([]byte("a"), 1<<17))
			f, err := p.store.Open(t.Context(), name)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := f.ReadAt(make([]byte, 10), 0); err != nil {
				t.Fatal(err)
			}
			p.put(t, "x", bytes.Repeat([]byte("b"), 1<<17))
			_, err = f.ReadAt(make([]byte, 10), 1<<16)
			if err == nil || !strings.Contains(err.Error(), "the object is another than when it was opened: start again when it is complete") {
				t.Error(err)
			}
		})
	}
}

// A refusal names the object and the remedy, and shows no secrets.
func TestRefusals(t *testing.T) {
	p := amazon(t)
	t.Setenv("AWS_MAX_ATTEMPTS", "1")
	name := p.put(t, "x.csv", []byte("x\n1\n"))
	f, err := p.store.Open(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	for status, want := range map[int32]string{403: "denies access (403)", 404: "no such object", 500: "the store cannot be used"} {
		p.traffic.refuse.Store(status)
		_, err := f.ReadAt(make([]byte, 2), 0)
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "some/folder/x.csv") {
			t.Errorf("%d: %v", status, err)
		}
		for _, secret := range []string{secretKey, secretToken} {
			if strings.Contains(fmt.Sprintf("%v %+v", err, err), secret) {
				t.Errorf("%d shows a secret: %v", status, err)
			}
		}
	}
	p.traffic.refuse.Store(0)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := p.store.Open(ctx, name); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	for _, bad := range []string{"s3://rows", "s3://rows/folder/", "nothing://rows/x"} {
		if _, err := p.store.Open(t.Context(), bad); err == nil {
			t.Error(bad)
		}
		if err := p.store.Write(t.Context(), bad, writes(nil)); err == nil {
			t.Error(bad)
		}
	}
	if _, err := p.store.Open(t.Context(), "s3://nobucket/x"+p.query); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
}
