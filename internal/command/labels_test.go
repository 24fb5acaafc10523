package command

import (
	"encoding/json"
	"html"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/pho-go/pho/internal/app/resultdir"
)

// allLabels name everything in labelledRows' decomposition.
const allLabels = `{
  "columns": {
    "q0": {"name": "Pressure", "unit": "bar"},
    "q1": {"name": "Temperature", "unit": "°C", "back_transform": {"scale": 10, "shift": 20}},
    "q2": {"name": "Depth", "unit": "m", "back_transform": {"scale": -5, "shift": 100}},
    "q3": {"name": "Income", "unit": "$", "back_transform": {"function": "exp10", "scale": 0.5, "shift": 3}},
    "q4": {"name": "Humidity"},
    "grp": {"name": "Group", "levels": {"a": "control", "b": "treated once", "c": "treated twice"}},
    "wday": {"name": "Day of week", "levels": {"1": "Monday", "2": "Tuesday", "3": "Wednesday", "4": "Thursday", "5": "Friday", "6": "Saturday", "7": "Sunday"}},
    "resp": {"name": "Yield", "unit": "kg"}, "wgt": {"name": "Weight"}
  },
  "predictors": {"eta": "Predicted yield"},
  "terms": {"ti(q0,q4)": "Pressure with humidity"}
}`

// labelledRows are 400 rows, and the arguments of a decomposition that has most of what a
// page can show: sums, conventions, weak terms, curves by level, surfaces, interactions.
func labelledRows(t testing.TB, dir string) []string {
	t.Helper()
	text := strings.Replace(rows(400), "x0,x1,x2,x3,x4,w,y,n,o,g,dow", "q0,q1,q2,q3,q4,wgt,resp,n,o,grp,wday", 1)
	write(t, filepath.Join(dir, "rows.csv"), text)
	write(t, filepath.Join(dir, "labels.json"), allLabels)
	return []string{"decompose", "--model", golden("ssn_op13"), "--data", filepath.Join(dir, "rows.csv"), "--input", "x=q0..q4", "--response", "resp", "--weights", "wgt", "--orders", "--factor", "wday",
		"--formula", "~ s(q1) + s(q2, by = grp) + grp + wday + te(q1,q3,k=c(3,3)) + ti(q0,q4,k=c(3,3)) + s(q3,k=4) + s(q4,by=q1,k=4) + grp:wday + s(grp, bs = \"re\")"}
}

// rawName is a name of the data, on its own.
var rawName = regexp.MustCompile(`(^|[^\w.-])(q[0-4]|grp|wday|resp|wgt|eta)($|[^\w-])`)

// visible is the text of a page that people read, without what keeps the data's names: the
// warnings, how columns were bound, and terms to be copied into a formula (docs/labels.md).
func visible(page string) string {
	for _, without := range []string{`(?s)<style>.*?</style>`, `(?s)<script.*?</script>`, `(?s)<details class="warnings".*?</details>`, `(?s)<section aria-labelledby="bound">.*?</section>`, `(?s)<code>.*?</code>`} {
		page = regexp.MustCompile(without).ReplaceAllString(page, " ")
	}
	labels := regexp.MustCompile(`aria-label="([^"]*)"`).FindAllStringSubmatch(page, -1)
	page = regexp.MustCompile(`<[^>]*>`).ReplaceAllString(page, "\n")
	for _, l := range labels {
		page += "\n" + l[1]
	}
	return html.UnescapeString(page)
}

