package command

import (
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	frame "github.com/pho-go/pho/data"
	"github.com/pho-go/pho/serve"
)

// predicted writes rows with what models of three kinds predict there: probabilities, means, classes.
func predicted(t *testing.T) (data string) {
	t.Helper()
	var s strings.Builder
	s.WriteString("x0,x1,g,p,q,mu,p_a,p_b,p_c,hard,y,class,q_a,q_b,q_c,as column,\"mu, again\"\n")
	for i := range 600 {
		x0, x1, g := float64(i%29)/7-2, float64(i%31)/8-2, i%3
		eta := math.Sin(x0) + 0.5*x1 + 0.3*float64(g) + 0.1*x0*x1
		p := 1 / (1 + math.Exp(-eta))
		a, b, c := math.Exp(eta), math.Exp(0.5*x1), 1.0
		sum, hard := a+b+c, p
		if i%100 == 7 {
			hard = 1
		}
		y, class := 0, []string{"a", "b", "c"}[i%3]
		if i%10 < int(10*p) {
			y = 1
		}
		fmt.Fprintf(&s, "%v,%v,g%d,%v,%v,%v,%v,%v,%v,%v,%d,%s,%v,%v,%v,p_%s,%v\n", x0, x1, g, p, 1/(1+math.Exp(-eta-0.1*math.Cos(float64(i)))), math.Exp(eta), a/sum, b/sum, c/sum, hard, y, class,
			a/(sum+a+c), (a+b)/(sum+a+c), 2*c/(sum+a+c), class, math.Exp(eta))
	}
	data = filepath.Join(t.TempDir(), "rows.csv")
	write(t, data, s.String())
	return data
}

// predictedCase is a decomposition of predictions, whose column is the inverse of eta.
type predictedCase struct {
	args        []string
	eta, column string
	inverse     func(float64) float64
}

// id is the flag of the column that names rows, if there is one.
func (c predictedCase) id() []string {
	if at := slices.Index(c.args, "--id"); at >= 0 {
		return c.args[at : at+2]
	}
	return nil
}

// TestPredictions: a model that is known by columns of its predictions is decomposed on the scale of its
// link, whose inverse they are; apply gives the same parts of the same rows.
func TestPredictions(t *testing.T) {
	data, temp := predicted(t), t.TempDir()
	for name, c := range map[string]predictedCase{
		"identity": {[]string{"--predictions", "mu", "--formula", "~ s(x0) + x1 + g"}, "eta", "mu", func(v float64) float64 { return v }},
		"log":      {[]string{"--predictions", "mu", "--link", "log", "--formula", "~ s(x0) + x1 + g"}, "eta", "mu", math.Exp},
		"logit":    {[]string{"--predictions", "p", "--link", "logit", "--formula", "y ~ s(x0) + x1 + g"}, "eta", "p", func(v float64) float64 { return 1 / (1 + math.Exp(-v)) }},
		"several":  {[]string{"--predictions", "p", "--predictions", "q", "--link", "logit", "--formula", "y ~ s(x0) + x1 + g"}, "eta", "", nil},
		"comma":    {[]string{"--predictions", `"mu, again"`, "--link", "log", "--formula", "~ s(x0) + x1 + g"}, "eta", "mu", math.Exp},
		"id":       {[]string{"--predictions", "mu", "--link", "log", "--id", "mu", "--formula", "~ s(x0) + x1 + g"}, "eta", "mu", math.Exp},
		"dot":      {[]string{"--predictions", "p", "--link", "logit", "--formula", "y ~ . - mu - q - p_a - p_b - p_c - hard - class - q_a - q_b - q_c - `as column` - `mu, again`"}, "eta", "p", func(v float64) float64 { return 1 / (1 + math.Exp(-v)) }},
	} {
		t.Run(name, func(t *testing.T) {
			out, again := filepath.Join(temp, name), filepath.Join(temp, name+".csv")
			done(t, append([]string{"decompose", "--data", data, "--out", out}, c.args...)...)
			done(t, append([]string{"apply", "--decomposition", out, "--data", data, "--out", again}, c.id()...)...)
			if read(t, again) != read(t, out, "contributions.csv") {
				t.Error("apply gives other parts of the same rows")
			}
			if c.inverse == nil {
				return
			}
			if said := regexp.MustCompile(`(?i)\bthe network\b.*`).FindString(read(t, out, "report.html")); said != "" {
				t.Errorf("the report of a model that need be no network says %.80q", said)
			}
			header, records := table(t, out, "contributions.csv")
			given, cells := table(t, data)
			for i, r := range records {
				eta, want := number(t, r[indexOf(t, header, c.eta)]), number(t, cells[i][indexOf(t, given, c.column)])
				if got := c.inverse(eta); math.Abs(got-want) > 1e-12*math.Max(1, want) {
					t.Fatalf("row %d: eta %v is %v, and predicted was %v", i, eta, got, want)
				}
			}
		})
	}
	if kind := document(t, filepath.Join(temp, "logit"))["model"]; fmt.Sprint(kind) != "map[kind:columns link:logit predictions:[p]]" {
		t.Errorf("the model is %v", kind)
	}
}

