package served

import (
	"context"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/pho-go/pho/data"
)

// batch has the columns x (0, 1, ...), k (whole), t (true or false as 1 and 0) and g (text) at rows from first on.
func batch(t testing.TB, n int, first int64) *data.Batch {
	t.Helper()
	b := data.NewBatch(n, first)
	x, k, yes, g := make([]float64, n), make([]float64, n), make([]float64, n), make([]string, n)
	for i := range n {
		x[i], k[i], yes[i], g[i] = float64(int(first)+i)/4, float64(i%3), float64(i%2), []string{"a", `b "ü"`}[i%2]
	}
	_, err := b.SetTexts("g", g, nil)
	if err := errors.Join(err, b.SetNumeric("x", x), b.SetNumeric("k", k), b.SetNumeric("t", yes)); err != nil {
		t.Fatal(err)
	}
	return b
}

// numbersForm asks for one tensor of x and k.
func numbersForm() *Form {
	return &Form{Protocol: OIP, Inputs: []Input{{Name: "input", Datatype: "FP64", Columns: []string{"x", "k"}}}, Outputs: []Output{{"y", 1}}}
}

// asks is what a request of numbersForm holds.
type asks struct {
	Inputs []struct {
		Shape []int
		Data  []float64
	}
}

// sum answers with x + k of every row.
func sum(t testing.TB, w http.ResponseWriter, r *http.Request) (rows int) {
	var q asks
	raw, err := io.ReadAll(r.Body)
	if err := errors.Join(err, json.Unmarshal(raw, &q)); err != nil || len(q.Inputs) != 1 {
		t.Errorf("request %s: %v", raw, err)
		return 0
	}
	rows = q.Inputs[0].Shape[0]
	y := make([]float64, rows)
	for i := range y {
		y[i] = q.Inputs[0].Data[2*i] + q.Inputs[0].Data[2*i+1]
	}
	text, _ := json.Marshal(y)
	fmt.Fprintf(w, `{"model_name":"m","outputs":[{"name":"y","datatype":"FP64","shape":[%d,1],"data":%s}]}`, rows, text)
	return rows
}

func serve(t testing.TB, h http.HandlerFunc) string {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return s.URL
}

func at(t testing.TB, address string, o *Options) *Server {
	t.Helper()
	s, err := At(address, o)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// quick are options of a test.
func quick() *Options {
	return &Options{Attempts: 3, Pause: time.Millisecond, Timeout: 10 * time.Second}
}

// predict asks for the rows of b and compares with x + k.
func predict(t testing.TB, s *Server, b *data.Batch) error {
	t.Helper()
	dst := make([]float64, b.Rows())
	if err := s.Predict(context.Background(), dst, numbersForm(), b); err != nil {
		return err
	}
	x, _ := b.Numeric("x")
	k, _ := b.Numeric("k")
	for i, v := range dst {
		if v != x[i]+k[i] {
			t.Fatalf("row %d: %v, want %v", i, v, x[i]+k[i])
		}
	}
	return nil
}

// TestAddress: which addresses there are, and that none holds a secret.
func TestAddress(t *testing.T) {
	for address, want := range map[string]string{
		"http://h:1/v2/models/m":                     "oip http://h:1/v2/models/m",
		"https://h/base/v2/models/m/versions/2/":     "oip https://h/base/v2/models/m/versions/2",
		"http://h/v2/models/m/infer":                 "oip http://h/v2/models/m",
		"http://h:5000/invocations":                  "mlflow http://h:5000/invocations",
		"https://h/serving-endpoints/m/invocations/": "mlflow https://h/serving-endpoints/m/invocations",
	} {
		s := at(t, address, nil)
		if got := string(s.Protocol()) + " " + s.Address(); got != want {
			t.Errorf("%s is %s, want %s", address, got, want)
		}
	}
	for address, want := range map[string]string{
		"http://h:1/":                      "names no model",
		"http://h/v2/models/":              "names no model",
		"http:///v2/models/m":              "no address",
		"http://u:hunter2@h/v2/models/m":   "token",
		"http://h/v2/models/m?key=hunter2": "token",
		"http://h/invocations#hunter2":     "token",
	} {
		_, err := At(address, nil)
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s: %v, want %q and no secret", address, err, want)
		}
	}
	if IsAddress("net.onnx") || !IsAddress("https://h/invocations") {
		t.Error("a file is no address")
	}
}