func TestEverythingIsCalledByItsLabel(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	args := labelledRows(t, dir)
	plain, labelled, labels := filepath.Join(dir, "plain"), filepath.Join(dir, "labelled"), filepath.Join(dir, "labels.json")
	done(t, append(args, "--out", plain)...)
	printed := done(t, append(args, "--labels", labels, "--out", labelled)...).err

	page := visible(read(t, labelled, resultdir.Report))
	for _, line := range strings.Split(page, "\n") {
		if rawName.MatchString(line) {
			t.Errorf("the page has a raw name: %s", line)
		}
	}
	if !rawName.MatchString(visible(read(t, plain, resultdir.Report))) {
		t.Error("the page without labels has no raw name: the test looks at nothing")
	}
	if rawName.MatchString(`"` + strings.Join(regexp.MustCompile(`"[^"]*"`).FindAllString(islandText(t, labelled), -1), " ") + `"`) {
		t.Errorf("the script's data have a raw name: %q", rawName.FindString(islandText(t, labelled)))
	}
	sameIslands(t, plain, labelled)
	for _, want := range []string{"Pressure with humidity", "s(Depth):Group = treated once", "Group:Day of week", "te(Temperature, Income)", "Temperature (°C)", "Income ($)", "Depth (m)", "Wednesday", "Predicted yield", "Yield (gaussian)"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	for _, line := range strings.Split(printed, "\n") {
		if rawName.MatchString(line) && !strings.HasPrefix(line, "warning: ") && !regexp.MustCompile(`^  (ti|s)\(.* %`).MatchString(line) {
			t.Errorf("the summary has a raw name: %s", line)
		}
	}

	// Tables and what programs read are the same, and so is a result that is labelled later.
	for _, name := range []string{resultdir.Contributions, resultdir.Effects, resultdir.Moments} {
		if read(t, plain, name) != read(t, labelled, name) {
			t.Errorf("labels change %s", name)
		}
	}
	before := read(t, plain, resultdir.Decomposition)
	done(t, "report", plain, "--labels", labels)
	for _, name := range []string{resultdir.Decomposition, resultdir.Report, resultdir.Effects} {
		if read(t, plain, name) != read(t, labelled, name) {
			t.Errorf("%s differs from that of a decomposition with the labels", name)
		}
	}
	for name, text := range map[string]string{
		"summary":           done(t, "summary", plain).out,
		"explain":           done(t, "explain", plain, "--row", exampleRow(t, plain), "--full").out,
		"explain with data": done(t, "explain", plain, "--data", filepath.Join(dir, "rows.csv"), "--row", "3", "--full").out,
	} {
		if !strings.Contains(text, "s(Humidity):Temperature") {
			t.Errorf("%s does not know the labels:\n%s", name, text)
		}
		for _, line := range strings.Split(beforeFindings(text), "\n") {
			if rawName.MatchString(line) {
				t.Errorf("%s has a raw name: %s", name, line)
			}
		}
		if strings.HasPrefix(name, "explain") && !strings.Contains(text, " °C") {
			t.Errorf("%s has no values with their unit:\n%s", name, text)
		}
	}
	write(t, filepath.Join(dir, "none.json"), "{}")
	if out := done(t, "summary", plain, "--labels", filepath.Join(dir, "none.json")).out; !strings.Contains(out, "s(q4):q1") {
		t.Errorf("summary without labels:\n%s", out)
	}
	done(t, "report", plain, "--labels", filepath.Join(dir, "none.json"))
	if read(t, plain, resultdir.Decomposition) != before {
		t.Error("labels cannot be taken away")
	}
	done(t, "verify", labelled)

	out := filepath.Join(dir, "applied.csv")
	done(t, "apply", "--decomposition", labelled, "--data", filepath.Join(dir, "rows.csv"), "--out", out)
	if read(t, out) != read(t, labelled, resultdir.Contributions) {
		t.Error("labels change what apply writes")
	}

	write(t, filepath.Join(dir, "less.csv"), strings.Join(strings.SplitAfter(read(t, dir, "rows.csv"), "\n")[:300], ""))
	other := filepath.Join(dir, "other")
	for i, a := range args {
		if strings.HasSuffix(a, "rows.csv") {
			args[i] = filepath.Join(dir, "less.csv")
		}
	}
	done(t, append(args, "--out", other)...)
	o := done(t, "compare", other, labelled, "--out", filepath.Join(dir, "comparison"))
	for name, text := range map[string]string{"what is printed": regexp.MustCompile(`(?m)^note: .*$`).ReplaceAllString(o.out, ""), "compare.html": visible(read(t, dir, "comparison", comparisonPage))} {
		if !strings.Contains(text, "Temperature") {
			t.Errorf("%s has no labels", name)
		}
		for _, line := range strings.Split(text, "\n") {
			if rawName.MatchString(line) {
				t.Errorf("%s has a raw name: %s", name, line)
			}
		}
	}
	if doc := read(t, dir, "comparison", comparisonJSON); !strings.Contains(doc, `"q1 + s(q1)"`) || strings.Contains(doc, "Temperature") {
		t.Error("compare.json has labels in place of names")
	}
}

func TestBadLabels(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	args := labelledRows(t, dir)
	result := filepath.Join(dir, "result")
	done(t, append(args[:7:7], "--out", result)...)
	kept := contents(t, result)
	for _, c := range []struct{ labels, want string }{
		{`{"columns": {"q11": {"name": "Q"}}}`, `--labels: there is no column "q11"; did you mean "q1"?`},
		{`{"predictors": {"etaa": "Q"}}`, `--labels: there is no predictor "etaa"; did you mean "eta"?`},
		{`{"columns": {"q1": {"name": "q2"}}}`, `column "q1" is called "q2", which is another column`},
		{`{"columns": {"q1": {"name": ""}}, "x": 1}`, `column "q1", name: the text is empty`},
		{`{"columns": `, `line 1 is not JSON: it ends too early`},
	} {
		file := filepath.Join(dir, "bad.json")
		write(t, file, c.labels)
		for _, call := range []outcome{
			call(t, append(args[:7:7], "--labels", file, "--out", filepath.Join(dir, "new"))...), call(t, "report", result, "--labels", file),
			call(t, "summary", result, "--labels", file), call(t, "compare", result, result+"/.", "--labels", file),
		} {
			if strings.Contains(call.err, "same directory") {
				continue
			}
			if call.status != exitFailed || !strings.Contains(call.err, c.want) {
				t.Errorf("%s: status %d, %s, want %q", c.labels, call.status, call.err, c.want)
			}
		}
	}
	// A term is known once the formula's terms are; a column that nothing reads, to the data.
	write(t, filepath.Join(dir, "term.json"), `{"terms": {"s(q5)": "Q"}}`)
	if o := call(t, append(args, "--labels", filepath.Join(dir, "term.json"), "--out", filepath.Join(dir, "new"))...); !strings.Contains(o.err, `there is no term "s(q5)"; did you mean "s(q1)"?`) {
		t.Errorf("%d %s", o.status, o.err)
	}
	write(t, filepath.Join(dir, "unread.json"), `{"columns": {"n": {"name": "Count"}}}`)
	done(t, append(args, "--labels", filepath.Join(dir, "unread.json"), "--out", filepath.Join(dir, "new"))...)
	if o := call(t, append(args, "--labels", filepath.Join(dir, "no.json"), "--out", filepath.Join(dir, "new"))...); o.status != exitFailed || !strings.Contains(o.err, "no such file") {
		t.Errorf("%d %s", o.status, o.err)
	}
	// The file is not among what is replaced.
	write(t, filepath.Join(result, "unread.json"), `{}`)
	if o := call(t, append(args[:7:7], "--labels", filepath.Join(result, "unread.json"), "--out", result)...); o.status != exitFailed || !strings.Contains(o.err, "holds the labels") {
		t.Errorf("%d %s", o.status, o.err)
	}
	for name, text := range contents(t, result) {
		if text != kept[name] && !strings.HasSuffix(name, "unread.json") {
			t.Errorf("%s was changed", name)
		}
	}
}

// islandText is the data of the script in the report in dir.
func islandText(t testing.TB, dir string) string {
	t.Helper()
	found := regexp.MustCompile(`(?s)<script type="application/json" id="pho-data">(.*?)</script>`).FindStringSubmatch(read(t, dir, resultdir.Report))
	if found == nil {
		t.Fatal("the report has no data for its script")
	}
	return found[1]
}

// islandJSON is what is read of it here.
type islandJSON struct {
	Predictors []struct {
		Effects []struct {
			X     int
			X2    *int
			After islandSeries
		}
	}
	Axes []struct {
		Feature, Unit string
		Values        []float64
	}
	Features []struct {
		Name     string
		Min, Max float64
		Counts   []float64
	}
	Rows struct {
		Columns []string
		Rows    []struct{ Values []any }
	}
}

// islandSeries are values as the page's data have them: whole numbers by how far each step is
// from the step before, as the page's script reads them.
type islandSeries struct{ Steps []*float64 }

// values are the numbers, in units of their last digit; NaN where there is none.
func (s islandSeries) values() []float64 {
	var last, step float64
	out := make([]float64, len(s.Steps))
	for i, more := range s.Steps {
		if out[i] = math.NaN(); more != nil {
			step += *more
			last += step
			out[i] = last
		}
	}
	return out
}

// sameIslands checks that numbers of scaled columns are those that labelledRows' labels show,
// and that everything at them went along.
func sameIslands(t testing.TB, plain, labelled string) {
	t.Helper()
	var raw, shown islandJSON
	for dir, to := range map[string]*islandJSON{plain: &raw, labelled: &shown} {
		if err := json.Unmarshal([]byte(islandText(t, dir)), to); err != nil {
			t.Fatal(err)
		}
	}
	scales := map[string]func(float64) float64{
		"Temperature": func(v float64) float64 { return 10*v + 20 },
		"Depth":       func(v float64) float64 { return 100 - 5*v },
		"Income":      func(v float64) float64 { return math.Pow(10, 0.5*v+3) },
	}
	near := func(a, b float64) bool { return math.Abs(a-b) <= 2e-3*math.Max(1, math.Abs(b)) }
	seen := map[string]bool{}
	for k, p := range shown.Predictors {
		for i, e := range p.Effects {
			before, axis := raw.Predictors[k].Effects[i], shown.Axes[e.X]
			scale := scales[axis.Feature]
			if scale == nil || e.X2 != nil {
				continue
			}
			seen[axis.Feature] = true
			values, after := slices.Clone(raw.Axes[before.X].Values), before.After.values()
			if axis.Feature == "Depth" {
				slices.Reverse(values)
				slices.Reverse(after)
			}
			if axis.Unit == "" || !slices.Equal(after, e.After.values()) {
				t.Errorf("effect %d of %s is not that of the same rows", i, axis.Feature)
			}
			for j, v := range values {
				if !near(axis.Values[j], scale(v)) {
					t.Errorf("%s is %g at point %d, want %g", axis.Feature, axis.Values[j], j, scale(v))
				}
			}
		}
	}
	for i, f := range shown.Features {
		if scale := scales[f.Name]; scale != nil {
			a, b := scale(raw.Features[i].Min), scale(raw.Features[i].Max)
			if !near(f.Min, math.Min(a, b)) || !near(f.Max, math.Max(a, b)) || sumOf(f.Counts) != sumOf(raw.Features[i].Counts) {
				t.Errorf("%s runs from %g to %g, %g rows", f.Name, f.Min, f.Max, sumOf(f.Counts))
			}
		}
	}
	at := slices.Index(shown.Rows.Columns, "Depth")
	for i, row := range shown.Rows.Rows {
		text, _ := row.Values[at].(string)
		v, err := strconv.ParseFloat(strings.TrimSuffix(text, " m"), 64)
		if err != nil || !near(v, scales["Depth"](raw.Rows.Rows[i].Values[at].(float64))) {
			t.Errorf("a row's depth is %q", text)
		}
	}
	if len(seen) != len(scales) {
		t.Errorf("curves of %v only: the test looks at too little", seen)
	}
}

func sumOf(v []float64) (sum float64) {
	for _, x := range v {
		sum += x
	}
	return sum
}

// exampleRow is the number of a row whose values the result has.
func exampleRow(t testing.TB, dir string) string {
	t.Helper()
	r, err := resultdir.Read(dir)
	if err != nil {
		t.Fatal(err)
	}
	return strconv.FormatInt(r.Examples.Rows[0].Row, 10)
}

// beforeFindings is a summary without its findings and warnings, which keep names to be copied.
func beforeFindings(text string) string {
	text, _, _ = strings.Cut(text, "\nMethod:")
	return text
}

// Labels come into all files of a result or into none.
func TestReportLabelsAllOrNothing(t *testing.T) {
	dir := t.TempDir()
	data, result, labels := filepath.Join(dir, "rows.csv"), filepath.Join(dir, "result"), filepath.Join(dir, "labels.json")
	write(t, data, rows(60))
	write(t, labels, `{"columns": {"x0": {"name": "Age"}}}`)
	done(t, "decompose", "--model", golden("ssn_op13"), "--data", data, "--input", "x=x0..x4", "--out", result)
	page := filepath.Join(result, resultdir.Report)
	if err := os.Remove(page); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(page, 0o777); err != nil {
		t.Fatal(err)
	}
	before, effects := read(t, result, resultdir.Decomposition), read(t, result, resultdir.Effects)
	if o := call(t, "report", result, "--labels", labels); o.status != exitFailed {
		t.Fatal(o.err)
	}
	if read(t, result, resultdir.Decomposition) != before || read(t, result, resultdir.Effects) != effects {
		t.Error("a report that failed has changed the result")
	}
	if entries, err := os.ReadDir(result); err != nil || len(entries) != 6 {
		t.Errorf("%v: %v", err, entries)
	}
}

// A title is that of the page, however it was given; an empty one takes it away.
func TestTitle(t *testing.T) {
	dir := t.TempDir()
	data, result := filepath.Join(dir, "rows.csv"), filepath.Join(dir, "result")
	write(t, data, rows(60))
	done(t, "decompose", "--model", golden("ssn_op13"), "--data", data, "--input", "x=x0..x4", "--title", "What moves rents", "--out", result)
	titled := "<h1>What moves rents</h1>"
	if !strings.Contains(read(t, result, resultdir.Report), titled) {
		t.Error("decompose has no title")
	}
	if done(t, "report", result); !strings.Contains(read(t, result, resultdir.Report), titled) {
		t.Error("report has lost the title")
	}
	if done(t, "report", result, "--title", ""); strings.Contains(read(t, result, resultdir.Report), titled) {
		t.Error("the title is still there")
	}
}
