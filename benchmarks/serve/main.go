// Command serve is a load test of `pho serve --listen` over loopback, bounded in time:
//
//	go build -o bin/pho ./cmd/pho && go run -C benchmarks ./serve -pho ../bin/pho
//
// It serves the network of pho demo (10 inputs, a network of three hidden layers, 20 terms),
// and asks over plain connections that are kept open: one request after the other on each,
// which is written in one piece and made beforehand, so that the client costs little of the
// processors that it shares with the server. Where wrk is installed, it asks, too: a thread of
// its own that never rests, so also a server that leaves it a processor. Of several
// rounds the best counts, as other work on the machine only slows; what each round had is in
// the last column. The answers are compared with contributions.csv before.
package main

import (
	"bufio"
	"encoding/binary"
	"encoding/csv"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"math"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

func main() {
	pho := flag.String("pho", "pho", "the command")
	seconds := flag.Float64("seconds", 2, "of a round")
	rounds := flag.Int("rounds", 3, "of which the best counts")
	flag.Parse()
	if err := run(*pho, *seconds, *rounds); err != nil {
		fmt.Fprintln(os.Stderr, "serve:", err)
		os.Exit(1)
	}
}

// load is a kind of requests.
type load struct {
	name    string
	clients int
	rows    int    // of a request
	text    []byte // the body
	header  int    // so many bytes of it are JSON, the others binary
}

func run(pho string, seconds float64, rounds int) error {
	dir, err := os.MkdirTemp("", "load")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	demo := filepath.Join(dir, "demo")
	if out, err := exec.Command(pho, "demo", "--out", demo).CombinedOutput(); err != nil {
		return fmt.Errorf("%w: %s", err, out)
	}
	server, address, err := start(pho, filepath.Join(demo, "ssn"), 0)
	if err != nil {
		return err
	}
	defer stop(server)
	rows, err := read(filepath.Join(demo, "data.csv"))
	if err != nil {
		return err
	}
	want, err := read(filepath.Join(demo, "ssn", "contributions.csv"))
	if err != nil {
		return err
	}
	loads := loads(rows)
	if err := check(address, rows, want); err != nil {
		return err
	}
	fmt.Println("case | requests/s | rows/s | p50 ms | p99 ms | CPU of the server, us a request | rounds: requests/s, p99")
	for _, l := range loads {
		if err := report(address, l, server.Process.Pid, seconds, rounds); err != nil {
			return fmt.Errorf("%s: %w", l.name, err)
		}
	}
	if _, err := exec.LookPath("wrk"); err != nil {
		fmt.Println("wrk: not run, it is not installed")
		fmt.Println("resident memory at most, MB:", peak(server.Process.Pid))
		return nil
	}
	if err := wrks("wrk", address, loads, dir, seconds, rounds); err != nil {
		return err
	}
	fmt.Println("resident memory at most, MB:", peak(server.Process.Pid))
	beside, address, err := start(pho, filepath.Join(demo, "ssn"), max(1, runtime.NumCPU()-1))
	if err != nil {
		return err
	}
	defer stop(beside)
	if err := wrks("wrk, a processor to itself", address, loads, dir, seconds, rounds); err != nil {
		return err
	}
	fmt.Println("resident memory at most, MB:", peak(beside.Process.Pid))
	return nil
}

func stop(server *exec.Cmd) {
	server.Process.Signal(syscall.SIGTERM)
	server.Wait()
}

// start starts the server, and reads where it listens. It computes on so many processors
// at a time; 0: all.
func start(pho, dir string, processors int) (*exec.Cmd, string, error) {
	server := exec.Command(pho, "serve", "ssn="+dir, "--listen", "127.0.0.1:0")
	if processors > 0 {
		server.Env = append(os.Environ(), "GOMAXPROCS="+strconv.Itoa(processors))
	}
	out, err := server.StderrPipe()
	if err != nil {
		return nil, "", err
	}
	if err := server.Start(); err != nil {
		return nil, "", err
	}
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		var line struct{ Msg, Address string }
		if json.Unmarshal(lines.Bytes(), &line) == nil && line.Msg == "listening" {
			go io.Copy(io.Discard, out)
			return server, line.Address, nil
		}
	}
	return nil, "", errors.New("the server does not start: " + lines.Text())
}

// read is a table: its header, and columns of numbers.
func read(path string) (map[string][]float64, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	records, err := csv.NewReader(f).ReadAll()
	if err != nil {
		return nil, err
	}
	out := map[string][]float64{}
	for j, name := range records[0] {
		for _, r := range records[1:] {
			v, err := strconv.ParseFloat(r[j], 64)
			if err != nil {
				return nil, err
			}
			out[name] = append(out[name], v)
		}
	}
	return out, nil
}

