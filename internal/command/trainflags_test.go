package command

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// trainingRecord is what training.json says of how training went.
type trainingRecord struct {
	Score struct {
		R2 float64 `json:"r2"`
	} `json:"score"`
	Epochs []struct{ Rate, Train float64 }
}

// TestTrainingFlags: what each flag on networks and their training changes.
func TestTrainingFlags(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	rows := filepath.Join(dir, "rows.csv")
	trainingRows(t, rows)
	type result struct {
		file    string
		record  trainingRecord
		inspect string
	}
	train := func(args ...string) (r result) {
		t.Helper()
		out := filepath.Join(dir, "out")
		done(t, append([]string{"train", "--data", rows, "--out", out, "--response", "y", "--validation", "0", "--seed", "1", "--epochs", "12"}, args...)...)
		r.file = read(t, out, fileNetwork)
		if err := json.Unmarshal([]byte(read(t, out, fileTraining)), &r.record); err != nil {
			t.Fatal(err)
		}
		r.inspect = done(t, "inspect", filepath.Join(out, fileNetwork)).out
		return r
	}
	last := func(r result) float64 { return r.record.Epochs[len(r.record.Epochs)-1].Train }
	rate := func(r result, epoch int) float64 { return r.record.Epochs[epoch-1].Rate }
	nam, deep := []string{"--kind", "nam", "--features", "x1,x2"}, []string{"--kind", "mlp", "--deep", "x1,x2,x3,g"}
	two := []string{"--formula", "mu = ~ x1", "--formula", "sigma = ~ x2", "--deep", "x1,x2"}
	base := map[string]result{}
	for _, c := range []struct {
		args    []string
		flags   string
		changed func(with, without result) bool
	}{
		{nam, "--features x1:x3", func(with, _ result) bool { return strings.Contains(with.inspect, "f(x1,x3)") }},
		{nam, "--features g:x3", func(with, _ result) bool { return strings.Contains(with.inspect, "f(x3,g)") }},
		{nam, "--products x1:x2", func(with, without result) bool {
			return strings.Contains(with.inspect, "f(x1,x2)") && strings.Contains(with.inspect, "1024") && !strings.Contains(without.inspect, "f(x1,x2)")
		}},
		{nam, "--feature-hidden 8,4", func(with, without result) bool { return len(with.file) < len(without.file)/4 }},
		{nam, "--exu", func(with, without result) bool {
			return with.file != without.file && len(with.file) == len(without.file)
		}},
		{nam, "--activation tanh", func(with, without result) bool {
			return strings.Contains(with.file, "Tanh") && !strings.Contains(without.file, "Tanh")
		}},
		{nam, "--dropout 0.9", func(with, without result) bool { return last(with) > 1.2*last(without) }},
		{nam, "--feature-dropout 0.9", func(with, without result) bool { return last(with) > 1.2*last(without) }},
		{nam, "--output-penalty 100", func(with, without result) bool { return with.record.Score.R2 < without.record.Score.R2/2 }},
		{deep, "--activation gelu", func(with, without result) bool {
			return strings.Contains(with.file, "Erf") && !strings.Contains(without.file, "Erf")
		}},
		{deep, "--dropout 0.9", func(with, without result) bool { return last(with) > 1.2*last(without) }},
		{deep, "--batch-norm", func(with, without result) bool {
			return strings.Contains(with.file, ".normed") && !strings.Contains(without.file, ".normed")
		}},
		{deep, "--embedding-dim 100", func(with, without result) bool { return len(with.file) > len(without.file)+4*98*64 }},
		{deep, "--no-first-bias", func(with, without result) bool { return with.file != without.file }},
		{deep, "--initialization he", func(with, without result) bool { return with.file != without.file }},
		{two, "--separate", func(with, without result) bool {
			return strings.Contains(with.file, "deep.sigma") && !strings.Contains(without.file, "deep.sigma")
		}},
		{deep, "--weight-decay 10", func(with, without result) bool { return with.record.Score.R2 < without.record.Score.R2/2 }},
		{deep, "--learning-rate 0.00001", func(with, without result) bool { return with.record.Score.R2 < without.record.Score.R2/2 }},
		{deep, "--schedule cosine", func(with, without result) bool {
			return rate(with, 12) < rate(with, 1)/100 && rate(without, 12) == 0.003
		}},
		{deep, "--schedule step --step-epochs 5 --step-factor 0.1", func(with, _ result) bool {
			return rate(with, 5) == 0.003 && rate(with, 6) < 0.00031 && rate(with, 11) < 0.000031
		}},
		{deep, "--optimizer sgd", func(with, without result) bool { return with.file != without.file }},
		{append(deep, "--optimizer", "sgd"), "--momentum 0", func(with, without result) bool { return last(with) > last(without) }},
		{append(deep, "--optimizer", "adamw", "--epochs", "3"), "--weight-decay 300", func(with, without result) bool { return with.record.Score.R2 < without.record.Score.R2/2 }},
		{two, "--no-warm-start", func(with, without result) bool {
			return with.record.Epochs[0].Train > without.record.Epochs[0].Train+0.02
		}},
	} {
		key := strings.Join(c.args, " ")
		without, ok := base[key]
		if !ok {
			without = train(c.args...)
			base[key] = without
		}
		with := train(append(append([]string{}, c.args...), strings.Fields(c.flags)...)...)
		if !c.changed(with, without) {
			t.Errorf("%s %s: R2 %g, %g without; losses %+v, %+v without; %d bytes, %d without\n%s", key, c.flags, with.record.Score.R2, without.record.Score.R2,
				with.record.Epochs, without.record.Epochs, len(with.file), len(without.file), with.inspect)
		}
	}
}