// TestAttempts: servers that have no time are asked again, as often as allowed, after the time that they name.
func TestAttempts(t *testing.T) {
	for _, status := range []int{429, 502, 503, 504} {
		var n atomic.Int32
		url := serve(t, func(w http.ResponseWriter, r *http.Request) {
			if n.Add(1) < 3 {
				w.Header().Set("Retry-After", "0")
				w.WriteHeader(status)
				return
			}
			sum(t, w, r)
		})
		if err := predict(t, at(t, url+"/v2/models/m", quick()), batch(t, 5, 0)); err != nil || n.Load() != 3 {
			t.Errorf("status %d: %v after %d requests, want the answer at the third", status, err, n.Load())
		}
		n.Store(-10)
		err := predict(t, at(t, url+"/v2/models/m", quick()), batch(t, 5, 0))
		if own := (*Error)(nil); !errors.As(err, &own) || own.Status != status || n.Load() != -7 || !strings.Contains(err.Error(), "asked 3 times") {
			t.Errorf("status %d: %v after %d requests, want an error after 3", status, err, n.Load()+10)
		}
	}
	for status, want := range map[int]string{400: "bad row", 500: "bad row", 401: TokenVariable, 403: TokenVariable, 404: "no such model"} {
		var n atomic.Int32
		url := serve(t, func(w http.ResponseWriter, r *http.Request) {
			n.Add(1)
			w.WriteHeader(status)
			fmt.Fprint(w, `{"error":"bad row"}`)
		})
		err := predict(t, at(t, url+"/v2/models/m", quick()), batch(t, 5, 0))
		if err == nil || !strings.Contains(err.Error(), want) || n.Load() != 1 {
			t.Errorf("status %d: %v after %d requests, want %q after one", status, err, n.Load(), want)
		}
	}
}

// TestReason: of a long message how it begins and how it ends.
func TestReason(t *testing.T) {
	long := strings.Repeat("rows ", 1000)
	got := reason([]byte(`{"message":"failed on ` + long + `k is missing"}`))
	if !strings.HasPrefix(got, "failed on") || !strings.HasSuffix(got, "k is missing") || len(got) > 600 {
		t.Errorf("%d bytes: %s", len(got), got)
	}
	if got := reason([]byte("Internal  Server Error\n")); got != "Internal Server Error" {
		t.Errorf("%q", got)
	}
}

// TestRetryAfter: a server says how long to wait, in seconds or by a date.
func TestRetryAfter(t *testing.T) {
	h := func(v string) *http.Response {
		return &http.Response{StatusCode: 429, Header: http.Header{"Retry-After": {v}}}
	}
	if got := pauseOf(h("7")); got != 7*time.Second {
		t.Errorf("7: %v", got)
	}
	if got := pauseOf(h(time.Now().Add(time.Hour).UTC().Format(http.TimeFormat))); got < 59*time.Minute {
		t.Errorf("in an hour: %v", got)
	}
	if got := pauseOf(h("soon")); got != 0 {
		t.Errorf("soon: %v", got)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer cancel()
	url := serve(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Retry-After", "30")
		w.WriteHeader(503)
	})
	began := time.Now()
	err := at(t, url+"/v2/models/m", quick()).Predict(ctx, make([]float64, 2), numbersForm(), batch(t, 2, 0))
	if !errors.Is(err, context.DeadlineExceeded) || time.Since(began) > 10*time.Second {
		t.Errorf("a wait that is broken off: %v after %v", err, time.Since(began))
	}
}

