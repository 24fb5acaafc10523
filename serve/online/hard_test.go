package online_test

import (
	"bufio"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/pho-go/pho/serve/online"
)

// address is the place of a URL.
func address(url string) string { return strings.TrimPrefix(url, "http://") }

// TestQueue: of more requests than there is room for each is answered rightly or refused with
// 503 and Retry-After, and those that go away meanwhile harm nobody.
func TestQueue(t *testing.T) {
	t.Parallel()
	a, _ := two(t)
	base := started(t, &online.Options{Workers: 1, Queue: 2}, a)
	url := base + "/v2/models/a/infer"
	parts, names, _ := want(t, a, false)
	var fine, busy atomic.Int64
	var clients sync.WaitGroup
	for c := range 16 {
		clients.Go(func() {
			for k := range 40 {
				from, rows := (c*31+k)%100, 200+k
				text := body(t, inputs(from, from+rows), map[string]any{"parameters": map[string]any{"terms": true, "se": k%2 == 0}})
				if k%5 == 4 { // a client that goes away
					if conn, err := net.Dial("tcp", address(base)); err == nil {
						fmt.Fprintf(conn, "POST /v2/models/a/infer HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n%s", len(text), text[:len(text)/(1+k%2)])
						conn.Close()
					}
					continue
				}
				got, err := ask(url, text, nil)
				switch {
				case err != nil:
					t.Error(err)
				case got.status == 503:
					busy.Add(1)
					if got.header.Get("Retry-After") == "" {
						t.Error("503 without Retry-After")
					}
				case got.status != 200:
					t.Errorf("%d %s", got.status, got.Error)
				default:
					fine.Add(1)
					for j, name := range names {
						for i, v := range got.column(name) {
							if !equal(v, parts[j][from+i]) {
								t.Errorf("%s at %d: %g, want %g", name, from+i, v, parts[j][from+i])
								return
							}
						}
					}
				}
			}
		})
	}
	clients.Wait()
	if fine.Load() == 0 || busy.Load() == 0 {
		t.Errorf("%d answered, %d refused", fine.Load(), busy.Load())
	}
	text := metrics(t, base)
	for _, says := range []string{`operation="infer",status="503"`, `pho_rows_total{model="a"}`, "pho_queue_requests 0", "pho_buffer_bytes 0"} {
		if !strings.Contains(text, says) {
			t.Errorf("metrics lack %s:\n%s", says, text)
		}
	}
}