func columns() (names []string) {
	for j := range 10 {
		names = append(names, "x"+strconv.Itoa(j))
	}
	return names
}

// body is a request for the first rows: JSON, or binary tensors with an output asked for.
func body(rows map[string][]float64, n int, output string, binaries bool) (text []byte, header int) {
	type object = map[string]any
	var inputs []object
	var raw []byte
	for _, name := range columns() {
		in := object{"name": name, "datatype": "FP64", "shape": []int{n}}
		if !binaries {
			in["data"] = rows[name][:n]
		} else {
			in["parameters"] = object{"binary_data_size": 8 * n}
			for _, v := range rows[name][:n] {
				raw = binary.LittleEndian.AppendUint64(raw, math.Float64bits(v))
			}
		}
		inputs = append(inputs, in)
	}
	all := object{"inputs": inputs}
	if output != "" {
		all["outputs"] = []object{{"name": output, "parameters": object{"binary_data": binaries}}}
	}
	text, _ = json.Marshal(all)
	return append(text, raw...), len(text)
}

// request is HTTP with a body; header: how many bytes of it are JSON.
func request(text []byte, header int) []byte {
	more := ""
	if header < len(text) {
		more = fmt.Sprintf("Inference-Header-Content-Length: %d\r\n", header)
	}
	return append(fmt.Appendf(nil, "POST /v2/models/ssn/infer HTTP/1.1\r\nHost: load\r\n%sContent-Length: %d\r\n\r\n", more, len(text)), text...)
}

func loads(rows map[string][]float64) []load {
	of := func(name string, clients, n int, output string, binaries bool) load {
		text, header := body(rows, n, output, binaries)
		return load{name, clients, n, text, header}
	}
	return []load{
		of("prediction, 1 row, JSON", 1, 1, "", false),
		of("prediction, 1 row, JSON", 8, 1, "", false),
		of("all 23 parts, 1 row, JSON", 8, 1, "contributions", false),
		of("prediction, 100 rows, binary", 8, 100, "eta", true),
		of("prediction, 1000 rows, binary", 4, 1000, "eta", true),
		of("all 23 parts, 1000 rows, binary", 4, 1000, "contributions", true),
	}
}

// check compares the parts of a thousand rows with those of the decomposition.
func check(address string, rows, want map[string][]float64) error {
	conn, err := net.Dial("tcp", address)
	if err != nil {
		return err
	}
	defer conn.Close()
	c := &client{conn: conn, r: bufio.NewReaderSize(conn, 1<<16)}
	for _, name := range []string{"eta", "unstructured", "s(x1)"} {
		text, header := body(rows, 1000, name, true)
		answer, at, err := c.ask(request(text, header))
		if err != nil {
			return err
		}
		for i := range 1000 {
			if v := math.Float64frombits(binary.LittleEndian.Uint64(answer[at+8*i:])); v != want[name][i] {
				return fmt.Errorf("%s of row %d is %v, and %v in contributions.csv", name, i+1, v, want[name][i])
			}
		}
	}
	return nil
}

// client is a connection.
type client struct {
	conn net.Conn
	r    *bufio.Reader
	buf  []byte
}

// ask sends a request and reads the answer; at is where its binary data begin.
func (c *client) ask(raw []byte) (answer []byte, at int, err error) {
	if _, err := c.conn.Write(raw); err != nil {
		return nil, 0, err
	}
	status, size := "", -1
	for {
		line, err := c.r.ReadSlice('\n')
		if err != nil {
			return nil, 0, err
		}
		text := strings.TrimSpace(string(line))
		if text == "" {
			break
		}
		if status == "" {
			status = text
		}
		if v, ok := strings.CutPrefix(text, "Content-Length: "); ok {
			size, _ = strconv.Atoi(v)
		}
		if v, ok := strings.CutPrefix(text, "Inference-Header-Content-Length: "); ok {
			at, _ = strconv.Atoi(v)
		}
	}
	if size < 0 || !strings.HasPrefix(status, "HTTP/1.1 200") {
		return nil, 0, errors.New(status)
	}
	c.buf = slices.Grow(c.buf[:0], size)[:size]
	_, err = io.ReadFull(c.r, c.buf)
	return c.buf, at, err
}

// round is what was measured once.
type round struct {
	rate, p50, p99, cpu float64 // requests a second, milliseconds, microseconds
}