// TestUnreached: a server that is not there, and one that is killed in an answer.
func TestUnreached(t *testing.T) {
	s := httptest.NewServer(http.NotFoundHandler())
	url := s.URL
	s.Close()
	err := predict(t, at(t, url+"/v2/models/m", quick()), batch(t, 5, 0))
	if err == nil || !strings.Contains(err.Error(), "cannot be reached") || !strings.Contains(err.Error(), "asked 3 times") {
		t.Errorf("a server that is not there: %v", err)
	}
	var n atomic.Int32
	url = serve(t, func(w http.ResponseWriter, r *http.Request) {
		if n.Add(1) == 1 {
			w.Header().Set("Content-Length", "1000")
			fmt.Fprint(w, `{"outputs":`)
			panic(http.ErrAbortHandler)
		}
		sum(t, w, r)
	})
	if err := predict(t, at(t, url+"/v2/models/m", quick()), batch(t, 5, 0)); err != nil {
		t.Errorf("killed once: %v", err)
	}
}

// TestFewerRows: a server that is too slow for so many rows, or refuses their bytes, is asked for fewer.
func TestFewerRows(t *testing.T) {
	for _, slow := range []bool{true, false} {
		var most atomic.Int64
		url := serve(t, func(w http.ResponseWriter, r *http.Request) {
			var q asks
			raw, _ := io.ReadAll(r.Body)
			if json.Unmarshal(raw, &q); q.Inputs[0].Shape[0] > 20 {
				if slow {
					select {
					case <-r.Context().Done():
					case <-time.After(5 * time.Second):
					}
				}
				w.WriteHeader(http.StatusRequestEntityTooLarge)
				return
			}
			r.Body = io.NopCloser(strings.NewReader(string(raw)))
			n := int64(sum(t, w, r))
			most.Store(max(most.Load(), n))
		})
		o := quick()
		if slow {
			o.Timeout = 300 * time.Millisecond
		}
		if err := predict(t, at(t, url+"/v2/models/m", o), batch(t, 300, 0)); err != nil || most.Load() > 20 {
			t.Errorf("slow %v: %v, %d rows at most", slow, err, most.Load())
		}
	}
	url := serve(t, func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.ReadAll(r.Body)
		<-r.Context().Done()
	})
	o := quick()
	o.Timeout = 30 * time.Millisecond
	err := predict(t, at(t, url+"/v2/models/m", o), batch(t, 5, 0))
	if err == nil || !strings.Contains(err.Error(), TimeoutVariable) {
		t.Errorf("a server that hangs: %v", err)
	}
}

// TestRedirect: rows go to no other host.
func TestRedirect(t *testing.T) {
	var elsewhere atomic.Int32
	other := serve(t, func(http.ResponseWriter, *http.Request) { elsewhere.Add(1) })
	url := serve(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/v2/models/out/infer":
			http.Redirect(w, r, other+"/v2/models/m/infer", http.StatusTemporaryRedirect)
		case "/v2/models/lost/infer": // a GET would follow, without the rows
			http.Redirect(w, r, "/v2/models/m/infer", http.StatusFound)
		case "/v2/models/moved/infer":
			http.Redirect(w, r, "/v2/models/m/infer", http.StatusTemporaryRedirect)
		default:
			sum(t, w, r)
		}
	})
	if err := predict(t, at(t, url+"/v2/models/moved", quick()), batch(t, 3, 0)); err != nil {
		t.Errorf("on the same host: %v", err)
	}
	for _, name := range []string{"out", "lost"} {
		err := predict(t, at(t, url+"/v2/models/"+name, quick()), batch(t, 3, 0))
		if err == nil || !strings.Contains(err.Error(), "rows go to the address that was named alone") || elsewhere.Load() > 0 {
			t.Errorf("%s: %v, %d requests elsewhere", name, err, elsewhere.Load())
		}
	}
}

