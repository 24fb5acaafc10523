package data

import (
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestCSVReads(t *testing.T) {
	const text = "x,city,dow\n1,Bern,3\n2.5, Rome ,1.0\n-3e2,\"Bern\",1\n"
	const want = `[0 1 2]
dow [3 1 1]
x [1 2.5 -300]
city ["Bern" " Rome " "Bern"] [0 1 0]
dow ["3" "1" "1"] [0 1 1]
`
	wantSchema := Schema{{Name: "x", Numeric: true}, {Name: "city", Categorical: true}, {Name: "dow", Numeric: true, Categorical: true}}
	crlf := strings.ReplaceAll(text, "\n", "\r\n")
	for name, file := range map[string]string{
		"plain": text, "crlf": crlf, "mark": "\xef\xbb\xbf" + text, "no last line end": strings.TrimSuffix(text, "\n"),
		"gzip": zip(t, text), "gzip mark": zip(t, "\xef\xbb\xbf"+crlf), "gzip members": zip(t, text[:20]) + zip(t, text[20:]),
		"blank lines": "\n" + strings.ReplaceAll(text, "\n", "\n\r\n"), "quoted header": strings.Replace(text, "city", "\"city\"", 1),
	} {
		t.Run(name, func(t *testing.T) {
			write(t, map[string]string{"a": file})
			c := mustOpen(t, &CSVOptions{Factors: []string{"dow"}}, "a")
			schema := c.Schema()
			if !strings.HasPrefix(schema[1].Text, `"a", line `) || !strings.HasSuffix(schema[1].Text, `: cell "Bern"`) {
				t.Errorf("the first cell of text is at %q", schema[1].Text)
			}
			schema[1].Text = ""
			if d := cmp.Diff(wantSchema, schema); d != "" {
				t.Error(d)
			}
			if got := all(c).String(); got != want {
				t.Errorf("got\n%s\nwant\n%s", got, want)
			}
		})
	}
}

func TestCSVKinds(t *testing.T) {
	for name, c := range map[string]struct {
		text string
		o    CSVOptions
		want string
	}{
		"delimiter": {"x;g\n1;a,b\n", CSVOptions{Delimiter: ';'}, "[0]\nx [1]\ng [\"a,b\"] [0]\n"},
		"tab":       {"x\tg\n1\t b \n", CSVOptions{Delimiter: '\t'}, "[0]\nx [1]\ng [\" b \"] [0]\n"},
		"missing cells do not make text": {"x\nNA\n1\n\"\"\nnan\n\nNULL\n2\n", CSVOptions{NA: NADrop},
			"[1 6]\nx [1 2]\n"},
		"missing numbers are kept": {"x,y\nNA,1\n2,\n", CSVOptions{NA: NAKeep}, "[0 1]\nx [NaN 2]\ny [1 NaN]\n"},
		"missing categories are a level": {"g,k,x\na,1,1\n,NA,2\nNULL,1,3\n(missing),,4\nb,2,5\n", CSVOptions{NA: NAKeep, Factors: []string{"k"}},
			"[0 1 2 3 4]\nk [1 NaN 1 NaN 2]\nx [1 2 3 4 5]\ng [\"a\" \"(missing)\" \"(missing)\" \"(missing)\" \"b\"] [0 1 1 1 2]\nk [\"1\" \"(missing)\" \"1\" \"(missing)\" \"2\"] [0 1 0 1 2]\n"},
		"only missing is numeric":   {"x,y\n,1\nNA,2\n", CSVOptions{NA: NADrop}, "[]\n"},
		"blank lines at the end":    {"x\n1\n\n\n", CSVOptions{}, "[0]\nx [1]\n"},
		"hexadecimal is text":       {"x\n0x10\n0X1p-2\n-0x1p3\n", CSVOptions{}, "[0 1 2]\nx [\"0x10\" \"0X1p-2\" \"-0x1p3\"] [0 1 2]\n"},
		"underscores are text":      {"x\n1_000\n", CSVOptions{}, "[0]\nx [\"1_000\"] [0]\n"},
		"Inf in text is text":       {"x\nInf\na\n", CSVOptions{}, "[0 1]\nx [\"Inf\" \"a\"] [0 1]\n"},
		"factor: one level a value": {"x\n1\n1.0\n1e0\n0\n-0\n", CSVOptions{Factors: []string{"x"}}, "[0 1 2 3 4]\nx [1 1 1 0 -0]\nx [\"1\" \"1\" \"1\" \"0\" \"0\"] [0 0 0 1 1]\n"},
		"factor: text stays text":   {"x\n1\n1.0\nb\n", CSVOptions{Factors: []string{"x"}}, "[0 1 2]\nx [\"1\" \"1.0\" \"b\"] [0 1 2]\n"},
		"levels of dropped rows do not count": {"x,g\nNA,a\n1,b\n2,a\n3,\n", CSVOptions{NA: NADrop},
			"[1 2]\nx [1 2]\ng [\"b\" \"a\"] [0 1]\n"},
		"lines in a cell are not blank lines": {"x\n\"a\nb\"\nc\n", CSVOptions{}, "[0 1]\nx [\"a\\nb\" \"c\"] [0 1]\n"},
		"no rows":                             {"x,y\n", CSVOptions{}, "[]\n"},
	} {
		t.Run(name, func(t *testing.T) {
			write(t, map[string]string{"a": c.text})
			if got := all(mustOpen(t, &c.o, "a")).String(); got != c.want {
				t.Errorf("got\n%s\nwant\n%s", got, c.want)
			}
		})
	}
}

func TestCSVLateTextInFactor(t *testing.T) {
	write(t, map[string]string{"a": "x\n" + strings.Repeat("1\n", kindRows) + "weekend\n2\n"})
	source := mustOpen(t, &CSVOptions{Factors: []string{"x"}, BatchRows: kindRows}, "a")
	var last *Batch
	for b, err := range source.Batches(t.Context(), []string{"x"}) {
		check(t, err)
		last = b
	}
	v, _ := last.Numeric("x")
	c, _ := last.Codes("x")
	if got, want := fmt.Sprint(v, c.Index, c.Levels), "[NaN 2] [1 2] [1 weekend 2]"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestCSVSeveralFiles(t *testing.T) {
	write(t, map[string]string{"a": "x,g\n1,u\nNA,v\n", "b": zip(t, "x,g\n"), "c": "\xef\xbb\xbfx,g\r\n3,v\r\n4,u"})
	c := mustOpen(t, &CSVOptions{NA: NADrop, BatchRows: 2}, "a", "b", "c")
	if total, dropped := c.Rows(); total != 0 || dropped != 0 {
		t.Errorf("before the first pass: %d, %d", total, dropped)
	}
	got := all(c)
	if want := "[0 2 3]\nx [1 3 4]\ng [\"u\" \"v\" \"u\"] [0 1 0]\n"; got.String() != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if d := cmp.Diff([]int{2, 1}, got.Sizes); d != "" {
		t.Error(d) // batches do not end with files
	}
	if total, dropped := c.Rows(); total != 4 || dropped != 1 {
		t.Errorf("%d rows, %d dropped; want 4 and 1", total, dropped)
	}
	for range c.Batches(t.Context(), []string{"g"}) {
		break // not a complete pass
	}
	if total, dropped := c.Rows(); total != 4 || dropped != 1 {
		t.Errorf("after half a pass: %d, %d", total, dropped)
	}
	if got := flatten(c.Batches(t.Context(), []string{"g", "g"})).String(); got != "[0 1 2 3]\ng [\"u\" \"v\" \"v\" \"u\"] [0 1 1 0]\n" {
		t.Errorf("g alone misses nothing: %s", got)
	}
	if got := flatten(c.Batches(t.Context(), nil)); len(got.Rows) != 4 || len(got.Numbers)+len(got.Codes) > 0 {
		t.Errorf("no columns: %s", got)
	}
}

// TestCSVReadsWhatWasWritten: any table that encoding/csv writes reads back,
// whatever the cut into files, batches and compression.
func TestCSVReadsWhatWasWritten(t *testing.T) {
	dir := t.TempDir()
	level := rapid.OneOf(rapid.StringMatching(`[a-z,";é\n\r\t \\]{0,4}`), rapid.SampledFrom([]string{"a", `"`, "b\nc", "b\r\nc", "\r\n", "x,y", " "}))
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 60).Draw(t, "rows")
		table := NewTable(n)
		x := rapid.SliceOfN(rapid.Float64(), n, n).Draw(t, "x")
		g := rapid.SliceOfN(level, n, n).Draw(t, "g")
		for i := range g {
			g[i] = "t" + g[i]
		}
		d := rapid.SliceOfN(rapid.SampledFrom([]float64{0, 1, 2.5, -7e20}), n, n).Draw(t, "d")
		for _, err := range []error{table.AddNumeric("x", x), table.AddTexts("a \"name\"", g), table.AddFactor("d", d)} {
			if err != nil {
				t.Fatal(err)
			}
		}
		var paths []string
		for i := 0; i < n; {
			j := min(n, i+rapid.IntRange(1, n).Draw(t, "rows of file"))
			var s strings.Builder
			w := csv.NewWriter(&s)
			w.Write(table.Schema().Names())
			for k := i; k < j; k++ {
				w.Write([]string{strconv.FormatFloat(x[k], 'g', -1, 64), g[k], fmt.Sprint(d[k])})
			}
			w.Flush()
			path := filepath.Join(dir, fmt.Sprint(len(paths)))
			if err := os.WriteFile(path, []byte(s.String()), 0o600); err != nil {
				t.Fatal(err)
			}
			paths, i = append(paths, path), j
		}
		want := all(table).uncut()
		for range 2 {
			c, err := OpenCSV(paths, &CSVOptions{Factors: []string{"d"}, BatchRows: rapid.IntRange(0, n+1).Draw(t, "batch")})
			if err != nil {
				t.Fatal(err)
			}
			for range 2 {
				if diff := cmp.Diff(want, all(c).uncut()); diff != "" {
					t.Fatal(diff)
				}
			}
			c.Close()
		}
	})
}

