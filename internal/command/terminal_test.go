package command

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"google.golang.org/protobuf/proto"

	"github.com/pho-go/pho/internal/base/onnxpb"
)

// hostile holds what acts on terminals: escape and C1 sequences, a bell, writing
// turned round, an invisible letter beyond 16 bits, an erased line.
const hostile = "a\x1b]0;x\x07\u009b2J\u202eb\r\x7f\U000e0041\xff"

func harmless(text string) bool {
	for _, r := range text {
		if r < ' ' && r != '\n' && r != '\t' || r >= 0x7f && r < 0xa0 || strings.ContainsRune("\u202e\U000e0041", r) {
			return false
		}
	}
	return utf8.ValidString(text)
}

// Output written in pieces of any size is the same, and JSON passes unchanged.
func TestPlainWriter(t *testing.T) {
	text := "é " + hostile + "\n日本\t" + hostile
	for size := 1; size < 9; size++ {
		var b bytes.Buffer
		w := &plainWriter{w: &b}
		for i := 0; i < len(text); i += size {
			if n, err := w.Write([]byte(text[i:min(i+size, len(text))])); err != nil || n != min(size, len(text)-i) {
				t.Fatal(n, err)
			}
		}
		want := "é " + `a\u001b]0;x\u0007\u009b2J\u202eb\u000d\u007f\udb40\udc41` + `\ufffd` + "\n日本\t" + `a\u001b]0;x\u0007\u009b2J\u202eb\u000d\u007f\udb40\udc41\ufffd`
		if got := b.String(); got != want {
			t.Errorf("pieces of %d:\n%q\nwant\n%q", size, got, want)
		}
	}
	name := strings.TrimSuffix(hostile, "\xff")
	line, err := json.Marshal(map[string]string{"name": name})
	if err != nil {
		t.Fatal(err)
	}
	var back map[string]string
	if err := json.Unmarshal([]byte(plain(string(line))), &back); err != nil || back["name"] != name || !harmless(plain(string(line))) {
		t.Errorf("%q: %v", back["name"], err)
	}
}

func TestBoundedMessages(t *testing.T) {
	name := strings.Repeat("x", 1000) + strings.Repeat("é", 1<<20) + "end"
	got := message(errors.New(`no column "` + name + `" here`))
	if n := utf8.RuneCountInString(got); n > 300 || !strings.HasPrefix(got, `no column "xxx`) || !strings.HasSuffix(got, `ééend" here`) {
		t.Errorf("%d characters: %s", n, got)
	}
	got = message(errors.New(strings.Repeat("word ", 1<<18) + "the end"))
	if n := utf8.RuneCountInString(got); n > messageLength || !strings.HasSuffix(got, "the end") || !strings.Contains(got, "characters left out") {
		t.Errorf("%d characters: %s", n, got)
	}
	const short = "two\nlines  with blanks\tand é "
	if got := bounded(short); got != short {
		t.Errorf("%q", got)
	}
}

// No name from a file reaches a terminal as it is, and none fills it, wherever it
// stands in the file and whatever the command says of it.
func TestNamesThatActOnTerminals(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("SKIPPED: it takes long, and starts nothing that the race detector, which runs -short, could see")
	}
	temp := t.TempDir()
	place := func(name string) string { return filepath.Join(temp, name) }
	for kind, name := range map[string]string{"escapes": strings.TrimSuffix(hostile, "\xff"), "length": strings.Repeat("né", 1<<16)} {
		header := strings.NewReplacer("\x1b", "", "\x07", "", "\r", "", "\x7f", "").Replace(name) // others no CSV has
		if kind == "length" {
			header = header[:5000]
		}
		write(t, place("rows.csv"), header+",x0,g\n1,2,a\n2,3,b\n3,5,a\n4,7,b\n5,2,a\n")
		networks := map[string]func(*onnxpb.Builder){
			"operator": func(b *onnxpb.Builder) { b.AddNode(name, []string{"x"}, "y") },
			"domain":   func(b *onnxpb.Builder) { b.Import(name, 1); b.AddNodes(name, "Relu", []string{"x"}, []string{"y"}) },
			"tensor":   func(b *onnxpb.Builder) { b.AddNode("Exp", []string{"x"}, name); b.AddNode("Relu", []string{name}, "y") },
			"missing": func(b *onnxpb.Builder) {
				b.AddNode("Add", []string{"x", "x"}, "y")
				b.Model().Graph.Node[0].Input[1] = name
			},
			"node": func(b *onnxpb.Builder) { b.AddNode("Relu", []string{"x"}, "y"); b.Model().Graph.Node[0].Name = name },
			"attribute": func(b *onnxpb.Builder) {
				b.AddNode("Relu", []string{"x"}, "y", onnxpb.Int(name, 1))
			},
		}
		for what, nodes := range networks {
			b := onnxpb.NewBuilder(13)
			b.AddInput("x", onnxpb.TensorProto_FLOAT, onnxpb.Rows, 2)
			nodes(b)
			b.Output("y", onnxpb.TensorProto_FLOAT)
			b.Model().Graph.Output[0].Type = nil
			raw, err := proto.Marshal(b.Model()) // which does not ask what the names are
			if err != nil {
				t.Fatalf("%s: %v", what, err)
			}
			write(t, place("net.onnx"), string(raw))
			out := filepath.Join(temp, what+kind)
			for _, args := range [][]string{
				{"inspect", place("net.onnx")},
				{"inspect", place("net.onnx"), "--json"},
				{"decompose", "--model", place("net.onnx"), "--data", place("rows.csv"), "--out", out},
				{"decompose", "--model", place("net.onnx"), "--data", place("rows.csv"), "--input", "x=x0," + header, "--formula", "~ x0", "--out", out},
				{"decompose", "--model", place("net.onnx"), "--data", place("rows.csv"), "--input", "x=x0,g", "--out", out, "--log", "json"},
				{"apply", "--decomposition", out, "--data", place("rows.csv"), "--out", place("applied.csv")},
				{"report", out},
				{"verify", out},
				{"train", "--data", place("rows.csv"), "--formula", "x0 ~ g + s(nothing)", "--out", out + "t"},
				{"train", "--data", place("rows.csv"), "--formula", "x0 ~ 1", "--deep", header, "--weights", "g", "--out", out + "t"},
				{"decompose", "--model", name, "--data", name, "--out", name},
				{name},
			} {
				o := call(t, args...)
				if !harmless(o.err) || !harmless(o.out) {
					t.Errorf("%s, %s: pho %.100q prints\n%.1000q", kind, what, args, o.err+o.out)
				}
				if n := len(o.err) + len(o.out); n > 20000 && args[len(args)-1] != "--json" {
					t.Errorf("%s, %s: pho %.100q prints %d bytes: %.300s", kind, what, args, n, o.err+o.out)
				}
			}
		}
	}
}

