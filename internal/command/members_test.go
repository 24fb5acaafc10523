package command

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/pho-go/pho/internal/app/resultdir"
)

// trainedMembers trains small networks and returns their folder and the rows.
func trainedMembers(t *testing.T, more ...string) (folder, data string) {
	t.Helper()
	temp := t.TempDir()
	folder, data = filepath.Join(temp, "networks"), filepath.Join(temp, "rows.csv")
	write(t, data, rows(300))
	done(t, memberArgs(folder, data, more...)...)
	return folder, data
}

func memberArgs(folder, data string, more ...string) []string {
	return append([]string{"train", "--data", data, "--formula", "y ~ x1 + s(x0) + g", "--deep", "x0,x1,x2,g", "--hidden", "6", "--epochs", "3", "--members", "3", "--out", folder}, more...)
}

// TestTrainMembers: the networks do not depend on workers or on interruptions, those that
// are there are kept, and a folder of other settings or with other files is refused.
func TestTrainMembers(t *testing.T) {
	folder, data := trainedMembers(t, "--resample", "--workers", "1")
	names := []string{"001", "002", "003"}
	first := map[string]string{}
	for _, name := range names {
		first[name] = read(t, folder, name, fileNetwork)
	}
	if first["001"] == first["002"] {
		t.Error("two networks are the same")
	}
	listed := read(t, folder, fileMembers)
	for _, want := range []string{`"from": "resamples"`, `"003/model.onnx"`} {
		if !strings.Contains(listed, want) {
			t.Errorf("no %s in %s", want, listed)
		}
	}
	if err := os.RemoveAll(filepath.Join(folder, "002")); err != nil {
		t.Fatal(err)
	}
	o := done(t, memberArgs(folder, data, "--resample", "--workers", "3")...)
	if !strings.Contains(o.err, "2 of 3 networks are there already") {
		t.Errorf("said %s", o.err)
	}
	for _, name := range names {
		if read(t, folder, name, fileNetwork) != first[name] {
			t.Errorf("network %s is another one", name)
		}
	}
	if read(t, folder, fileMembers) != listed {
		t.Error("the list is another one")
	}
	if o := done(t, memberArgs(folder, data, "--resample", "--members", "4")...); !strings.Contains(o.err, "3 of 4 networks are there already") {
		t.Errorf("said %s", o.err)
	}
	foreign := t.TempDir()
	write(t, filepath.Join(foreign, "mine.txt"), "")
	for want, args := range map[string][]string{
		"other settings or data":           memberArgs(folder, data),
		"--members 1: it is a number":      memberArgs(folder, data, "--members", "1"),
		"--resample is for several":        memberArgs(folder, data, "--members", "0", "--resample"),
		"--checkpoint and --resume":        memberArgs(folder, data, "--checkpoint", filepath.Join(t.TempDir(), "c")),
		"all members would be equal":       {"train", "--data", data, "--kind", "gam", "--formula", "y ~ s(x0)", "--members", "3", "--out", folder},
		"not standard input":               memberArgs(folder, "-"),
		"is no part of a folder of networ": memberArgs(foreign, data),
	} {
		if o := call(t, args...); o.status == exitDone || !strings.Contains(o.err, want) {
			t.Errorf("status %d, want %q in\n%s", o.status, want, o.err)
		}
	}
	if read(t, folder, "001", fileNetwork) != first["001"] {
		t.Error("a refused training changed a network")
	}
}