// TestSecrets: TLS with an authority of one's own, and a token.
func TestSecrets(t *testing.T) {
	s := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer sesame" {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		sum(t, w, r)
	}))
	defer s.Close()
	s.Config.ErrorLog = nil
	err := predict(t, at(t, s.URL+"/v2/models/m", quick()), batch(t, 3, 0))
	if err == nil || !strings.Contains(err.Error(), CAVariable) || strings.Contains(err.Error(), "asked 3 times") {
		t.Errorf("a certificate that nobody knows: %v", err)
	}
	ca := filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(ca, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw}), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv(CAVariable, ca)
	t.Setenv(TimeoutVariable, "20s")
	for token, want := range map[string]string{"": TokenVariable, "sesame": ""} {
		t.Setenv(TokenVariable, token)
		o, err := FromEnvironment()
		if err != nil || o.Timeout != 20*time.Second {
			t.Fatal(o, err)
		}
		err = predict(t, at(t, s.URL+"/v2/models/m", o), batch(t, 3, 0))
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("token %q: %v, want %q", token, err, want)
		}
	}
	for variable, value := range map[string]string{TimeoutVariable: "soon", CAVariable: os.Args[0]} {
		t.Setenv(variable, value)
		if _, err := FromEnvironment(); err == nil || !strings.Contains(err.Error(), variable) {
			t.Errorf("%s=%s: %v", variable, value, err)
		}
		t.Setenv(variable, "")
	}
}

// TestAnswers: answers that are not what was asked for, to two rows.
func TestAnswers(t *testing.T) {
	frame := &Form{Protocol: MLflow, Inputs: []Input{{Name: "dataframe_split", Columns: []string{"x", "g"}}}, Outputs: []Output{{"predictions", 1}}}
	for body, want := range map[string]string{
		`{"outputs":[{"name":"y","shape":[2],"data":[1,2]}]}`:                                           "1 2",
		`{"outputs":[{"name":"y","shape":[2,1],"data":[[1],[null]]}]}`:                                  "1 NaN",
		`{"outputs":[{"name":"y","shape":[2],"data":[true,false]}]}`:                                    "1 0",
		`{"outputs":[{"name":"a","shape":[2],"data":["u","v"]},{"name":"y","shape":[2],"data":[1,2]}]}`: "1 2",
		`{"outputs":[{"name":"y","shape":[2],"data":[1,NaN]}]}`:                                         "1 NaN",
		`{"outputs":[{"name":"y","shape":[3],"data":[1,2,3]}]}`:                                         "shape [3], and there were 2 rows",
		`{"outputs":[{"name":"y","shape":[2],"data":[1]}]}`:                                             "1 numbers",
		`{"outputs":[{"name":"y","shape":[2,2],"data":[1,2,3,4]}]}`:                                     "another shape than before",
		`{"outputs":[{"name":"z","shape":[2],"data":[1,2]}]}`:                                           `without the output "y"`,
		`{"outputs":[{"name":"y","shape":[2],"data":["no","yes"]}]}`:                                    "a label has no scale",
		`{"outputs":[{"name":"y","shape":[2],"data":[{"a":1},2]}]}`:                                     "neither numbers nor texts",
		`{"outputs":[]}`:            "no outputs",
		`<html>`:                    "cannot be read",
		`{"predictions":[1,2]}`:     "1 2",
		`{"predictions":[[1],[2]]}`: "1 2",
		`{"predictions": [1, NaN], "NaN": "-Infinity \" NaN"}`:  "1 NaN",
		`{"predictions": [-Infinity, 2]}`:                       "NaN 2",
		`{"predictions":[{"predictions":1},{"predictions":2}]}`: "1 2",
		`{"predictions":{"predictions":[1,2],"other":[3,4]}}`:   "1 2",
		`{"predictions":[1,2,3]}`:                               "3 predictions, and there were 2 rows",
		`{"predictions":[[1],[2,3]]}`:                           "a row has 1 numbers and another 2",
		`{"predictions":[[1,2],[3,4]]}`:                         "another shape than before",
		`{"predictions":["hi","lo"]}`:                           "a label has no scale",
		`{"predictions":[{"a":1},{"a":2}]}`:                     `without the output "predictions"`,
		`{"predictions":7}`:                                     "no list",
		`{"answer":7}`:                                          "no predictions",
	} {
		path, f := "/v2/models/m", numbersForm()
		if !strings.Contains(body, "outputs") && body != "<html>" {
			path, f = "/invocations", frame
		}
		url := serve(t, func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, body) })
		dst := make([]float64, 2)
		err := at(t, url+path, quick()).Predict(context.Background(), dst, f, batch(t, 2, 4))
		got := strings.Trim(fmt.Sprint(dst), "[]")
		if err != nil {
			got = err.Error()
		}
		if got != want && (err == nil || !strings.Contains(got, want)) {
			t.Errorf("%s: %s, want %s", body, got, want)
		}
	}
}