func measure(address string, l load, pid int, seconds float64) (round, error) {
	took := make([][]time.Duration, l.clients)
	faults := make([]error, l.clients)
	raw := request(l.text, l.header)
	before, begun := cpu(pid), time.Now()
	end := begun.Add(time.Duration(seconds * 1e9))
	var all sync.WaitGroup
	for i := range l.clients {
		all.Go(func() {
			conn, err := net.Dial("tcp", address)
			if err != nil {
				faults[i] = err
				return
			}
			defer conn.Close()
			c := &client{conn: conn, r: bufio.NewReaderSize(conn, 1<<16)}
			for now := time.Now(); now.Before(end); {
				if _, _, faults[i] = c.ask(raw); faults[i] != nil {
					return
				}
				next := time.Now()
				took[i] = append(took[i], next.Sub(now))
				now = next
			}
		})
	}
	all.Wait()
	wall := time.Since(begun).Seconds()
	times := slices.Sorted(slices.Values(slices.Concat(took...)))
	if err := errors.Join(faults...); err != nil || len(times) == 0 {
		return round{}, fmt.Errorf("%d answers: %w", len(times), err)
	}
	at := func(share float64) float64 {
		return times[int(share*float64(len(times)-1))].Seconds() * 1e3
	}
	return round{float64(len(times)) / wall, at(0.5), at(0.99), (cpu(pid) - before) / float64(len(times)) * 1e6}, nil
}

// report prints the best of several rounds.
func report(address string, l load, pid int, seconds float64, rounds int) error {
	var best round
	var each []string
	for range rounds {
		r, err := measure(address, l, pid, seconds)
		if err != nil {
			return err
		}
		each = append(each, fmt.Sprintf("%.0f, %.2f", r.rate, r.p99))
		if r.rate > best.rate {
			best = r
		}
	}
	fmt.Printf("%s, %d connections | %.0f | %.0f | %.3f | %.3f | %.0f | %s\n", l.name, l.clients, best.rate, best.rate*float64(l.rows), best.p50, best.p99, best.cpu, strings.Join(each, "; "))
	return nil
}

// cpu is how many seconds of processors a process has used; 0 where that cannot be told.
func cpu(pid int) float64 {
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0
	}
	_, rest, _ := strings.Cut(string(raw), ") ")
	fields := strings.Fields(rest)
	user, _ := strconv.ParseFloat(fields[11], 64)
	system, _ := strconv.ParseFloat(fields[12], 64)
	return (user + system) / 100
}

// peak is the most memory that a process had, in MB.
func peak(pid int) string {
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return "not known"
	}
	m := regexp.MustCompile(`VmHWM:\s*(\d+) kB`).FindSubmatch(raw)
	kb, _ := strconv.ParseFloat(string(m[1]), 64)
	return fmt.Sprintf("%.0f", kb*1024/1e6)
}

// wrks lets wrk ask for all loads.
func wrks(title, address string, loads []load, dir string, seconds float64, rounds int) error {
	for _, l := range loads {
		if err := wrk(title, address, l, dir, seconds, rounds); err != nil {
			return err
		}
	}
	return nil
}

// wrk lets wrk ask, with a thread of its own for all connections.
func wrk(title, address string, l load, dir string, seconds float64, rounds int) error {
	script, body := filepath.Join(dir, "post.lua"), filepath.Join(dir, "body")
	lua := fmt.Sprintf("local f = io.open(%q, 'rb'); wrk.body = f:read('*a'); f:close(); wrk.method = 'POST'\n", body)
	if l.header < len(l.text) {
		lua += fmt.Sprintf("wrk.headers['Inference-Header-Content-Length'] = '%d'\n", l.header)
	}
	if err := errors.Join(os.WriteFile(body, l.text, 0o644), os.WriteFile(script, []byte(lua), 0o644)); err != nil {
		return err
	}
	best, line := 0.0, ""
	var each []string
	for range rounds {
		out, err := exec.Command("wrk", "-t1", "-c"+strconv.Itoa(l.clients), fmt.Sprintf("-d%.0fs", math.Max(seconds, 1)), "--latency", "-s", script, "http://"+address+"/v2/models/ssn/infer").CombinedOutput()
		if err != nil || strings.Contains(string(out), "Non-2xx") {
			return fmt.Errorf("wrk: %v: %s", err, out)
		}
		find := func(pattern string) string {
			if m := regexp.MustCompile(pattern).FindStringSubmatch(string(out)); m != nil {
				return m[1]
			}
			return "?"
		}
		rate, _ := strconv.ParseFloat(find(`Requests/sec:\s*(\S+)`), 64)
		each = append(each, fmt.Sprintf("%.0f, %s", rate, find(`\n\s+99%\s+(\S+)`)))
		if rate > best {
			best, line = rate, fmt.Sprintf("%.0f | %.0f | %s | %s |", rate, rate*float64(l.rows), find(`\n\s+50%\s+(\S+)`), find(`\n\s+99%\s+(\S+)`))
		}
	}
	fmt.Printf("%s: %s, %d connections | %s | %s\n", title, l.name, l.clients, line, strings.Join(each, "; "))
	return nil
}