// TestDecomposeMembers: a folder of networks goes through decompose, verify, report and
// apply, for the mean and for each network.
func TestDecomposeMembers(t *testing.T) {
	folder, data := trainedMembers(t, "--resample")
	out := filepath.Join(filepath.Dir(folder), "out")
	o := done(t, "decompose", "--model", folder, "--data", data, "--response", "y", "--formula", "~ s(x2)", "--out", out)
	for _, want := range []string{"sd between 3 networks (trained on resamples of the rows)", "stable"} {
		if !strings.Contains(o.err, want) {
			t.Errorf("no %q in\n%s", want, o.err)
		}
	}
	header, cells := table(t, out, resultdir.Effects)
	if got := strings.Join(header, ","); got != "predictor,term,stage,x,x2,value,se,lower,upper,lower_sim,upper_sim,between_sd,member" {
		t.Errorf("effects have the columns %s", got)
	}
	members := map[string]int{}
	for _, row := range cells {
		members[row[len(row)-1]]++
	}
	if len(members) != 4 || members["002"] != members[""] {
		t.Errorf("rows of effects by member: %v", members)
	}
	html := read(t, out, resultdir.Report)
	for _, want := range []string{"How far the networks agree", "3, which differ by resamples", "training, its rows and the projection"} {
		if !strings.Contains(html, want) {
			t.Errorf("no %q in the report", want)
		}
	}
	if strings.Contains(html, "training randomness only") {
		t.Error("resamples are called training randomness only")
	}
	if o := done(t, "verify", out); !strings.Contains(o.out, "003") {
		t.Errorf("verify says %s", o.out)
	}
	contributions, effects := read(t, out, resultdir.Contributions), read(t, out, resultdir.Effects)
	done(t, "report", out)
	if read(t, out, resultdir.Report) != html || read(t, out, resultdir.Effects) != effects {
		t.Error("written again, the report or the effects differ")
	}
	apply := func(more ...string) outcome {
		return call(t, append([]string{"apply", "--decomposition", out, "--data", data, "--out", "-"}, more...)...)
	}
	if o := apply(); o.out != contributions {
		t.Errorf("apply differs from the contributions\n%s", o.err)
	}
	one, two := apply("--member", "001"), apply("--member", "002")
	if one.status != exitDone || one.out == two.out || one.out == contributions {
		t.Errorf("contributions of single networks: %s", one.err)
	}
	if o := apply("--member", "7"); o.status != exitUsage || !strings.Contains(o.err, `"003"`) {
		t.Errorf("an unknown member: %d %s", o.status, o.err)
	}

	moved := filepath.Join(filepath.Dir(folder), "elsewhere", "networks")
	mkdir(t, filepath.Dir(moved))
	if err := os.Rename(folder, moved); err != nil {
		t.Fatal(err)
	}
	if o := apply(); o.status == exitDone || !strings.Contains(o.err, "003") {
		t.Errorf("without networks: %s", o.err)
	}
	if o := apply("--model", moved); o.out != contributions {
		t.Errorf("with --model: %s", o.err)
	}
	swapped := filepath.Join(moved, "001", fileNetwork)
	write(t, swapped, read(t, moved, "002", fileNetwork))
	if o := apply("--model", moved); o.status == exitDone || !strings.Contains(o.err, "sha256") {
		t.Errorf("another network in its place: %s", o.err)
	}
}

// TestMembersOfSeeds: networks of other seeds, which have bases of their own, are said to
// tell of training randomness only, wherever a band is shown.
func TestMembersOfSeeds(t *testing.T) {
	temp := t.TempDir()
	data, folder, out := filepath.Join(temp, "rows.csv"), filepath.Join(temp, "networks"), filepath.Join(temp, "out")
	write(t, data, rows(300))
	done(t, "train", "--data", data, "--kind", "nam", "--response", "y", "--features", "x0,x1", "--deep", "x0,x1,x2", "--hidden", "6", "--epochs", "3", "--members", "2", "--out", folder)
	o := done(t, "decompose", "--model", folder, "--data", data, "--response", "y", "--out", out)
	html := read(t, out, resultdir.Report)
	for where, text := range map[string]string{"summary": o.err, "report": html} {
		if !strings.Contains(text, "training randomness only") {
			t.Errorf("the %s does not say what seeds are", where)
		}
	}
	if o := done(t, "apply", "--decomposition", out, "--data", data, "--out", "-"); o.out != read(t, out, resultdir.Contributions) {
		t.Error("apply differs")
	}
	if o := done(t, "decompose", "--model", folder, "--members-from", "resamples", "--data", data, "--out", filepath.Join(temp, "other")); strings.Contains(o.err, "randomness") {
		t.Errorf("--members-from is passed over: %s", o.err)
	}
}