// TestSettle: what a model answers is found out by the first rows, and each answer has to depend on its row.
func TestSettle(t *testing.T) {
	form := numbersForm()
	form.Outputs = nil
	settle := func(f *Form, h http.HandlerFunc) (*Form, error) {
		return at(t, serve(t, h)+"/v2/models/m", quick()).Settle(context.Background(), *f, batch(t, 40, 0))
	}
	f, err := settle(form, func(w http.ResponseWriter, r *http.Request) { sum(t, w, r) })
	if err != nil || !slices.Equal(f.Outputs, []Output{{"y", 1}}) || form.Outputs != nil {
		t.Errorf("%+v %v", f, err)
	}
	calls := 0
	for name, h := range map[string]http.HandlerFunc{
		"of the batch": func(w http.ResponseWriter, r *http.Request) {
			var q asks
			_ = json.NewDecoder(r.Body).Decode(&q)
			n := q.Inputs[0].Shape[0]
			fmt.Fprintf(w, `{"outputs":[{"name":"y","shape":[%d],"data":[%d%s]}]}`, n, n, strings.Repeat(fmt.Sprintf(",%d", n), n-1))
		},
		"random": func(w http.ResponseWriter, r *http.Request) {
			var q asks
			_ = json.NewDecoder(r.Body).Decode(&q)
			n := q.Inputs[0].Shape[0]
			calls++
			fmt.Fprintf(w, `{"outputs":[{"name":"y","shape":[%d],"data":[%d%s]}]}`, n, calls, strings.Repeat(fmt.Sprintf(",%d", calls), n-1))
		},
	} {
		if _, err := settle(form, h); err == nil || !strings.Contains(err.Error(), "depend on its row") {
			t.Errorf("answers %s: %v", name, err)
		}
	}
	two := func(w http.ResponseWriter, r *http.Request) {
		var q asks
		_ = json.NewDecoder(r.Body).Decode(&q)
		n := q.Inputs[0].Shape[0]
		zeros := "0" + strings.Repeat(",0", n-1)
		fmt.Fprintf(w, `{"outputs":[{"name":"y","shape":[%d],"data":[%s]},{"name":"p","shape":[%d,2],"data":[%s,%s]}]}`, n, zeros, n, zeros, zeros)
	}
	if _, err := settle(form, two); err == nil || !strings.Contains(err.Error(), `["y" "p"]`) {
		t.Errorf("two outputs: %v", err)
	}
	form.Outputs = []Output{{Name: "p"}}
	if f, err := settle(form, two); err != nil || f.Width() != 2 {
		t.Errorf("p: %+v %v", f, err)
	}
	form.Outputs = nil
	empty := func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprint(w, `{"outputs":[{"name":"y","shape":[32,0],"data":[]}]}`)
	}
	if _, err := settle(form, empty); err == nil || !strings.Contains(err.Error(), "no number for a row") {
		t.Errorf("no numbers: %v", err)
	}
	form.Outputs = []Output{{Name: "q"}}
	if _, err := settle(form, two); err == nil || !strings.Contains(err.Error(), `"q" is not among them`) {
		t.Errorf("q: %v", err)
	}
}

