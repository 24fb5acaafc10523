package onnxruntime_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/pho-go/pho/adapters/onnx"
	"github.com/pho-go/pho/adapters/onnx/onnxruntime"
	"github.com/pho-go/pho/adapters/onnx/onnxtest"
)

// The test program is the helper, too: the variable tells it which helper to play.
const as = "PHO_TEST_HELPER"

func TestMain(m *testing.M) {
	var err error
	switch os.Getenv(as) {
	case "":
		os.Exit(m.Run())
	case "whole":
		err = onnxruntime.Serve(os.Stdin, os.Stdout, onnxtest.Runtime{}, "ours.so", nil)
	case "no library":
		err = onnxruntime.Serve(os.Stdin, os.Stdout, nil, "", errors.New("no library far and wide"))
	case "killed":
		err = onnxruntime.Serve(os.Stdin, os.Stdout, dying{}, "ours.so", nil)
	case "other version":
		hello := []byte(`{"protocol":99,"version":"9.9.9"}`)
		_, err = os.Stdout.Write(append(head('H', 0, 0, len(hello)), hello...))
	case "talks":
		fmt.Println("usage: another program [--help]")
	case "silent":
	case "answers unasked":
		var through bytes.Buffer
		if err = onnxruntime.Serve(strings.NewReader(""), &through, onnxtest.Runtime{}, "", nil); err == nil {
			_, err = os.Stdout.Write(append(through.Bytes(), head('D', 7, 7, 0)...))
		}
		time.Sleep(time.Minute)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// head is the head of a message.
func head(kind byte, session, call uint32, size int) []byte {
	b := binary.NativeEndian.AppendUint32([]byte{kind}, session)
	b = binary.NativeEndian.AppendUint32(b, call)
	return binary.NativeEndian.AppendUint64(b, uint64(size))
}

// start starts a helper that does so.
func start(t *testing.T, what string) (*onnxruntime.Helper, error) {
	t.Helper()
	t.Setenv(as, what)
	own, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return onnxruntime.Start(own)
}

// dying is a Runtime whose process ends with the first call.
type dying struct{ onnxtest.Runtime }

func (d dying) Open(n onnxruntime.Network) (onnxruntime.Session, error) {
	s, err := d.Runtime.Open(n)
	return dyingSession{s}, err
}

type dyingSession struct{ onnxruntime.Session }

func (s dyingSession) NewCall() (onnxruntime.Call, error) {
	c, err := s.Session.NewCall()
	return dyingCall{c}, err
}

type dyingCall struct{ onnxruntime.Call }

func (dyingCall) Run() error {
	fmt.Fprintln(os.Stderr, "out of luck")
	os.Exit(3)
	return nil
}

// network is one of floats, with rows for it.
func network(t *testing.T) (g *onnx.Graph, inputs [][]float64, rows int) {
	t.Helper()
	return opened(t, "golden/models/ssn_apart.onnx")
}

// opened is a network of floats below testdata, with rows for it.
func opened(t *testing.T, file string) (g *onnx.Graph, inputs [][]float64, rows int) {
	t.Helper()
	g, err := onnx.LoadFile(filepath.Join("..", "..", "..", "testdata", file), &onnx.LoadOptions{KeepFile: true})
	if err != nil {
		t.Fatal(err)
	}
	rows = 37 // no multiple of a call's
	rng := rand.New(rand.NewPCG(1, 2))
	for _, in := range g.Inputs() {
		x := make([]float64, rows*in.Width())
		for i := range x {
			x[i] = float64(float32(rng.NormFloat64()))
		}
		inputs = append(inputs, x)
	}
	return g, inputs, rows
}

// TestHelper: through a helper program the engine keeps the laws of onnx.Engine, at outputs and
// in between.
func TestHelper(t *testing.T) {
	h, err := start(t, "whole")
	if err != nil {
		t.Fatal(err)
	}
	if h.Version() != "0.0.0" || h.Library() != "ours.so" {
		t.Errorf("version %q of %q", h.Version(), h.Library())
	}
	g, inputs, rows := network(t)
	m, err := onnx.NewModel(g, onnx.Unbound(g), nil)
	if err != nil {
		t.Fatal(err)
	}
	tensors := []string{g.Inputs()[0].Name, g.Outputs()[0].Name}
	for name := range m.Taps() {
		tensors = append(tensors, m.Tap(name)[0].Tensor)
	}
	for k := range m.Predictors() {
		for _, e := range m.DeepFeatures(k).Elements {
			tensors = append(tensors, e.Tensor)
		}
	}
	if len(tensors) < 4 {
		t.Fatalf("only %q are asked for", tensors)
	}
	e := &onnxruntime.Engine{Runtime: h, Rows: 8}
	if err := onnxtest.Engine(e, g, tensors, inputs, rows, 2e-5); err != nil { // float32
		t.Error(err)
	}
}

// TestHelperExternal: files beside the network's go through the pipes with it.
func TestHelperExternal(t *testing.T) {
	h, err := start(t, "whole")
	if err != nil {
		t.Fatal(err)
	}
	g, inputs, rows := opened(t, "zoo/networks/torch_dynamo/external_nam.onnx")
	if len(g.External()) == 0 {
		t.Fatal("the network has no file beside it")
	}
	if err := onnxtest.Engine(&onnxruntime.Engine{Runtime: h}, g, []string{g.Outputs()[0].Name}, inputs, rows, 2e-5); err != nil { // float32
		t.Error(err)
	}
}

// counted counts the calls that are made.
type counted struct {
	onnxtest.Runtime
	calls *int
}

func (c counted) Open(n onnxruntime.Network) (onnxruntime.Session, error) {
	s, err := c.Runtime.Open(n)
	return countedSession{s, c.calls}, err
}

type countedSession struct {
	onnxruntime.Session
	calls *int
}

func (s countedSession) NewCall() (onnxruntime.Call, error) {
	*s.calls++
	return s.Session.NewCall()
}

// TestCallsStay: one caller after the other makes one call, however much garbage is collected: a helper keeps memory for each.
func TestCallsStay(t *testing.T) {
	g, inputs, rows := network(t)
	out, calls := g.Outputs()[0], 0
	p, err := (&onnxruntime.Engine{Runtime: counted{calls: &calls}}).Prepare(g, []string{out.Name})
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		if err := p.Run([][]float64{make([]float64, rows*out.Width())}, inputs, rows); err != nil {
			t.Fatal(err)
		}
		runtime.GC()
		runtime.GC() // what a sync.Pool holds is gone after two
	}
	if calls != 1 {
		t.Errorf("%d calls were made", calls)
	}
}

// TestHelperEnds: a helper ends when nobody has its Helper and sessions any more.
func TestHelperEnds(t *testing.T) {
	h, err := start(t, "whole")
	if err != nil {
		t.Fatal(err)
	}
	g, _, _ := network(t)
	if _, err := (&onnxruntime.Engine{Runtime: h}).Prepare(g, []string{g.Outputs()[0].Name}); err != nil {
		t.Fatal(err)
	}
	ended := onnxruntime.Ended(h)
	h = nil
	for range 100 {
		runtime.GC()
		select {
		case <-ended:
			return
		case <-time.After(50 * time.Millisecond):
		}
	}
	t.Error("the helper still runs")
}

// TestHelperRefused: a faulty helper is refused; the message says how to mend it.
func TestHelperRefused(t *testing.T) {
	for what, says := range map[string]string{
		"no library":    "no library far and wide",
		"other version": "install both from one release",
		"talks":         "is not pho's helper",
		"silent":        "is not pho's helper",
	} {
		_, err := start(t, what)
		var refused *onnxruntime.HelperError
		if !errors.As(err, &refused) || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: error %v, want one that says %q", what, err, says)
		}
	}
	t.Setenv("PHO_ORT", "")
	t.Setenv("PATH", t.TempDir())
	if _, err := onnxruntime.Start(""); err == nil || !strings.Contains(err.Error(), "PHO_ORT") {
		t.Errorf("error %v without a helper", err)
	}
	t.Setenv("PHO_ORT", filepath.Join(t.TempDir(), "nothing"))
	if _, err := onnxruntime.Start(""); err == nil || !strings.Contains(err.Error(), "cannot be started") {
		t.Errorf("error %v with a helper that is not there", err)
	}
}