func metrics(t *testing.T, base string) string {
	t.Helper()
	r, err := http.Get(base + "/metrics")
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	text, err := io.ReadAll(r.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// zeros are as many bytes as somebody reads.
type zeros struct{ read atomic.Int64 }

func (z *zeros) Read(b []byte) (int, error) {
	clear(b)
	z.read.Add(int64(len(b)))
	return len(b), nil
}

// TestLargeBody: a body of 1 GB, with its length or without, is refused as soon as it is too
// large, and memory stays.
func TestLargeBody(t *testing.T) {
	a, _ := two(t)
	url := started(t, &online.Options{MaxBody: 4 << 20}, a) + "/v2/models/a/infer"
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for _, length := range []int64{1 << 30, -1} {
		from := new(zeros)
		q, err := http.NewRequest("POST", url, io.LimitReader(from, 1<<30))
		if err != nil {
			t.Fatal(err)
		}
		q.ContentLength = length
		r, err := http.DefaultClient.Do(q)
		if err == nil {
			r.Body.Close()
			if r.StatusCode != 413 {
				t.Errorf("length %d: %s", length, r.Status)
			}
		}
		if from.read.Load() > 64<<20 { // what lies in sockets is not known exactly
			t.Errorf("length %d: %d bytes were taken", length, from.read.Load())
		}
	}
	runtime.ReadMemStats(&after)
	if grown := int64(after.Sys) - int64(before.Sys); grown > 80<<20 {
		t.Errorf("memory grew by %d MiB", grown>>20)
	}
}

// TestRefusedWhileSending: a client that is still sending a body that is a little too large can send it
// to the end, and is told why it is refused.
func TestRefusedWhileSending(t *testing.T) {
	a, _ := two(t)
	const most, length = 100_000, 200_000
	c, err := net.Dial("tcp", address(started(t, &online.Options{MaxBody: most}, a)))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	c.SetDeadline(time.Now().Add(20 * time.Second))
	fmt.Fprintf(c, "POST /v2/models/a/infer HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n", length)
	for range 10 {
		if _, err := c.Write(make([]byte, length/10)); err != nil {
			t.Fatalf("the body cannot be sent: %v", err)
		}
		time.Sleep(20 * time.Millisecond)
	}
	r, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	if r.StatusCode != 413 {
		t.Errorf("%s", r.Status)
	}
}

// TestSlowClients: thousands of connections that send nothing, or byte after byte, or do not
// read, do not keep others from being answered, and are closed in the end.
func TestSlowClients(t *testing.T) {
	a, _ := two(t)
	many := 2000
	if testing.Short() {
		many = 200
	}
	base := started(t, &online.Options{Timeout: 2 * time.Second}, a)
	heads := []string{"", "POST /v2/models/a/infer HT", "POST /v2/models/a/infer HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\n{", "POST /v2/models/a/infer HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n{"}
	var conns []net.Conn
	for i := range many {
		c, err := net.Dial("tcp", address(base))
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		io.WriteString(c, heads[i%len(heads)])
		conns = append(conns, c)
	}
	begun := time.Now()
	for range 5 {
		if got := post(t, base+"/v2/models/a/infer", body(t, inputs(0, 3), nil)); got.status != 200 {
			t.Errorf("%+v", got)
		}
	}
	if took := time.Since(begun); took > 5*time.Second {
		t.Errorf("five requests took %v", took)
	}
	for i, c := range conns {
		io.WriteString(c, " ")
		c.SetReadDeadline(time.Now().Add(20 * time.Second))
		r, err := http.ReadResponse(bufio.NewReader(c), nil)
		if err == nil && r.StatusCode != 408 {
			t.Errorf("connection %d: %s", i, r.Status)
		}
		if err == nil {
			r.Body.Close()
			_, err = io.Copy(io.Discard, c)
		}
		var late net.Error
		if errors.As(err, &late) && late.Timeout() {
			t.Fatalf("connection %d stays open", i)
		}
	}
}

// TestStop: what is being answered when the server ends is answered.
func TestStop(t *testing.T) {
	t.Parallel()
	a, _ := two(t)
	base, stop := starting(t, nil, a)
	var served sync.WaitGroup
	c, err := net.Dial("tcp", address(base))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	text := body(t, inputs(0, 500), map[string]any{"parameters": map[string]any{"se": true}})
	fmt.Fprintf(c, "POST /v2/models/a/infer HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n%s", len(text), text[:len(text)-1])
	time.Sleep(50 * time.Millisecond)
	served.Go(func() {
		if err := stop(); err != nil {
			t.Error(err)
		}
	})
	time.Sleep(50 * time.Millisecond)
	c.Write(text[len(text)-1:])
	r, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil || r.StatusCode != 200 {
		t.Fatal(r, err)
	}
	if _, err := io.Copy(io.Discard, r.Body); err != nil {
		t.Error(err)
	}
	c.Close()
	served.Wait()
	if _, err := net.DialTimeout("tcp", address(base), time.Second); err == nil {
		t.Error("it still listens")
	}
}

// TestToken: without the token there is nothing but health, and no log holds it.
func TestToken(t *testing.T) {
	t.Parallel()
	a, _ := two(t)
	const token = "open-sesame-1234"
	var log strings.Builder
	var mu sync.Mutex
	base := started(t, &online.Options{Token: func() string { return token }, Requests: true, Log: slog.New(slog.NewJSONHandler(locked{&log, &mu}, &slog.HandlerOptions{Level: slog.LevelDebug}))}, a)
	for path, status := range map[string]int{"/v2/health/live": 200, "/v2/health/ready": 200, "/v2": 401, "/metrics": 401, "/v2/models/a": 401,
		"/v2/models/none": 401, "/v2/models/a/versions/7": 401, "/v2/models/a/none": 401, "/v2/models/a/infer": 401, "/none": 401} {
		r, err := http.Get(base + path)
		if err != nil {
			t.Fatal(err)
		}
		r.Body.Close()
		if r.StatusCode != status {
			t.Errorf("%s: %s, want %d", path, r.Status, status)
		}
	}
	for given, status := range map[string]int{"Bearer " + token: 200, "bearer " + token: 200, "BEARER  " + token: 200, "Basic " + token: 401, "Bearer open": 401, token: 401, "Bearer ": 401, "": 401} {
		got, err := ask(base+"/v2/models/a/infer", body(t, inputs(0, 1), nil), http.Header{"Authorization": {given}})
		if err != nil || got.status != status {
			t.Errorf("%q: %+v, %v", given, got, err)
		}
	}
	mu.Lock()
	defer mu.Unlock()
	if strings.Contains(log.String(), token) || !strings.Contains(log.String(), `"path":"/v2/models/a/infer","status":200`) {
		t.Errorf("log:\n%s", log.String())
	}
}

// certificate writes a new certificate and its key.
func certificate(t *testing.T, dir string, serial int64) (cert, key string) {
	t.Helper()
	secret, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	c := &x509.Certificate{SerialNumber: big.NewInt(serial), NotAfter: time.Now().Add(time.Hour), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}}
	der, err := x509.CreateCertificate(rand.Reader, c, c, &secret.PublicKey, secret)
	if err != nil {
		t.Fatal(err)
	}
	raw, err := x509.MarshalECPrivateKey(secret)
	if err != nil {
		t.Fatal(err)
	}
	cert, key = filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	err = errors.Join(os.WriteFile(key, pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: raw}), 0o600),
		os.WriteFile(cert, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), 0o644))
	if err != nil {
		t.Fatal(err)
	}
	return cert, key
}

// TestTLS: a replaced certificate is taken, a broken one is not.
func TestTLS(t *testing.T) {
	t.Parallel()
	a, _ := two(t)
	dir := t.TempDir()
	cert, key := certificate(t, dir, 1)
	config, err := online.TLS(cert, key, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	models, err := online.Open([]string{"m=" + a}, nil)
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- online.New(models, nil).Serve(ctx, tls.NewListener(l, config)) }()
	serial := func() int64 {
		client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, DisableKeepAlives: true}}
		r, err := client.Get("https://" + l.Addr().String() + "/v2/models/m")
		if err != nil {
			t.Fatal(err)
		}
		r.Body.Close()
		if r.StatusCode != 200 {
			t.Error(r.Status)
		}
		return r.TLS.PeerCertificates[0].SerialNumber.Int64()
	}
	if serial() != 1 {
		t.Error("another certificate")
	}
	certificate(t, dir, 2)
	time.Sleep(1100 * time.Millisecond)
	if serial() != 2 {
		t.Error("the replaced certificate is not taken")
	}
	if err := os.WriteFile(cert, []byte("nothing"), 0o644); err != nil {
		t.Fatal(err)
	}
	time.Sleep(1100 * time.Millisecond)
	if serial() != 2 {
		t.Error("the old certificate is gone")
	}
	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}