func indexOf(t *testing.T, names []string, name string) int {
	t.Helper()
	for i, n := range names {
		if n == name {
			return i
		}
	}
	t.Fatalf("no column %q among %q", name, names)
	return -1
}

// Probabilities of classes are decomposed as those of a softmax; the classes are called as the columns,
// without what these begin with.
func TestPredictionsOfClasses(t *testing.T) {
	data, out := predicted(t), filepath.Join(t.TempDir(), "out")
	done(t, "decompose", "--data", data, "--out", out, "--predictions", "p_a,p_b,p_c", "--link", "softmax", "--formula", "class ~ s(x0) + x1 + g")
	header, records := table(t, out, "contributions.csv")
	given, cells := table(t, data)
	for i, r := range records {
		eta, p := map[string]float64{}, map[string]float64{}
		for _, class := range []string{"a", "b", "c"} {
			eta[class], p[class] = number(t, r[indexOf(t, header, class+".eta")]), number(t, cells[i][indexOf(t, given, "p_"+class)])
		}
		if math.Abs(eta["a"]+eta["b"]+eta["c"]) > 1e-12 || math.Abs(eta["a"]-eta["b"]-math.Log(p["a"]/p["b"])) > 1e-12 {
			t.Fatalf("row %d: %v of %v", i, eta, p)
		}
	}
}

// The classes of a response may be written as they are called, or as the columns; models of one task may have
// columns of any names.
func TestPredictionsOfSeveralClassifiers(t *testing.T) {
	data, temp := predicted(t), t.TempDir()
	args := []string{"decompose", "--data", data, "--predictions", "p_a, p_b, p_c", "--predictions", "q_a,q_b,q_c", "--link", "softmax"}
	one, other := filepath.Join(temp, "one"), filepath.Join(temp, "other")
	done(t, append(args, "--formula", "class ~ s(x0) + x1", "--out", one)...)
	done(t, append(args, "--formula", "`as column` ~ s(x0) + x1", "--out", other)...)
	if fmt.Sprint(document(t, one)["prediction"]) != fmt.Sprint(document(t, other)["prediction"]) {
		t.Error("the response predicts otherwise if its classes are written as the columns")
	}
	again := filepath.Join(temp, "again.csv")
	done(t, "apply", "--decomposition", one, "--data", data, "--out", again)
	if read(t, again) != read(t, one, "contributions.csv") {
		t.Error("apply gives other parts of the same rows")
	}
	for command, want := range map[string]string{"summary": "Predictions: p_a, p_b, p_c, of the classes a, b, c", "verify": "the predictions, which the data hold"} {
		if o := call(t, command, one); !strings.Contains(o.out, want) {
			t.Errorf("%s: want %q in\n%s", command, want, o.out)
		}
	}
	if page := read(t, one, "report.html"); !strings.Contains(page, "columns p_a, p_b, p_c; q_a, q_b, q_c, link softmax, of the classes a, b, c") {
		t.Error("the report does not name the predictions")
	}
	done(t, "decompose", "--data", data, "--out", filepath.Join(temp, "two"), "--predictions", "mu,p", "--predictions", "q,hard", "--formula", "~ x0")
}

