package command

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/pho-go/pho/internal/app/resultdir"
)

// oipServer serves models of the columns x0, x1 (numbers) and g (text): "mean" answers with a mean, "two" with
// probabilities of two classes, "three" of three.
type oipServer struct {
	mu     sync.Mutex
	asked  map[string]int // rows by their values of x0, how often
	before func(w http.ResponseWriter, request int) bool
	served int
}

func startOIP(t testing.TB) (*oipServer, string) {
	t.Helper()
	o := &oipServer{asked: map[string]int{}}
	s := httptest.NewServer(o)
	t.Cleanup(s.Close)
	return o, s.URL + "/v2/models/"
}

func (o *oipServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodGet {
		fmt.Fprint(w, `{"name":"m","inputs":[{"name":"x0","datatype":"FP64","shape":[-1,1]},{"name":"x1","datatype":"FP32","shape":[-1,1]},{"name":"g","datatype":"BYTES","shape":[-1,1]}],"outputs":[{"name":"answer","datatype":"FP64","shape":[-1,1]}]}`)
		return
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.served++
	if o.before != nil && o.before(w, o.served) {
		return
	}
	var q struct {
		Inputs []struct{ Data json.RawMessage }
	}
	var x0, x1 []float64
	var g []string
	if err := json.NewDecoder(r.Body).Decode(&q); err != nil || len(q.Inputs) != 3 || json.Unmarshal(q.Inputs[0].Data, &x0) != nil || json.Unmarshal(q.Inputs[1].Data, &x1) != nil || json.Unmarshal(q.Inputs[2].Data, &g) != nil {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	var y []float64
	for i := range x0 {
		o.asked[fmt.Sprint(x0[i])]++
		eta := math.Sin(x0[i]) + 0.5*x1[i] + map[string]float64{"a": 1}[g[i]]
		switch {
		case strings.Contains(r.URL.Path, "two"):
			y = append(y, 1/(1+math.Exp(eta)), 1/(1+math.Exp(-eta)))
		case strings.Contains(r.URL.Path, "three"):
			sum := 1 + math.Exp(eta) + math.Exp(-eta/2)
			y = append(y, 1/sum, math.Exp(eta)/sum, math.Exp(-eta/2)/sum)
		case strings.Contains(r.URL.Path, "label"):
			y = append(y, math.Round(1/(1+math.Exp(-eta))))
		default:
			y = append(y, eta)
		}
	}
	text, _ := json.Marshal(y)
	fmt.Fprintf(w, `{"outputs":[{"name":"answer","datatype":"FP64","shape":[%d,%d],"data":%s}]}`, len(x0), len(y)/len(x0), text)
}

// most is how often a row was asked, at most. Settle asks for some of the first rows again.
func (o *oipServer) most() (n int) {
	for _, times := range o.asked {
		n = max(n, times)
	}
	return n
}

// columnOf is a column of a result's contributions.
func columnOf(t testing.TB, result, name string) (values []float64) {
	t.Helper()
	header, records := table(t, result, resultdir.Contributions)
	at := slices.Index(header, name)
	if at < 0 {
		t.Fatalf("there is no column %q among %q", name, header)
	}
	for _, r := range records {
		values = append(values, number(t, r[at]))
	}
	return values
}

// TestAddress: a model behind an address is what it answers, in decompose, apply, explain, serve's rows, shards and with --resume,
// and the bytes are the same each time.
func TestAddress(t *testing.T) {
	dir := t.TempDir()
	data := filepath.Join(dir, "rows.csv")
	write(t, data, rows(3000))
	_, url := startOIP(t)
	base := []string{"--model", url + "mean", "--data", data, "--response", "y", "--formula", `~ s(x0) + x1 + g`}
	out := filepath.Join(dir, "out")
	done(t, append(append([]string{"decompose"}, base...), "--out", out, "--workers", "1")...)
	largest := 0.0
	for _, v := range columnOf(t, out, "unstructured") {
		largest = max(largest, math.Abs(v))
	}
	if largest > 0.05 { // what ten functions miss of a sine
		t.Errorf("the remainder is up to %v", largest)
	}
	again := filepath.Join(dir, "again.csv")
	done(t, "apply", "--decomposition", out, "--data", data, "--out", again)
	if read(t, again) != read(t, out, resultdir.Contributions) {
		t.Error("apply gives other parts")
	}
	if o := done(t, "explain", out, "--data", data, "--row", "7"); !strings.Contains(o.out, "s(x0)") {
		t.Errorf("explain: %s", o.out)
	}
	for name, extra := range map[string][]string{"workers": {"--workers", "3"}, "resumed": {"--resume"}} {
		other := filepath.Join(dir, name)
		done(t, append(append([]string{"decompose"}, append(base, extra...)...), "--out", other)...)
		equalResults(t, other, out)
	}
	h := shards{temp: dir, n: 2, random: rand.New(rand.NewPCG(1, 0))}
	done(t, append(append([]string{"plan"}, base...), "--out", h.place("plan"), "--shards", "2")...)
	h.run(t)
	equalResults(t, h.place("result"), out)
	if h.contributions(t) != read(t, out, resultdir.Contributions) {
		t.Error("the contributions of shards are not those of one decompose")
	}
	if o := done(t, "monitor", out, "--data", data, "--period", "now", "--state", filepath.Join(dir, "state.json")); strings.Contains(o.err, "error") {
		t.Errorf("monitor: %s", o.err)
	}
	if page := read(t, out, resultdir.Report); !strings.Contains(page, url+"mean") || !strings.Contains(page, "answers answer, link identity") {
		t.Error("the report does not say which model was asked")
	}
	if o := call(t, "inspect", url+"mean"); o.status != exitFailed || !strings.Contains(o.err, "is an address") {
		t.Errorf("inspect: %d %s", o.status, o.err)
	}
	online, _ := serving(t, out)
	answer, err := http.Post(online+"/v2/models/out/infer", "application/json", strings.NewReader(`{"inputs":[{"name":"x0","datatype":"FP64","shape":[1],"data":[0.5]},{"name":"x1","datatype":"FP64","shape":[1],"data":[1]},{"name":"g","datatype":"BYTES","shape":[1],"data":["a"]}],"outputs":[{"name":"eta"}]}`))
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	if said, _ := io.ReadAll(answer.Body); !strings.Contains(string(said), fmt.Sprint(math.Sin(0.5)+0.5+1)) {
		t.Errorf("served: %s", said)
	}
	_, moved := startOIP(t)
	done(t, "apply", "--decomposition", out, "--data", data, "--out", again, "--model", moved+"mean")
	if read(t, again) != read(t, out, resultdir.Contributions) {
		t.Error("apply at another address gives other parts")
	}
}

// TestAddressClasses: probabilities of classes, by the link softmax; of two the log odds of the second.
func TestAddressClasses(t *testing.T) {
	dir := t.TempDir()
	data := filepath.Join(dir, "rows.csv")
	write(t, data, rows(1500))
	_, url := startOIP(t)
	two, three := filepath.Join(dir, "two"), filepath.Join(dir, "three")
	done(t, "decompose", "--model", url+"two", "--link", "softmax", "--data", data, "--formula", "~ s(x0) + x1 + g", "--out", two)
	plain := filepath.Join(dir, "plain")
	done(t, "decompose", "--model", url+"mean", "--data", data, "--formula", "~ s(x0) + x1 + g", "--out", plain)
	a, b := columnOf(t, two, "eta"), columnOf(t, plain, "eta")
	for i := range a {
		if math.Abs(a[i]-b[i]) > 1e-9 { // the logarithms of two probabilities, which hold 16 digits
			t.Fatalf("row %d: the log odds are %v, want %v", i, a[i], b[i])
		}
	}
	done(t, "decompose", "--model", url+"three", "--link", "softmax", "--classes", "a,b,c", "--response", "g", "--data", data, "--formula", "~ s(x0) + x1", "--out", three)
	if got := columnOf(t, three, "a.eta"); len(got) != 1500 {
		t.Errorf("class a has %d rows", len(got))
	}
}

// TestAddressKilled: a server that is gone in the middle is an error that names the address, and with --resume the same call goes on to the
// same bytes; no row is asked again.
func TestAddressKilled(t *testing.T) {
	dir := t.TempDir()
	data := filepath.Join(dir, "rows.csv")
	write(t, data, rows(6000))
	o, url := startOIP(t)
	o.before = func(w http.ResponseWriter, request int) bool {
		if request < 15 || request > 40 {
			return false
		}
		w.WriteHeader(http.StatusInternalServerError)
		return true
	}
	base := []string{"decompose", "--model", url + "mean", "--data", data, "--formula", "~ s(x0) + g", "--out", filepath.Join(dir, "out"), "--resume", "--workers", "1"}
	first := call(t, base...)
	if first.status != exitFailed || !strings.Contains(first.err, url+"mean") || !strings.Contains(first.err, "status 500") {
		t.Fatalf("status %d: %s", first.status, first.err)
	}
	if _, err := os.Stat(filepath.Join(dir, "out")); err == nil {
		t.Error("a result is there")
	}
	answered := len(o.asked)
	if answered < 1000 || answered >= 6000 {
		t.Fatalf("%d rows were answered before", answered)
	}
	o.before = nil
	o.asked = map[string]int{}
	done(t, base...)
	if len(o.asked) > 6000-answered+32 || o.most() > 2 { // of the first 32 rows some are asked to find out what there is
		t.Errorf("%d rows were asked, up to %d times; %d of 6000 were answered before", len(o.asked), o.most(), answered)
	}
	whole := append(slices.Clone(base[:7]), "--out", filepath.Join(dir, "whole"))
	done(t, whole...)
	equalResults(t, filepath.Join(dir, "out"), filepath.Join(dir, "whole"))
}

// TestAddressUnnamed: of a server that names no inputs the columns are said, however the call is made, unless somebody names them; the
// results are the same.
func TestAddressUnnamed(t *testing.T) {
	dir := t.TempDir()
	data, numbers := filepath.Join(dir, "rows.csv"), filepath.Join(dir, "numbers.csv")
	write(t, data, "x,g,y\n"+strings.Repeat("1,a,1\n2,b,3\n4,a,2\n1000000,b,5\n", 20))
	write(t, numbers, "x,z,y\n"+strings.Repeat("1,0,1\n2,7,3\n4,1,2\n1000000,3,5\n", 20))
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var q struct {
			Inputs []struct {
				Shape []int
				Data  []any
			}
		}
		if err := json.NewDecoder(r.Body).Decode(&q); err != nil { // the server is asked for its inputs
			fmt.Fprint(w, `{"name":"m"}`)
			return
		}
		in := q.Inputs[0]
		var y []any
		for i := range in.Shape[0] {
			y = append(y, in.Data[i*in.Shape[1]])
		}
		text, _ := json.Marshal(y)
		fmt.Fprintf(w, `{"outputs":[{"name":"answer","shape":[%d],"data":%s}]}`, len(y), text)
	}))
	t.Cleanup(s.Close)
	for i, c := range []struct{ data, input, want string }{
		{data, "", "does not say which columns it reads"},
		{data, "input=x,g", ""},
		{numbers, "", `took its columns by position, in the order of the data ("x", "z")`},
		{numbers, "input=x,z", ""},
	} {
		args := []string{"decompose", "--model", s.URL + "/v2/models/m", "--data", c.data, "--formula", "y ~ x"}
		if c.input != "" {
			args = append(args, "--input", c.input)
		}
		out := filepath.Join(dir, fmt.Sprint(i))
		for _, extra := range [][]string{{"--out", out}, {"--resume", "--out", out + "-resumed"}} {
			said := done(t, append(slices.Clone(args), extra...)...).err
			if n := strings.Count(said, "does not say which") + strings.Count(said, "took its columns by position"); c.want != "" && !strings.Contains(said, c.want) || n > 1 || n > 0 && c.want == "" {
				t.Errorf("%v %v: want %q once: %s", c, extra, c.want, said)
			}
		}
		equalResults(t, out+"-resumed", out)
	}
}

