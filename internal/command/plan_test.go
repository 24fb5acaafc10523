package command

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/pho-go/pho/internal/app/plan"
	"github.com/pho-go/pho/internal/app/resultdir"
)

// shards runs a decomposition as a plan of so many shards in temp: shards in a random order, merged in a
// random grouping.
type shards struct {
	temp   string
	n      int
	random *rand.Rand
	args   []string // accumulate's further ones
}

func (h shards) place(name ...string) string {
	return filepath.Join(append([]string{h.temp}, name...)...)
}

// next is the pass that comes next, "" none.
func (h shards) next(t *testing.T) string {
	t.Helper()
	var doc struct{ Next *plan.Stage }
	if err := json.Unmarshal([]byte(done(t, "plan", "--plan", h.place("plan"), "--json").out), &doc); err != nil {
		t.Fatal(err)
	}
	if doc.Next == nil {
		return ""
	}
	return doc.Next.Pass
}

// part makes the pass over a shard.
func (h shards) part(t *testing.T, pass string, shard int) string {
	t.Helper()
	path := h.place(fmt.Sprintf("%s-%d-%d.pho", pass, shard, h.random.Uint32()))
	done(t, append([]string{"accumulate", "--plan", h.place("plan"), "--pass", pass, "--shard", fmt.Sprint(shard), "--out", path}, h.args...)...)
	return path
}

// total merges the parts of all shards.
func (h shards) total(t *testing.T, pass string) string {
	t.Helper()
	var parts []string
	for _, i := range h.random.Perm(h.n) {
		parts = append(parts, h.part(t, pass, i))
	}
	for len(parts) > 1 {
		k := 2 + h.random.IntN(len(parts)-1)
		merged := h.place(fmt.Sprintf("merged-%d.pho", h.random.Uint32()))
		done(t, append([]string{"merge", "--out", merged}, parts[:k]...)...)
		parts = append(parts[k:], merged)
	}
	return parts[0]
}

// run makes all passes and returns their names.
func (h shards) run(t *testing.T) (passes []string) {
	t.Helper()
	for pass := h.next(t); pass != ""; pass = h.next(t) {
		passes = append(passes, pass)
		total := h.total(t, pass)
		switch pass {
		case plan.Scan:
			done(t, "plan", "--plan", h.place("plan"), "--scan", total)
		case plan.Fit:
			done(t, "solve", "--plan", h.place("plan"), "--statistics", total, "--out", h.place("result"))
		default:
			done(t, "solve", "--plan", h.place("plan"), "--"+pass, total, "--out", h.place("result"))
		}
		if len(passes) > 20 {
			t.Fatalf("passes without end: %q", passes)
		}
	}
	return passes
}

// contributions are those of all shards, one behind the other.
func (h shards) contributions(t *testing.T) string {
	t.Helper()
	var all strings.Builder
	for i := range h.n {
		out := h.place(fmt.Sprintf("contributions-%d.csv", i))
		done(t, "apply", "--decomposition", h.place("result"), "--plan", h.place("plan"), "--shard", fmt.Sprint(i), "--out", out)
		all.WriteString(read(t, out))
	}
	return all.String()
}

// equalResults compares all files of a result but run.json and contributions.
func equalResults(t *testing.T, got, want string) {
	t.Helper()
	for _, name := range []string{resultdir.Decomposition, resultdir.Moments, resultdir.Effects, resultdir.Report} {
		if read(t, got, name) != read(t, want, name) {
			t.Errorf("%s is not that of one decompose", name)
		}
	}
}