// The flag that helps is named.
func TestDelimiterHint(t *testing.T) {
	temp := t.TempDir()
	for mark, want := range map[string]string{";": `: try --delimiter ";"`, "\t": `: try --delimiter tab`} {
		data := filepath.Join(temp, "rows.csv")
		write(t, data, strings.ReplaceAll(rows(40), ",", mark))
		args := []string{"decompose", "--model", golden("ssn_op13"), "--data", data, "--input", "x=x0..x4", "--out", filepath.Join(temp, "result")}
		if o := call(t, args...); o.status != exitFailed || !strings.Contains(o.err, "the cells seem to be separated by") || !strings.HasSuffix(strings.TrimSpace(o.err), want) {
			t.Errorf("%q: status %d, %s", mark, o.status, o.err)
		}
		_, flag, _ := strings.Cut(want, "--delimiter ")
		done(t, append(args, "--delimiter", strings.Trim(flag, `"`))...)
	}
}

// A command whose answer a full device does not take has failed, whoever writes it.
func TestFullDevice(t *testing.T) {
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Skip("no device that is always full")
	}
	defer full.Close()
	result := filepath.Join(t.TempDir(), "result")
	rows := filepath.Join(t.TempDir(), "rows.csv")
	goldenRows(t, "nam_deep_op13", rows)
	done(t, "decompose", "--model", golden("nam_deep_op13"), "--data", rows, "--input", "x=x0..x3", "--out", result)
	state, other := filepath.Join(t.TempDir(), "state.json"), filepath.Join(t.TempDir(), "other")
	done(t, "decompose", "--model", golden("nam_deep_op13"), "--data", rows, "--input", "x=x0..x3", "--out", other)
	for _, args := range [][]string{
		{"--help"}, {"help", "explain"}, {"--version"}, {"completion", "bash"}, {"inspect", golden("nam_deep_op13")},
		{"summary", result}, {"explain", result, "--row", "1"}, {"verify", result}, {"compare", result, other},
		{"apply", "--decomposition", result, "--data", rows, "--out", "-"}, {"apply", "--decomposition", result, "--data", rows, "--out", "/dev/full"},
		{"monitor", result, "--data", rows, "--period", "now", "--state", state},
	} {
		var said strings.Builder
		if status := run(t.Context(), args, streams{out: full, err: &said}); status != exitFailed || !strings.Contains(said.String(), "no space left on device") {
			t.Errorf("%q: status %d\n%s", args, status, &said)
		}
	}
	if status := run(t.Context(), []string{"decompose", "--model", golden("nam_deep_op13"), "--data", rows, "--input", "x=x0..x3", "--out", result}, streams{out: io.Discard, err: full}); status != exitFailed {
		t.Errorf("what decompose says is lost: status %d", status)
	}
}

// Lines are broken at spaces, and no-break spaces are none.
func TestNoBreakSpaces(t *testing.T) {
	var out strings.Builder
	writeWrapped(&out, 13, "  ", 4, "large where x\u00a02 from 1.5\u202fkg on")
	if want := "  large where\n    x\u00a02 from\n    1.5\u202fkg on\n"; out.String() != want {
		t.Errorf("%q, want %q", out.String(), want)
	}
}