// TestBadMembers: what is no set of networks of one task.
func TestBadMembers(t *testing.T) {
	folder, data := trainedMembers(t)
	temp := t.TempDir()
	empty, single := filepath.Join(temp, "empty"), filepath.Join(temp, "single")
	mkdir(t, empty)
	mkdir(t, filepath.Join(single, "a"))
	network := filepath.Join(folder, "001", fileNetwork)
	write(t, filepath.Join(single, "a", fileNetwork), read(t, network))
	other := filepath.Join(temp, "other")
	done(t, "train", "--data", data, "--response", "y", "--kind", "mlp", "--deep", "x0,x1,x2,g", "--hidden", "4", "--epochs", "2", "--out", other)
	inputs := filepath.Join(temp, "inputs")
	done(t, "train", "--data", data, "--response", "y", "--kind", "mlp", "--deep", "x0,x1", "--hidden", "4", "--epochs", "2", "--out", inputs)
	broken := filepath.Join(temp, "broken")
	mkdir(t, broken)
	write(t, filepath.Join(broken, fileMembers), `{"format": "pho.members/1", "from": "seeds", "members": ["../../x.onnx", "b.onnx"]}`)
	out := filepath.Join(temp, "out")
	for want, args := range map[string][]string{
		"is a folder without networks":     {"--model", empty},
		"is a folder with one network":     {"--model", single},
		"lies outside of the folder":       {"--model", broken},
		"there is one network":             {"--model", network, "--members-from", "seeds"},
		"it is resamples or seeds":         {"--model", folder, "--members-from", "luck"},
		"has no term":                      {"--model", network, "--model", filepath.Join(other, fileNetwork)},
		"have the same inputs":             {"--model", network, "--model", filepath.Join(inputs, fileNetwork)},
		"--export-onnx writes one network": {"--model", folder, "--export-onnx"},
		"--phonam takes one network":       {"--model", folder, "--phonam", "spline"},
		"no such file":                     {"--model", network, "--model", filepath.Join(temp, "none.onnx")},
	} {
		o := call(t, append([]string{"decompose", "--data", data, "--out", out}, args...)...)
		if o.status == exitDone || !strings.Contains(o.err, want) {
			t.Errorf("%v: status %d, want %q in\n%s", args, o.status, want, o.err)
		}
		if _, err := os.Stat(out); err == nil {
			t.Errorf("%v wrote a result", args)
		}
	}
	o := done(t, "decompose", "--model", network, "--model", network, "--data", data, "--out", out)
	if !strings.Contains(o.err, "are the same: copies differ by nothing") {
		t.Errorf("the same network twice: %s", o.err)
	}
	if o := call(t, "apply", "--decomposition", out, "--data", data, "--out", "-", "--member", "001#2"); o.status != exitDone && !strings.Contains(o.err, "#2") {
		t.Errorf("the second of two: %s", o.err)
	}
}

// TestMembersRealData: classifiers of two classes on real rows, and the same rows with their
// columns in another order and a column more.
func TestMembersRealData(t *testing.T) {
	const source = "../../../shared/data/pima.csv"
	raw, err := os.ReadFile(source)
	if err != nil {
		t.Skip("no ", source)
	}
	temp := t.TempDir()
	data, turned := filepath.Join(temp, "rows.csv"), filepath.Join(temp, "turned.csv")
	write(t, data, string(raw))
	var text strings.Builder
	for i, line := range strings.Split(strings.TrimSpace(string(raw)), "\n") {
		cells := strings.Split(strings.TrimSpace(line), ",")
		slices.Reverse(cells)
		more := "7"
		if i == 0 {
			more = "seven"
		}
		text.WriteString(strings.Join(append(cells, more), ",") + "\n")
	}
	write(t, turned, text.String())
	folder := filepath.Join(temp, "networks")
	done(t, "train", "--data", data, "--family", "binomial", "--formula", "diabetes ~ bmi", "--deep", "glucose,bmi,age", "--hidden", "8", "--epochs", "5", "--members", "3", "--resample", "--out", folder)
	var effects [2]string
	for i, rows := range []string{data, turned} {
		out := filepath.Join(temp, "out"+strconv.Itoa(i))
		o := done(t, "decompose", "--model", folder, "--data", rows, "--formula", "diabetes ~ s(glucose) + s(age)", "--out", out)
		if !strings.Contains(o.err, "binomial") || !strings.Contains(o.err, "sd between 3 networks") {
			t.Errorf("said\n%s", o.err)
		}
		effects[i] = read(t, out, resultdir.Effects)
	}
	if effects[0] != effects[1] {
		t.Error("the order of the columns changes the effects")
	}
}

// FuzzMembers: no text of a members.json leads out of the folder or ends the program.
func FuzzMembers(f *testing.F) {
	for _, seed := range []string{`{"format": "pho.members/1", "from": "seeds", "members": ["001/model.onnx"]}`, `{"members": ["/x"]}`, `[]`, ``} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		doc, err := parseMembers(raw)
		if err != nil {
			return
		}
		for _, name := range doc.Members {
			if !filepath.IsLocal(filepath.FromSlash(name)) {
				t.Errorf("%q is taken", name)
			}
		}
	})
}