// TestTrainingFlagsRefused: values that no training has, and flags without what they are
// about.
func TestTrainingFlagsRefused(t *testing.T) {
	t.Parallel()
	for args, want := range map[string]string{
		"--activation swish":                          `--activation "swish": it is relu, relu-n, tanh, sigmoid, softplus or gelu`,
		"--optimizer lbfgs":                           `--optimizer "lbfgs": it is adam, adamw or sgd`,
		"--schedule linear":                           `--schedule "linear": it is constant, cosine or step`,
		"--initialization zeros":                      `--initialization "zeros": it is narrow, pytorch, glorot or he`,
		"--dropout 1":                                 "--dropout 1: it is a share from 0 to less than 1",
		"--feature-dropout -0.1":                      "--feature-dropout -0.1: it is a share from 0 to less than 1",
		"--output-penalty -1":                         "--output-penalty -1: it is a number >= 0, 0 for none",
		"--weight-decay NaN":                          "--weight-decay NaN: it is a number >= 0, 0 for none",
		"--weight-decay Inf":                          "--weight-decay +Inf: it is a number >= 0, 0 for none",
		"--learning-rate 0":                           "--learning-rate 0: it is a number > 0",
		"--momentum 1 --optimizer sgd":                "--momentum 1: it is a number from 0 to less than 1",
		"--step-epochs 0":                             "--step-epochs 0: it is a whole number from 1",
		"--step-factor 0":                             "--step-factor 0: it is a number > 0",
		"--embedding-dim 2000":                        "--embedding-dim 2000: it is a whole number from 0, for half the levels, to 1024",
		"--features x1:x2:x3":                         `--features "x1:x2:x3": it is a column or a pair of columns, as temp:hum`,
		"--features x1:":                              `--features "x1:": it is a column or a pair of columns, as temp:hum`,
		"--products x1":                               `--products "x1": it is a pair of columns, as temp:hum`,
		"--dropout 0.1":                               "--dropout: it is for networks: name their columns with --deep or --features",
		"--deep x1 --exu":                             "--exu: it is for feature networks: name their columns with --features",
		"--features x1 --batch-norm":                  "--batch-norm: it is for the deep part: name its columns with --deep",
		"--deep x1 --momentum 0.5":                    "--momentum: it is for --optimizer sgd",
		"--deep x1 --step-epochs 3":                   "--step-epochs: it is for --schedule step",
		"--features x1:x2 --products x1:x2":           "(x1, x2)",
		"--features x1,x2,g --products x1:g":          `product (x1, g): column "g" is a factor: make it a pair of --features`,
		"--features x1 --products x1:x2":              `product (x1, x2): column "x2" has no feature network of its own: add it to --features`,
		"--deep x1 --batch-norm --batch-size 1":       "batch norm needs batches of more than one row",
		"--formula ~.-nope":                           `no column "nope" in the data`,
		"--deep x1 --embedding-dim 3 --step-factor 2": "--step-factor: it is for --schedule step",
	} {
		dir := t.TempDir()
		rows, out := filepath.Join(dir, "rows.csv"), filepath.Join(dir, "out")
		trainingRows(t, rows)
		o := call(t, append([]string{"train", "--data", rows, "--out", out, "--response", "y"}, strings.Fields(args)...)...)
		if o.status == exitDone || !strings.Contains(o.err, want) {
			t.Errorf("%s: status %d, %s\nwant %s", args, o.status, o.err, want)
		}
		if _, err := os.Stat(out); err == nil {
			t.Errorf("%s wrote %s", args, out)
		}
	}
}