// Any passes of shards, in any order and grouping, come to the bytes of one decompose.
func TestShards(t *testing.T) {
	temp := t.TempDir()
	data := filepath.Join(temp, "rows.csv")
	text := rows(13_000) // four chunks
	write(t, data, text)
	holes := filepath.Join(temp, "holes.csv")
	lines := strings.Split(text, "\n")
	for i := 1; i+1 < len(lines); i += 7 {
		cells := strings.Split(lines[i], ",")
		cells[[]int{0, 3, 6}[i%3]] = ""
		lines[i] = strings.Join(cells, ",")
	}
	for i := 4096 + 1; i <= 3*4096; i++ { // whole chunks without a row
		lines[i] = "," + strings.SplitN(lines[i], ",", 2)[1]
	}
	write(t, holes, strings.Join(lines, "\n"))
	ssn := []string{"--model", golden("ssn_op13"), "--input", "x=x0..x4"}
	cases := map[string]struct {
		n      int
		data   string
		args   []string
		passes string
	}{
		"lines":   {3, data, append(ssn[:4:4], "--response", "y"), "scan fit explain"},
		"smooths": {4, data, append(ssn[:4:4], "--formula", `y ~ s(x3) + s(x4, bs="ps") + factor(g)`, "--weights", "w", "--cluster", "dow", "--interactions", "none"), "scan fit explain"},
		"dropped": {5, holes, append(ssn[:4:4], "--formula", "y ~ s(x3)", "--na", "drop", "--interactions", "none", "--title", "Of shards"), "scan fit explain"},
		"empty":   {9, data, append(ssn[:4:4], "--interactions", "none", "--contributions", "none", "--bands", "projection"), "fit explain"},
		"pairs":   {2, data, append(ssn[:4:4], "--interactions", "1"), "scan fit pairs scan scan fit explain"},
		"more":    {3, data, []string{"--model", golden("blackbox"), "--input", "x=x0..x3"}, "scan scan fit explain scan scan fit explain"}, // pairs that nobody asked for
		"factor":  {3, data, append(ssn[:4:4], "--route", "qr", "--orders", "--interactions", "none"), "fit explain"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			if testing.Short() && name != "empty" && name != "dropped" {
				t.Skip("further passes")
			}
			t.Parallel()
			seed := uint64(time.Now().UnixNano())
			h := shards{temp: t.TempDir(), n: c.n, random: rand.New(rand.NewPCG(seed, 0))}
			t.Logf("seed %d", seed)
			whole := h.place("whole")
			args := append([]string{"--data", c.data}, c.args...)
			done(t, append([]string{"decompose", "--out", whole}, args...)...)
			done(t, append([]string{"plan", "--out", h.place("plan"), "--shards", fmt.Sprint(c.n)}, args...)...)
			if passes := strings.Join(h.run(t), " "); !strings.HasPrefix(passes, c.passes) {
				t.Errorf("passes %s, want %s", passes, c.passes)
			}
			equalResults(t, h.place("result"), whole)
			if name != "empty" && h.contributions(t) != read(t, whole, resultdir.Contributions) {
				t.Error("the contributions of shards are not those of one decompose")
			}
		})
	}
}

// What does not belong to a plan is refused, and changes nothing.
func TestBadShards(t *testing.T) {
	h := shards{temp: t.TempDir(), n: 3, random: rand.New(rand.NewPCG(1, 1))}
	data, other := h.place("rows.csv"), h.place("other.csv")
	text := rows(13_000)
	write(t, data, text)
	write(t, other, strings.Replace(text, "1", "2", 1))
	args := []string{"--model", golden("ssn_op13"), "--data", data, "--input", "x=x0..x4", "--interactions", "none", "--shards", "3"}
	done(t, append([]string{"plan", "--out", h.place("plan")}, args...)...)
	done(t, append([]string{"plan", "--out", h.place("second"), "--bands", "projection"}, args...)...)
	part := make([]string, 3)
	for i := range part {
		part[i] = h.part(t, "fit", i)
	}
	foreign := h.place("foreign.pho")
	done(t, "accumulate", "--plan", h.place("second"), "--pass", "fit", "--shard", "1", "--out", foreign)
	two := h.place("two.pho")
	if o := done(t, "merge", part[2], part[0], "--out", two); !strings.Contains(o.out, "missing: 1") {
		t.Errorf("a gap: %q", o.out)
	}
	cut := h.place("cut.pho")
	write(t, cut, read(t, part[1])[:400])
	list := h.place("list.txt")
	write(t, list, strings.Join(part, "\n")+"\n")
	before := contents(t, h.temp)
	at := []string{"--plan", h.place("plan"), "--out", h.place("new")}
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"merge", part[0], part[0], "--out", h.place("new")}, "shard 0 is in"},
		{[]string{"merge", two, part[2], "--out", h.place("new")}, "shard 2 is in"},
		{[]string{"merge", part[0], foreign, "--out", h.place("new")}, "different plans"},
		{[]string{"merge", part[0], cut, "--out", h.place("new")}, "truncated or damaged"},
		{[]string{"merge", part[0], data, "--out", h.place("new")}, "it is no part"},
		{[]string{"merge", part[0], part[1], "--out", part[1]}, "a part"},
		{[]string{"merge", "@" + h.place("none"), "--out", h.place("new")}, "list of parts"},
		{append([]string{"solve", "--statistics", two}, at...), "shards are missing: 1 of 3"},
		{append([]string{"solve", "--statistics", foreign}, at...), "another plan"},
		{append([]string{"solve", "--explain", part[0]}, at...), "pass fit"},
		{append([]string{"accumulate", "--pass", "explain", "--shard", "0"}, at...), "next pass is fit"},
		{append([]string{"accumulate", "--pass", "fit", "--shard", "3"}, at...), "there is no shard 3"},
		{append([]string{"accumulate", "--pass", "fit", "--shard", "1", "--model", golden("ssn_op11")}, at...), "not the network"},
		{append([]string{"accumulate", "--pass", "fit", "--shard", "0", "--data", other}, at...), "is not what it was"},
		{append([]string{"plan", "--out", h.place("plan"), "--orders"}, args...), "another plan"},
		{append([]string{"plan", "--out", h.place("new"), "--data", "-"}, args...), "read again"},
	} {
		o := call(t, c.args...)
		if o.status == exitDone || !strings.Contains(o.err, c.want) {
			t.Errorf("pho %q: status %d, want %q\n%s", c.args, o.status, c.want, o.err)
		}
	}
	if after := contents(t, h.temp); fmt.Sprint(after) != fmt.Sprint(before) {
		t.Error("refused calls changed files")
	}
	total := h.place("total.pho")
	done(t, "merge", "@"+list, "--out", total)
	solve := []string{"solve", "--plan", h.place("plan"), "--statistics", total, "--out", h.place("result")}
	done(t, solve...)
	first := resultOf(t, h.place("result"))
	doc := read(t, h.place("plan"), plan.File)
	done(t, solve...)
	if fmt.Sprint(resultOf(t, h.place("result"))) != fmt.Sprint(first) || read(t, h.place("plan"), plan.File) != doc {
		t.Error("solving twice is not solving once")
	}
	done(t, "accumulate", "--plan", h.place("plan"), "--pass", "fit", "--shard", "1", "--out", h.place("again.pho")) // a straggler
	if read(t, h.place("again.pho")) != read(t, part[1]) {
		t.Error("a part that is made again is another")
	}
}