// TestAddressRefused: the message names the fault, the place and the remedy.
func TestAddressRefused(t *testing.T) {
	dir := t.TempDir()
	data := filepath.Join(dir, "rows.csv")
	write(t, data, rows(200))
	_, url := startOIP(t)
	for _, c := range []struct {
		args string
		want string
	}{
		{"--model http://127.0.0.1/", "/v2/models/NAME"},
		{"--model " + url + "mean --model net.onnx", "decomposed alone"},
		{"--model " + url + "mean --max-order 2", "leave them out"},
		{"--model " + url + "mean --precision float32", "leave them out"},
		{"--model " + url + "mean --classes a,b", "whose link is softmax"},
		{"--model " + url + "three --classes a,b --link softmax", "answers 3 numbers"},
		{"--model " + url + "mean --link logit", "is no probability"},
		{"--model " + url + "mean --link odd", "is not known"},
		{"--model " + url + "label --link logit", "--clip"},
		{"--model " + url + "mean --predictor other", `"other" is not among them`},
		{"--model " + url + "mean --input z=x0", `no input "z"`},
		{"--model net.onnx --link logit", "--link is for"},
		{"--model net.onnx --classes a,b", "--classes is for"},
	} {
		o := call(t, append(append([]string{"decompose", "--data", data, "--out", filepath.Join(dir, "out")}, strings.Fields(c.args)...), "--formula", "~ x0")...)
		if o.status == exitDone || !strings.Contains(o.err, c.want) {
			t.Errorf("%s: status %d, %s, want %q", c.args, o.status, o.err, c.want)
		}
		if _, err := os.Stat(filepath.Join(dir, "out")); err == nil {
			t.Fatalf("%s: a result is there", c.args)
		}
	}
}