// TestPairsOfColumns: a colon makes a pair, but for one in backquotes.
func TestPairsOfColumns(t *testing.T) {
	t.Parallel()
	columns, pairs, err := columnsAndPairs("features", []string{"a", "b c", "a:b c", "`a:b`", "`a:b`:c"})
	if err != nil || strings.Join(columns, "|") != "a|b c|a:b" || len(pairs) != 2 || pairs[0] != [2]string{"a", "b c"} || pairs[1] != [2]string{"a:b", "c"} {
		t.Errorf("%q, %q, %v", columns, pairs, err)
	}
}

// TestTrainDot: "." is a term for each column without another role, the same as the printed
// formula, and the file holds every term as it was fitted.
func TestTrainDot(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	rows := filepath.Join(dir, "rows.csv")
	trainingRows(t, rows)
	train := func(out string, args ...string) (model, said string) {
		o := done(t, append([]string{"train", "--data", rows, "--out", filepath.Join(dir, out), "--deep", "x1,x2", "--weights", "b", "--epochs", "2"}, args...)...)
		return read(t, dir, out, fileNetwork), o.err
	}
	dot, said := train("dot", "--formula", "y ~ x1 + . - x3", "--validation", "0.1")
	_, formula, found := strings.Cut(said, "--formula '")
	formula, _, _ = strings.Cut(formula, "'\n")
	if !found || strings.Contains(formula, "x3") || strings.Contains(formula, "b)") || !strings.Contains(formula, "s(x2") || !strings.Contains(formula, " g") {
		t.Fatalf("the formula is %q in\n%s", formula, said)
	}
	if written, _ := train("copied", "--formula", formula, "--validation", "0.1"); written != dot {
		t.Error("the printed formula gives another network")
	}
	result := filepath.Join(dir, "result")
	o := done(t, "decompose", "--model", filepath.Join(dir, "dot", fileNetwork), "--data", rows, "--out", result)
	if strings.Contains(o.err, "passed over") {
		t.Errorf("decompose: %s", o.err)
	}
}

// TestTrainDummies: dummies, crosses, surfaces and random effects are terms of the file.
func TestTrainDummies(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	rows, result := filepath.Join(dir, "rows.csv"), filepath.Join(dir, "result")
	trainingRows(t, rows)
	lines := strings.Split(strings.TrimSpace(read(t, rows)), "\n")
	for i := range lines { // d is 0, 1 or 2
		more := ",d0,d1,d2"
		if i > 0 {
			more = map[string]string{"0": ",1,0,0", "1": ",0,1,0", "2": ",0,0,1"}[strings.Split(lines[i], ",")[3]]
		}
		lines[i] += more
	}
	write(t, rows, strings.Join(lines, "\n")+"\n")
	done(t, "train", "--data", rows, "--out", filepath.Join(dir, "out"), "--epochs", "2", "--deep", "x1", "--formula", `y ~ onehot(d0,d1,d2) + x1:x2 + s(x1,x3,k=8) + s(g,bs="re")`)
	o := done(t, "decompose", "--model", filepath.Join(dir, "out", fileNetwork), "--data", rows, "--out", result)
	doc := document(t, result)
	text, err := json.Marshal(doc)
	if err != nil {
		t.Fatal(err)
	}
	for _, term := range []string{"onehot(d0,d1,d2)", "x1:x2", "s(x1,x3)", "s(g)"} {
		if !strings.Contains(string(text), `"name":"`+term+`"`) {
			t.Errorf("no term %s:\n%s", term, o.err)
		}
	}
}