// TestHelperKilled: a helper that ends while calls wait for it, or that answers a call nobody
// made, fails all these calls and all later ones, and its last words are in the error.
func TestHelperKilled(t *testing.T) {
	g, inputs, rows := network(t)
	for what, says := range map[string]string{"killed": "out of luck", "answers unasked": "answers what nobody asked"} {
		h, err := start(t, what)
		if err != nil {
			t.Fatal(err)
		}
		out := g.Outputs()[0]
		p, err := (&onnxruntime.Engine{Runtime: h, Rows: 8}).Prepare(g, []string{out.Name})
		if err == nil {
			var calls sync.WaitGroup
			for range 4 {
				calls.Go(func() {
					for range 2 {
						err := p.Run([][]float64{make([]float64, rows*out.Width())}, inputs, rows)
						if err == nil || !strings.Contains(err.Error(), says) {
							t.Errorf("%s: error %v, want one that says %q", what, err, says)
						}
					}
				})
			}
			calls.Wait()
		} else if !strings.Contains(err.Error(), says) {
			t.Errorf("%s: error %v, want one that says %q", what, err, says)
		}
	}
}

// TestHostileMessages: a helper takes no message that no program of its version sends, and no more
// memory than what came.
func TestHostileMessages(t *testing.T) {
	g, _, _ := network(t)
	in, out := g.Inputs()[0], g.Outputs()[0]
	door := func(inputs, outputs string, size int) []byte {
		return fmt.Appendf(nil, `{"file":%d,"inputs":[%s],"outputs":[%s]}`, size, inputs, outputs)
	}
	tensor := func(name, kind string, shape ...int) string {
		return fmt.Sprintf(`{"Name":%q,"Type":%q,"Shape":[%s]}`, name, kind, strings.Trim(strings.ReplaceAll(fmt.Sprint(shape), " ", ","), "[]"))
	}
	good := door(tensor(in.Name, "float", 2, in.Width()), tensor(out.Name, "float", 2, out.Width()), len(g.File()))
	opened := bytes.Join([][]byte{head('O', 1, 0, len(good)), good, g.File()}, nil)
	huge := door(tensor(in.Name, "float", 1<<30, 1<<30), "", len(g.File()))
	negative := door("", "", -1)
	for name, c := range map[string]struct {
		message []byte
		says    string
	}{
		"a half head":                  {head('O', 1, 0, 9)[:9], "unexpected EOF"},
		"another kind":                 {head('?', 1, 0, 0), "does not know"},
		"a huge door":                  {head('O', 1, 0, 1<<40), "more than"},
		"a door that is none":          {append(head('O', 1, 0, 2), "[]"...), "cannot unmarshal"},
		"a file that is cut":           {opened[:len(opened)-1], "unexpected EOF"},
		"a file of negative size":      {append(head('O', 1, 0, len(negative)), negative...), "fewer than 0"},
		"a file that is not there":     {append(head('O', 1, 0, 15), `{"file":1<<35} `...), "invalid"},
		"a promise of much":            {append(head('O', 1, 0, 20), `{"file":34359738368}`...), "unexpected EOF"},
		"a session twice":              {append(bytes.Clone(opened), opened...), "cannot be opened"},
		"a call of no session":         {head('R', 1, 1, 0), "not open"},
		"a close of no session":        {head('C', 1, 0, 0), "not open"},
		"a close that holds something": {append(bytes.Clone(opened), head('C', 1, 0, 5)...), "not open"},
		"too few numbers":              {append(bytes.Clone(opened), head('R', 1, 1, 3)...), "bytes, not"},
		"numbers that are cut":         {append(bytes.Clone(opened), head('R', 1, 1, 8*in.Width())...), "unexpected EOF"},
		"a huge tensor": {bytes.Join([][]byte{head('O', 1, 0, len(huge)), huge, g.File(), head('R', 1, 1, 1<<20)}, nil),
			"unexpected EOF"}, // no memory for the call: what it sends is passed over
	} {
		before := allocated()
		err := onnxruntime.Serve(bytes.NewReader(c.message), &bytes.Buffer{}, onnxtest.Runtime{}, "", nil)
		if err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: error %v, want one that says %q", name, err, c.says)
		}
		if took := allocated() - before; took > 256<<20 {
			t.Errorf("%s: took %d MB", name, took>>20)
		}
	}
}

func allocated() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.TotalAlloc
}

// FuzzServe: whatever comes through the pipe is an error or served, and never a panic.
func FuzzServe(f *testing.F) {
	f.Add(head('O', 1, 0, 2))
	f.Add(append(head('O', 1, 0, 10), `{"file":0}`...))
	f.Add(head('R', 1, 1, 1<<60))
	f.Fuzz(func(t *testing.T, b []byte) {
		_ = onnxruntime.Serve(bytes.NewReader(b), &bytes.Buffer{}, onnxtest.Runtime{}, "", nil)
	})
}