// New rows with predictions outside the link's range are refused like such training rows.
func TestPredictionsOfNewRows(t *testing.T) {
	data, temp := predicted(t), t.TempDir()
	out, rows := filepath.Join(temp, "out"), filepath.Join(temp, "rows.csv")
	done(t, "decompose", "--data", data, "--out", out, "--predictions", "p", "--link", "logit", "--formula", "y ~ s(x0) + x1 + g")
	write(t, rows, "x0,x1,g,p\n0,1,g0,0.5\n0,1,g0,1\n")
	const want = `column "p", data row 2: the prediction 1 is a probability without a logit`
	for _, args := range [][]string{
		{"apply", "--decomposition", out, "--data", rows, "--out", "-"},
		{"explain", out, "--data", rows, "--row", "2"},
		{"monitor", out, "--data", rows, "--period", "now", "--state", filepath.Join(temp, "state.json")},
	} {
		if o := call(t, args...); o.status == exitDone || !strings.Contains(o.err, want) {
			t.Errorf("%s: status %d, want %q in\n%s", args[0], o.status, want, o.err)
		}
	}
	e, err := serve.Open(out, nil)
	if err != nil {
		t.Fatal(err)
	}
	some := serve.NewRows(1)
	err = errors.Join(some.AddNumeric("x0", []float64{0}), some.AddNumeric("x1", []float64{1}), some.AddNumeric("p", []float64{7}),
		some.AddCodes("g", frame.Codes{Index: []int32{0}, Levels: []string{"g1"}}))
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := e.Explain(t.Context(), some, false, frame.NAError); err == nil || !strings.Contains(err.Error(), "is no probability") {
		t.Errorf("served: %v", err)
	}
}

// What may be meant otherwise is said.
func TestPredictionsWarnings(t *testing.T) {
	data := predicted(t)
	for want, args := range map[string][]string{
		`reads column "p", which holds predictions`:       {"--predictions", "p", "--link", "logit", "--formula", "y ~ s(x0) + p"},
		`the predictions of column "y" are the response`:  {"--predictions", "y", "--formula", "y ~ s(x0)"},
		`the model predicts "y" worse than its mean does`: {"--predictions", "mu", "--formula", "y ~ s(x0)"},
		`on the scale that the link identity takes`:       {"--predictions", "mu", "--formula", "y ~ s(x0)"},
		`takes them as predictors of its links ["logit"]`: {"--predictions", "p", "--family", "binomial", "--formula", "y ~ s(x0)"},
	} {
		o := call(t, append([]string{"decompose", "--data", data, "--out", filepath.Join(t.TempDir(), "out")}, args...)...)
		if o.status != exitDone || !strings.Contains(o.err+o.out, want) || strings.Contains(o.err+o.out, "by position") {
			t.Errorf("status %d, want %q in\n%s", o.status, want, o.err+o.out)
		}
	}
}

// A plan of shards, and a run that could go on after a kill, come to the bytes of one run.
func TestPredictionsInShards(t *testing.T) {
	data, temp := predicted(t), t.TempDir()
	args := []string{"--data", data, "--predictions", "p", "--predictions", "q", "--link", "logit", "--formula", "y ~ s(x0) + x1 + g"}
	at := func(name string) string { return filepath.Join(temp, name) }
	done(t, append([]string{"decompose", "--out", at("whole")}, args...)...)
	done(t, append([]string{"decompose", "--resume", "--out", at("resumed")}, args...)...)
	done(t, append([]string{"plan", "--shards", "2", "--out", at("plan")}, args...)...)
	pass := func(name string) string {
		for i := range 2 {
			done(t, "accumulate", "--plan", at("plan"), "--pass", name, "--shard", strconv.Itoa(i), "--out", at(fmt.Sprintf("%s-%d.pho", name, i)))
		}
		done(t, "merge", at(name+"-0.pho"), at(name+"-1.pho"), "--out", at(name+".pho"))
		return at(name + ".pho")
	}
	done(t, "plan", "--plan", at("plan"), "--scan", pass("scan"))
	done(t, "solve", "--plan", at("plan"), "--statistics", pass("fit"), "--out", at("shards"))
	done(t, "solve", "--plan", at("plan"), "--explain", pass("explain"), "--out", at("shards"))
	for _, file := range []string{"decomposition.json", "moments.bin", "effects.csv"} {
		for _, other := range []string{"resumed", "shards"} {
			if read(t, at(other), file) != read(t, at("whole"), file) {
				t.Errorf("%s: %s is another one", other, file)
			}
		}
	}
	done(t, "apply", "--decomposition", at("shards"), "--plan", at("plan"), "--shard", "1", "--out", at("part.csv"))
}