// TestTrainFormats: the same rows give the same network, whatever the format of their file.
func TestTrainFormats(t *testing.T) {
	t.Parallel()
	out, first := filepath.Join(t.TempDir(), "out"), ""
	for _, name := range []string{"rows.csv", "rows_snappy.parquet", "rows_file.arrow", "rows_stream.arrows", "rows.feather"} {
		path := filepath.Join("..", "..", "data", "files", "testdata", "golden", name)
		done(t, "train", "--data", path, "--out", out, "--formula", "f32 ~ s(i8, k=5) + text", "--deep", "i16,u8,cat", "--epochs", "2")
		if network := read(t, out, fileNetwork); first == "" {
			first = network
		} else if network != first {
			t.Errorf("%s gives another network than rows.csv", name)
		}
	}
}

// TestTrainKeepsMissing: with --na keep the mean of the training rows stands for a missing
// number, in training and in the file; terms and the response need values.
func TestTrainKeepsMissing(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	place := func(name string) string { return filepath.Join(dir, name) }
	trainingRows(t, place("rows.csv"))
	lines := strings.Split(strings.TrimSpace(read(t, place("rows.csv"))), "\n")
	sum, n := 0.0, 0.0
	for i, line := range lines[1:] {
		if i%5 != 0 {
			sum, n = sum+number(t, strings.Split(line, ",")[0]), n+1
		}
	}
	with := func(name, cell string, column int) {
		changed := slices.Clone(lines)
		for i := 1; i < len(changed); i += 5 {
			cells := strings.Split(changed[i], ",")
			cells[column] = cell
			changed[i] = strings.Join(cells, ",")
		}
		write(t, place(name), strings.Join(changed, "\n")+"\n")
	}
	classes := lines[0] + ",class\n"
	for i, line := range lines[1:] {
		classes += line + []string{",a\n", ",b\n", ",\n"}[i%3]
	}
	write(t, place("classes.csv"), classes)
	with("missing.csv", "", 0)
	with("filled.csv", strconv.FormatFloat(sum/n, 'g', -1, 64), 0)
	with("response.csv", "", 5)
	train := []string{"train", "--na", "keep", "--out", place("out"), "--epochs", "5", "--validation", "0", "--formula", "y ~ s(x2, k=5)"}
	done(t, append(train, "--data", place("missing.csv"), "--deep", "x1,g", "--features", "x1")...)
	done(t, "decompose", "--model", filepath.Join(place("out"), fileNetwork), "--data", place("missing.csv"), "--na", "keep", "--out", place("result"))
	var eta [2][]float64
	for i, name := range []string{"missing.csv", "filled.csv"} {
		done(t, "apply", "--decomposition", place("result"), "--data", place(name), "--na", "keep", "--out", place("parts.csv"))
		header, records := table(t, place("parts.csv"))
		at := slices.Index(header, "eta")
		for _, r := range records {
			eta[i] = append(eta[i], number(t, r[at]))
		}
	}
	if len(eta[0]) != len(lines)-1 {
		t.Fatalf("%d rows of %d", len(eta[0]), len(lines)-1)
	}
	for i, v := range eta[0] {
		if math.Abs(v-eta[1][i]) > 1e-5*math.Abs(v) { // the file's mean is a float32
			t.Errorf("row %d: %g, %g where the mean is filled in", i+1, v, eta[1][i])
		}
	}
	for _, c := range []struct{ data, deep, formula, want string }{
		{"missing.csv", "x2", "y ~ x1", `column "x1", data row 1: data: a value is missing`},
		{"response.csv", "x1", "y ~ x2", `column "y", data row 1: data: a value is missing`},
		{"classes.csv", "x1", "class ~ x2", `column "class", data row 3: data: a value is missing`},
		{"missing.csv", "x2", "y ~ .", `column "x1", data row 1: data: a value is missing`},
	} {
		family := map[bool]string{true: "categorical", false: "gaussian"}[c.data == "classes.csv"]
		o := call(t, "train", "--na", "keep", "--out", place("refused"), "--data", place(c.data), "--formula", c.formula, "--deep", c.deep, "--family", family)
		if o.status != exitFailed || !strings.Contains(o.err, c.want) || !strings.Contains(o.err, "--na drop") {
			t.Errorf("%+v: status %d, %s", c, o.status, o.err)
		}
	}
}
