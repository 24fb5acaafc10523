package command

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/pho-go/pho/serve"
)

// answer asks a server.
func answer(t *testing.T, method, url, body string) (status int, text []byte) {
	t.Helper()
	q, err := http.NewRequest(method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r, err := http.DefaultClient.Do(q)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	text, err = io.ReadAll(r.Body)
	if err != nil {
		t.Fatal(err)
	}
	return r.StatusCode, text
}

// lines is a writer whose text can be read meanwhile.
type lines struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *lines) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(b)
}

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// serving runs pho serve until the test ends, and returns where it listens.
func serving(t *testing.T, args ...string) (url string, log *lines) {
	t.Helper()
	ctx, stop := context.WithCancel(context.Background())
	log = new(lines)
	ended := make(chan int, 1)
	go func() {
		ended <- run(ctx, append([]string{"serve", "--listen", ":0"}, args...), streams{out: io.Discard, err: log})
	}()
	t.Cleanup(func() {
		stop()
		http.DefaultClient.CloseIdleConnections()
		if status := <-ended; status != exitDone {
			t.Errorf("status %d, log:\n%s", status, log)
		}
	})
	address := regexp.MustCompile(`"msg":"listening","address":"([^"]+)"`)
	for begun := time.Now(); time.Since(begun) < 20*time.Second; time.Sleep(5 * time.Millisecond) {
		if m := address.FindStringSubmatch(log.String()); m != nil {
			return "http://" + m[1], log
		}
	}
	t.Fatalf("it does not listen:\n%s", log)
	return "", nil
}

// TestServeOnline: answers over HTTP are those of pho explain; flags that do not go together are
// refused. The requests of docs/serve.md are run by check-docs.
func TestServeOnline(t *testing.T) {
	t.Parallel()
	demo := filepath.Join(t.TempDir(), "demo")
	done(t, "demo", "--out", demo)
	url, log := serving(t, demo, "--log-requests")
	status, said := answer(t, "POST", url+"/v2/models/nam/infer", `{"inputs": [{"name": "x", "datatype": "FP64", "shape": [1, 10], "data": [null, 1, 1, 1, 1, 1, 1, 1, 1, 1]}]}`)
	if status != 400 || !strings.Contains(string(said), `column \"x0\", data row 1`) || strings.Contains(string(said), "--") {
		t.Errorf("a missing value: %d %s", status, said)
	}
	explainedAlike(t, url, demo)
	if !strings.Contains(log.String(), `"msg":"request","method":"POST","path":"/v2/models/nam/explain","status":200`) {
		t.Errorf("log:\n%s", log)
	}
	refusedFlags(t, filepath.Join(demo, "nam"))
}

// explainedAlike compares explain over HTTP with the command's.
func explainedAlike(t *testing.T, url, demo string) {
	t.Helper()
	for _, model := range []string{"nam", "ssn"} {
		dir := filepath.Join(demo, model)
		want := explainJSON(t, dir, "--data", filepath.Join(demo, "data.csv"), "--row", "3")
		e, err := serve.Open(dir, nil)
		if err != nil {
			t.Fatal(err)
		}
		_, records := table(t, filepath.Join(demo, "data.csv"))
		type object = map[string]any
		var inputs []object
		for j, c := range e.Columns() {
			inputs = append(inputs, object{"name": c.Name, "datatype": "FP64", "shape": []int{1}, "data": []float64{number(t, records[2][j])}})
		}
		text, err := json.Marshal(object{"inputs": inputs})
		if err != nil {
			t.Fatal(err)
		}
		_, raw := answer(t, "POST", url+"/v2/models/"+model+"/explain", string(text))
		var got explainedText
		if err := json.Unmarshal(raw, &got); err != nil || len(got.Rows) != 1 {
			t.Fatalf("%s: %v", raw, err)
		}
		p, q := got.Rows[0].Predictors[0], want.Rows[0].Predictors[0]
		if p.Eta != q.Eta || p.Intercept != q.Intercept || len(p.Terms) != len(q.Terms) {
			t.Errorf("%s: %+v, want %+v", model, p, q)
		}
		for i, term := range p.Terms {
			o := q.Terms[i]
			if strings.Join(term.Terms, "+") != strings.Join(o.Terms, "+") || term.Contribution != o.Contribution || term.Values["x0"] != o.Values["x0"] ||
				(term.SE == nil) != (o.SE == nil) || o.SE != nil && (*term.SE/(*o.SE) > 1+1e-9 || *o.SE/(*term.SE) > 1+1e-9) {
				t.Errorf("%s: %+v, want %+v", model, term, o)
			}
		}
	}
}