func TestCSVNoticesChangedFile(t *testing.T) {
	write(t, map[string]string{"a": "x\n1\n2\n"})
	c := mustOpen(t, &CSVOptions{BatchRows: 1}, "a")
	check(t, os.WriteFile("a", []byte("x\n1\n2\n3\n"), 0o600))
	if got, want := all(c).Err, `data: "a" changed while it was in use (6 bytes then, 8 now): start again when it is complete`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	c = mustOpen(t, &CSVOptions{BatchRows: 1}, "a")
	check(t, os.Chtimes("a", time.Time{}, time.Now().Add(time.Hour)))
	if got := all(c).Err; !strings.Contains(got, "changed while") {
		t.Errorf("another time of change: %q", got)
	}
	c = mustOpen(t, &CSVOptions{BatchRows: 1}, "a")
	var got error
	for _, err := range c.Batches(t.Context(), nil) {
		if got = err; err == nil {
			check(t, os.Chtimes("a", time.Time{}, time.Now().Add(2*time.Hour)))
		}
	}
	if got == nil {
		t.Error("a change during the pass went unnoticed")
	}
	c = mustOpen(t, nil, "a")
	check(t, os.Remove("a"))
	if got, want := all(c).Err, `data: cannot read "a": no such file or directory`; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestCSVStdinAndPipes(t *testing.T) {
	write(t, map[string]string{"b": "x\n3\n"})
	temp := t.TempDir()
	t.Setenv("TMPDIR", temp)
	r, w, err := os.Pipe()
	check(t, err)
	defer r.Close()
	go func() {
		io.WriteString(w, zip(t, "x\n4\n"))
		w.Close()
	}()
	paths := []string{"-", "b"}
	want := "[0 1 2]\nx [1 2 3]\n"
	if runtime.GOOS == "linux" {
		paths = append(paths, fmt.Sprintf("/dev/fd/%d", r.Fd()))
		want = "[0 1 2 3]\nx [1 2 3 4]\n"
	}
	c := mustOpen(t, &CSVOptions{Stdin: strings.NewReader("x\n1\n2\n")}, paths...)
	for range 2 {
		if got := all(c).String(); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
	if info, err := c.inputs[0].spool.Stat(); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the copy has mode %v, %v", info.Mode(), err)
	}
	if left, _ := os.ReadDir(temp); len(left) > 0 && runtime.GOOS == "linux" {
		t.Errorf("visible while open: %v", left)
	}
	check(t, c.Close())
	check(t, c.Close())
	if left, _ := os.ReadDir(temp); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
	if got := all(c).Err; got != "data: the CSV source is closed" {
		t.Errorf("after Close: %q", got)
	}
	if _, err := OpenCSV([]string{"-"}, &CSVOptions{Stdin: io.MultiReader(strings.NewReader("x\n"), broken{})}); err == nil || !strings.Contains(err.Error(), `copying "-" to a temporary file: the cable is out`) {
		t.Errorf("a stream that breaks: %v", err)
	}
}

// TestSpoolThatCannotBeUnlinked: where an open file keeps its name, close
// removes it.
func TestSpoolThatCannotBeUnlinked(t *testing.T) {
	path := filepath.Join(t.TempDir(), "copy")
	f, err := os.Create(path)
	check(t, err)
	in := &input{name: "-", spool: f, left: path}
	check(t, in.close())
	if exists(path) {
		t.Error("left behind")
	}
}

type broken struct{}

func (broken) Read([]byte) (int, error) { return 0, errors.New("the cable is out") }

func TestCSVStopsWhenCancelled(t *testing.T) {
	write(t, map[string]string{"a": "x\n" + strings.Repeat("1\n", 1000), "b": "x\n" + strings.Repeat("NA\n", 200_000)})
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	batches := 0
	for _, err := range mustOpen(t, &CSVOptions{BatchRows: 10}, "a").Batches(ctx, nil) {
		if batches++; err != nil && !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
		cancel()
	}
	if batches != 2 {
		t.Errorf("%d batches after the cancellation", batches)
	}
	// Rows that are all dropped make no batch; reading stops nevertheless.
	if got := flatten(mustOpen(t, &CSVOptions{NA: NADrop}, "b").Batches(ctx, []string{"x"})).Err; got != "context canceled" {
		t.Errorf("got %q", got)
	}
}

// TestCSVConcurrentPasses: codes mean the same in all passes, and passes share
// no buffers.
func TestCSVConcurrentPasses(t *testing.T) {
	var s strings.Builder
	s.WriteString("x,g,h\n")
	for i := range 5000 {
		fmt.Fprintf(&s, "%d,l%d,%d\n", i, i*i%701, i%13)
	}
	write(t, map[string]string{"a": s.String()})
	c := mustOpen(t, &CSVOptions{BatchRows: 100, Factors: []string{"h"}}, "a")
	var got [4]plain
	var wait sync.WaitGroup
	for i := range got {
		wait.Go(func() { got[i] = all(c) })
	}
	wait.Wait()
	if got[0].Err != "" || len(got[0].Rows) != 5000 {
		t.Fatal(got[0].Err, len(got[0].Rows))
	}
	for i := range got {
		if d := cmp.Diff(got[0], got[i]); d != "" {
			t.Error(d)
		}
	}
}