// TestMetadata: inputs and outputs as a server names them.
func TestMetadata(t *testing.T) {
	said := ""
	url := serve(t, func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, said) })
	s := at(t, url+"/v2/models/m", quick())
	said = `{"inputs":[{"name":"a","datatype":"FP32","shape":[-1,3]},{"name":"b","datatype":"BYTES","shape":[-1]},{"name":"c","datatype":"INT64","shape":[-1,-1]}],"outputs":[{"name":"o"}]}`
	m, err := s.Metadata(context.Background())
	if err != nil || fmt.Sprint(m) != "&{[{a FP32 3 false []} {b BYTES 1 true []} {c INT64 0 false []}] [o]}" {
		t.Errorf("%v %v", m, err)
	}
	for text, want := range map[string]string{`{"inputs":[{"name":"a","datatype":"FP32","shape":[3,4]}]}`: "that of the rows", `[]`: "no JSON"} {
		said = text
		if _, err := s.Metadata(context.Background()); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// TestCells: values as the inputs of a model take them.
func TestCells(t *testing.T) {
	b := batch(t, 2, 0)
	if err := b.SetNumeric("big", []float64{-3e6, 1234567}); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ column, datatype, want string }{
		{"x", "FP64", "0,0.25"}, {"k", "INT64", "0,1"}, {"t", "BOOL", "false,true"}, {"g", "BYTES", `"a","b \"ü\""`},
		{"k", "BYTES", `"0","1"`}, {"x", "", "0,0.25"}, {"g", "", `"a","b \"ü\""`},
		{"big", "INT64", "-3000000,1234567"}, {"big", "", "-3000000,1234567"}, {"big", "FP32", "-3000000,1234567"},
		{"big", "INT16", "-3e+06 does not go into"}, {"big", "UINT32", "-3e+06 does not go into"}, {"big", "FP16", "-3e+06 does not go into"}, {"big", "BOOL", "-3e+06 does not go into"},
		{"x", "INT64", "0.25 does not go into an input of type INT64"}, {"g", "FP32", "holds text, where numbers"}, {"none", "FP64", "none"},
	} {
		got, err := rowsOf(nil, b, []string{c.column}, c.datatype, "", "")
		if text := string(got); err == nil && text != c.want || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s as %s: %s %v, want %s", c.column, c.datatype, text, err, c.want)
		}
	}
	hole := data.NewBatch(1, 0)
	if err := hole.SetNumeric("x", []float64{math.NaN()}); err != nil {
		t.Fatal(err)
	}
	if _, err := hole.SetTexts("g", []string{data.MissingLevel}, nil); err != nil {
		t.Fatal(err)
	}
	if got, err := rowsOf(nil, hole, []string{"g"}, texts, "", ""); err != nil || string(got) != "null" {
		t.Errorf("%s, %v", got, err)
	}
	if got, err := rowsOf(nil, hole, []string{"x"}, "FP64", "", ""); err != nil || string(got) != "null" {
		t.Errorf("a missing value: %s %v", got, err)
	}
}

// TestKept: a row is asked once, by whichever process; what was not written whole is asked again.
func TestKept(t *testing.T) {
	var rows atomic.Int64
	url := serve(t, func(w http.ResponseWriter, r *http.Request) { rows.Add(int64(sum(t, w, r))) })
	path := filepath.Join(t.TempDir(), "answers")
	ask := func(n int, first int64) int64 {
		t.Helper()
		s, b := at(t, url+"/v2/models/m", quick()), batch(t, n, first)
		kept, err := Keep(path, 1)
		if err != nil {
			t.Fatal(err)
		}
		defer kept.Close()
		rows.Store(0)
		dst := make([]float64, n)
		if err := kept.Predict(context.Background(), s, dst, numbersForm(), b); err != nil {
			t.Fatal(err)
		}
		x, _ := b.Numeric("x")
		k, _ := b.Numeric("k")
		for i, v := range dst {
			if v != x[i]+k[i] {
				t.Fatalf("row %d: %v, want %v", i, v, x[i]+k[i])
			}
		}
		return rows.Load()
	}
	if n := ask(30, 60); n != 30 {
		t.Errorf("%d rows were asked, want 30", n)
	}
	if n := ask(30, 60); n != 0 {
		t.Errorf("%d rows were asked again", n)
	}
	if n := ask(60, 45); n != 30 { // k of a batch begins with its first row, and 45 has the k of 60
		t.Errorf("%d rows around them, want 30", n)
	}
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteAt(make([]byte, 8), 16*70); err != nil {
		t.Fatal(err)
	}
	f.Close()
	if n := ask(30, 60); n != 1 {
		t.Errorf("%d rows were asked of which one is damaged", n)
	}
}