func refusedFlags(t *testing.T, dir string) {
	t.Helper()
	token := filepath.Join(t.TempDir(), "token")
	write(t, token, "two words\n")
	for args, says := range map[string]string{
		"":                                       "--listen or --stdio is missing",
		"--listen :0 --stdio":                    "not both",
		"--listen 8080":                          "host:port",
		"--listen 0.0.0.0:0":                     "beyond this machine",
		"--listen [::]:0":                        "beyond this machine",
		"--listen example.org:0":                 "beyond this machine",
		"--listen :0 --tls-cert x":               "TLS takes both",
		"--listen :0 --tls-cert x --tls-key y":   "no such file",
		"--listen :0 --token-file " + token:      "holds no token",
		"--listen :0 --max-rows 0":               "--max-rows 0",
		"--listen :0 --max-body 3GiB":            "below 2GiB",
		"--listen :0 --timeout 0":                "1ms or more",
		"--listen :0 " + filepath.Dir(dir) + "/": "would both be model",
	} {
		o := call(t, append([]string{"serve", dir}, strings.Fields(args)...)...)
		if o.status == exitDone || !strings.Contains(o.err, says) {
			t.Errorf("%s: %d %s, want %s", args, o.status, o.err, says)
		}
	}
}

// SIGTERM while a request comes in: it is answered, though that takes longer than other
// commands may, nothing new is taken, and the status is 0.
func TestServeTerminated(t *testing.T) {
	if runtime.GOOS == "windows" || signal.Ignored(syscall.SIGTERM) {
		t.Skip("no such signal")
	}
	t.Parallel()
	demo := filepath.Join(t.TempDir(), "demo")
	done(t, "demo", "--out", demo)
	cmd := exec.Command(os.Args[0], "serve", filepath.Join(demo, "nam"), "--listen", ":0")
	cmd.Env = append(os.Environ(), "PHO_TEST_COMMAND=1")
	stderr, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer cmd.Process.Kill()
	log, address := bufio.NewReader(stderr), ""
	for address == "" {
		line, err := log.ReadBytes('\n')
		var said struct{ Msg, Address string }
		if err != nil || json.Unmarshal(line, &said) != nil {
			t.Fatalf("%s: %v", line, err)
		}
		address = said.Address
	}
	conn, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	body := `{"inputs": [{"name": "x", "datatype": "FP64", "shape": [1, 10], "data": [1, 1, 1, 1, 1, 1, 1, 1, 1, 1]}]}`
	fmt.Fprintf(conn, "POST /v2/models/nam/infer HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n%s", len(body), body[:20])
	time.Sleep(200 * time.Millisecond)
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	time.Sleep(patience + 300*time.Millisecond)
	if c, err := net.Dial("tcp", address); err == nil {
		t.Error("it still listens")
		c.Close()
	}
	fmt.Fprint(conn, body[20:])
	r, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil || r.StatusCode != 200 {
		t.Fatal(r, err)
	}
	rest, _ := io.ReadAll(log)
	if err := cmd.Wait(); err != nil || !strings.Contains(string(rest), `"msg":"stopped"`) {
		t.Errorf("%v, log:\n%s", err, rest)
	}
}
