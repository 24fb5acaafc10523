package cloud_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/fsouza/fake-gcs-server/fakestorage"
	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"

	"github.com/pho-go/pho/cloud"
	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/internal/app/store"
	"github.com/pho-go/pho/internal/command"
)

// Secrets of the environment, which nothing may show.
const (
	secretKey   = "wJalrXUtnFEMI-a-secret-of-the-test"
	secretToken = "FwoGZXIvYXdz-a-token-of-the-test"
)

// traffic counts what an in-process store sends.
type traffic struct {
	gets, bytes atomic.Int64
	refuse      atomic.Int32 // status of the next answers to GET; 0: none is refused
}

// counted lets a handler's answers to reads of objects pass, and counts their bytes.
func (c *traffic) counted(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet {
			h.ServeHTTP(w, r)
			return
		}
		if status := c.refuse.Load(); status != 0 {
			w.WriteHeader(int(status))
			fmt.Fprintf(w, "<Error><Code>Refused</Code><Message>signed with %s at https://u:%s@host/?sig=%s</Message></Error>", secretToken, secretKey, secretKey)
			return
		}
		c.gets.Add(1)
		h.ServeHTTP(&countedAnswer{w, c}, r)
	})
}

type countedAnswer struct {
	http.ResponseWriter
	*traffic
}

func (c *countedAnswer) Write(p []byte) (int, error) {
	n, err := c.ResponseWriter.Write(p)
	c.bytes.Add(int64(n))
	return n, err
}

// place is a folder of a store.
type place struct {
	name    string
	store   *cloud.Store
	dir     string // URL
	query   string
	traffic *traffic // nil: not counted
}

// url is that of an object.
func (p place) url(name string) string { return p.dir + "/" + name + p.query }

// amazon is a bucket of an S3 store in this process.
func amazon(t testing.TB) place {
	t.Helper()
	t.Setenv("AWS_ACCESS_KEY_ID", "AKIA-of-the-test")
	t.Setenv("AWS_SECRET_ACCESS_KEY", secretKey)
	t.Setenv("AWS_SESSION_TOKEN", secretToken)
	t.Setenv("AWS_REGION", "eu-central-1")
	t.Setenv("AWS_EC2_METADATA_DISABLED", "true")
	backend := s3mem.New()
	if err := backend.CreateBucket("rows"); err != nil {
		t.Fatal(err)
	}
	c := new(traffic)
	server := httptest.NewServer(c.counted(gofakes3.New(backend).Server()))
	t.Cleanup(server.Close)
	return opened(t, place{name: "S3", dir: "s3://rows/some/folder", query: "?endpoint=" + url.QueryEscape(server.URL) + "&use_path_style=true", traffic: c})
}

// google is a bucket of a GCS store in this process.
func google(t testing.TB) place {
	t.Helper()
	server := httptest.NewUnstartedServer(nil)
	host := server.Listener.Addr().String()
	fake, err := fakestorage.NewServerWithOptions(fakestorage.Options{NoListener: true, PublicHost: host})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(fake.Stop)
	fake.CreateBucketWithOpts(fakestorage.CreateBucketOpts{Name: "rows"})
	c := new(traffic)
	server.Config.Handler = c.counted(fake.HTTPHandler())
	server.Start()
	t.Cleanup(server.Close)
	t.Setenv("STORAGE_EMULATOR_HOST", host)
	return opened(t, place{name: "GCS", dir: "gs://rows/some/folder", traffic: c})
}

// memory is a bucket in memory.
func memory(t testing.TB) place {
	return opened(t, place{name: "memory", dir: "mem://rows/some/folder"})
}

// file is a folder of the disk, by URL.
func file(t testing.TB) place {
	return opened(t, place{name: "file", dir: "file://" + filepath.ToSlash(t.TempDir())})
}

func opened(t testing.TB, p place) place {
	p.store = cloud.New(store.Disk{}, nil)
	t.Cleanup(func() { p.store.Close() })
	return p
}

// put writes an object.
func (p place) put(t testing.TB, name string, content []byte) string {
	t.Helper()
	if err := p.store.Write(context.Background(), p.url(name), writes(content)); err != nil {
		t.Fatal(err)
	}
	return p.url(name)
}

func (p place) get(t testing.TB, name string) []byte {
	t.Helper()
	f, err := p.store.Open(context.Background(), p.url(name))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	r := data.Section(f, 0, f.Size())
	defer r.Close()
	raw, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

// writes writes content.
func writes(content []byte) func(io.Writer) error {
	return func(w io.Writer) error {
		_, err := w.Write(content)
		return err
	}
}

// outcome is what a call of the command left behind.
type outcome struct {
	status   int
	out, err string
}

func call(t testing.TB, s store.Store, args ...string) outcome {
	t.Helper()
	var out, err bytes.Buffer
	status := command.Run(context.Background(), args, strings.NewReader(""), &out, &err, s)
	for _, secret := range []string{secretKey, secretToken} {
		if strings.Contains(out.String()+err.String(), secret) {
			t.Errorf("pho %q shows a secret:\n%s%s", args, &out, &err)
		}
	}
	return outcome{status, out.String(), err.String()}
}

func done(t testing.TB, s store.Store, args ...string) outcome {
	t.Helper()
	o := call(t, s, args...)
	if o.status != 0 {
		t.Fatalf("pho %q: status %d\n%s", args, o.status, o.err)
	}
	return o
}

func readAll(t testing.TB, path string) []byte {
	t.Helper()
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}