// Rows that the caller brings, in files or on standard input, come to the bytes of one decompose if shards begin
// where its chunks do; others than were planned are refused.
func TestBroughtRows(t *testing.T) {
	h := shards{temp: t.TempDir(), n: 3, random: rand.New(rand.NewPCG(1, 1))}
	lines := strings.SplitAfter(rows(9000), "\n")
	header, body := lines[0], lines[1:9001]
	write(t, h.place("all.csv"), strings.Join(lines, ""))
	write(t, h.place("columns.csv"), header+strings.Join(body[:100], ""))
	write(t, h.place("0.csv"), header+strings.Join(body[:4096], ""))
	write(t, h.place("2.csv"), header+strings.Join(body[4096:], ""))
	write(t, h.place("turned.csv"), header+strings.Join(append(body[4097:], body[4096]), ""))
	args := []string{"--model", golden("ssn_op13"), "--input", "x=x0..x4", "--interactions", "none"}
	done(t, append([]string{"decompose", "--data", h.place("all.csv"), "--out", h.place("whole")}, args...)...)
	done(t, append([]string{"plan", "--data", h.place("columns.csv"), "--counts", "4096,0,4904", "--out", h.place("plan")}, args...)...)
	bring := func(pass, shard, file string) outcome {
		args := []string{"accumulate", "--plan", h.place("plan"), "--pass", pass, "--shard", shard, "--out", h.place(pass + shard)}
		if file == "" {
			return call(t, args...)
		}
		return callWith(t, t.Context(), strings.NewReader(read(t, h.place(file))), append(args, "--data", "-")...)
	}
	for file, want := range map[string]string{"columns.csv": "100 rows were brought", "": "brings its rows"} {
		if o := bring("fit", "2", file); o.status == exitDone || !strings.Contains(o.err, want) {
			t.Errorf("%q: %s", file, o.err)
		}
	}
	total := func(pass, last string) outcome {
		for shard, file := range map[string]string{"0": "0.csv", "1": "", "2": last} {
			if o := bring(pass, shard, file); o.status != exitDone {
				t.Fatalf("%s of shard %s: %s", pass, shard, o.err)
			}
		}
		done(t, "merge", h.place(pass+"2"), h.place(pass+"0"), h.place(pass+"1"), "--out", h.place(pass))
		flag := "--" + pass
		if pass == plan.Fit {
			flag = "--statistics"
		}
		return call(t, "solve", "--plan", h.place("plan"), flag, h.place(pass), "--out", h.place("result"))
	}
	if o := total("fit", "2.csv"); o.status != exitDone {
		t.Fatal(o.err)
	}
	if o := total("explain", "turned.csv"); o.status != exitFailed || !strings.Contains(o.err, "shard 2: its rows were others") {
		t.Errorf("rows in another order: %s", o.err)
	}
	if o := total("explain", "2.csv"); o.status != exitDone {
		t.Fatal(o.err)
	}
	equalResults(t, h.place("result"), h.place("whole"))
	var all strings.Builder
	for shard, file := range []string{"0.csv", "columns.csv", "2.csv"} {
		if shard == 1 {
			continue
		}
		out := h.place("contributions")
		done(t, "apply", "--decomposition", h.place("result"), "--plan", h.place("plan"), "--shard", fmt.Sprint(shard), "--data", h.place(file), "--out", out)
		all.WriteString(read(t, out))
	}
	if all.String() != read(t, h.place("whole"), resultdir.Contributions) {
		t.Error("other contributions")
	}
}