// Requests that cannot be decomposed are refused before anything is written, and the
// message says how to mend them.
func TestPredictionsFaults(t *testing.T) {
	data, out := predicted(t), filepath.Join(t.TempDir(), "out")
	const formula = "y ~ s(x0) + x1 + g"
	missing := filepath.Join(t.TempDir(), "missing.csv")
	write(t, missing, "x0,p\n1,0.5\n2,0.4\n3,\n4,0.1\n")
	for want, args := range map[string][]string{
		`"hard", data row 8: the prediction 1 is a probability without a logit; so it is in 6 rows: pho decompose moves them that far from 0 and 1 with --clip 1e-6`: {"--predictions", "hard", "--link", "logit", "--formula", formula},
		`column "mu", data row`:              {"--predictions", "mu", "--link", "logit", "--formula", formula},
		"sum to 0.":                          {"--predictions", "p_a,p_b", "--link", "softmax", "--formula", formula},
		`no column "nope"`:                   {"--predictions", "nope", "--formula", formula},
		`column "g" holds text`:              {"--predictions", "g", "--formula", "~ x0"},
		"is named twice":                     {"--predictions", "p,p", "--formula", formula},
		"has no name":                        {"--predictions", "p,", "--formula", formula},
		"as many":                            {"--predictions", "p", "--predictions", "q,mu", "--formula", formula},
		"are those of two models":            {"--predictions", "p", "--predictions", "p", "--formula", formula},
		"names with commas in double quotes": {"--predictions", `p"q`, "--formula", formula},
		"no family says how":                 {"--predictions", "mu", "--link", "softplus", "--formula", formula},
		`and the predictions have the link logit: name`: {"--predictions", "p", "--link", "logit", "--family", "poisson", "--formula", formula},
		"the model has no class":                        {"--predictions", "p", "--link", "logit", "--reference", "a", "--formula", formula},
		"probabilities of both classes":                 {"--predictions", "p", "--link", "logit", "--formula", "class ~ x0"},
		"--max-order, --deep, --learned":                {"--predictions", "p", "--deep", "p", "--formula", formula},
		"--input predictions=q is for":                  {"--predictions", "p", "--input", "predictions=q", "--formula", formula},
		"--phonam is for":                               {"--predictions", "p", "--phonam", "learned", "--formula", formula},
		"--engine and --precision are for":              {"--predictions", "p", "--precision", "float32", "--formula", formula},
		"identity to decompose the predictions as they": {"--predictions", "mu", "--link", "logit", "--formula", formula},
		"give the network's file, or the columns":       {"--predictions", "p", "--model", "net.onnx", "--formula", formula},
		"--link is for --predictions":                   {"--model", "net.onnx", "--link", "log"},
		"is not known; there are":                       {"--predictions", "p", "--link", "probit", "--formula", formula},
		"it is a constant":                              {"--predictions", "p", "--export-onnx", "--formula", "~ 1"},
		`nothing says how "y" hangs on the 2 predicto`:  {"--predictions", "p,q", "--formula", formula},
		"--predictions COLUMN":                          {"--formula", formula},
	} {
		o := call(t, append([]string{"decompose", "--data", data, "--out", out}, args...)...)
		if o.status == exitDone || !strings.Contains(o.err, want) {
			t.Errorf("status %d, want %q in\n%s", o.status, want, o.err)
		}
	}
	if o := call(t, "decompose", "--data", missing, "--out", out, "--predictions", "p", "--formula", "~ x0"); o.status == exitDone || !strings.Contains(o.err, "row 3") {
		t.Errorf("a missing prediction: status %d\n%s", o.status, o.err)
	}
	done(t, "decompose", "--data", data, "--out", out, "--predictions", "hard", "--link", "logit", "--clip", "1e-6", "--formula", formula)
	if o := call(t, "apply", "--decomposition", out, "--model", "net.onnx", "--data", data, "--out", "-"); o.status == exitDone || !strings.Contains(o.err, "known by its predictions") {
		t.Errorf("apply with a file: status %d\n%s", o.status, o.err)
	}
}
