package command

import (
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pho-go/pho/internal/app/resultdir"
	"github.com/pho-go/pho/internal/base/durable"
	"github.com/pho-go/pho/internal/base/revision"
)

// Calls that are wrong whatever the files hold: status 2, and a message with the fault and
// the alternatives.
func TestUsage(t *testing.T) {
	const (
		all      = "there are accumulate, apply, compare, decompose, demo, explain, inspect, merge, monitor, plan, report, serve, solve, summary, train, verify"
		decomp   = "pho decompose --model NET --data DATA --out TEMP/out "
		flagList = "--bands, --batch-size, --checkpoint, --classes, --clip, --cluster, --constant, --contributions, --data, --decimal, --deep, --delimiter, --df, --encoding, --engine, --event, --export-onnx, --factor, --family, --formula, --gamma, --groups, --id, --input, --interactions, --labels, --learned, --levels, --link, --log, --max-memory, --max-order, --members-from, --method, --model, --na, --na-values, --no-structure, --offset, --orders, --out, --phonam, --precision, --predictions, --predictor, --rank-tolerance, --reference, --refit, --response, --resume, --route, --seed, --select, --sheet, --smoothing, --sp, --terms, --text, --title, --weights, --workers, --zeta-cache"
	)
	for _, c := range []badCase{
		{args: "pho fit", want: `unknown command "fit"; ` + all},
		{args: "pho aply", want: `unknown command "aply"; did you mean apply? (` + all + `)`},
		{args: "pho --verbose", want: `unknown flag --verbose (pho has --version)`},
		{args: "pho inspect", want: `MODEL.onnx is missing`},
		{args: "pho inspect NET DATA", want: `unexpected argument "DATA"`},
		{args: "pho inspect NET --max-memory lots", want: `--max-memory: "lots" is not a size; write 512MiB, 4GiB or a number of bytes`},
		{args: "pho report", want: `DIR is missing`},
		{args: "pho serve --stdio", want: `DIR is missing`},
		{args: "pho serve TEMP/earlier", want: `--listen or --stdio is missing: say where to serve`},
		{args: "pho demo now", want: `unexpected argument "now"`},
		{args: "pho demo --rows 3", want: `--rows 3: the demo takes 1000 to 10000000`},
		{args: "pho demo --rows many", want: `--rows "many": it is a whole number`},
		{args: "pho demo --seed -1", want: `--seed "-1": it is a whole number that is not negative`},
		{args: "pho demo --out", want: `--out is given without a value`},
		{args: "pho apply --out -", want: `--decomposition is missing: name the directory that decompose wrote`},
		{args: "pho apply --decomposition TEMP/earlier", want: `--out is missing: name a CSV file, or - for standard output`},
		{args: "pho apply --decomposition TEMP/earlier --out -", want: `--data is missing: name a file, or - for standard input`},
		{args: "pho decompose", want: "--model is missing: name an ONNX file; of a model of any other kind, columns of the data with its predictions: --predictions COLUMN\n--out is missing: name the result directory\n--data is missing: name a file, or - for standard input"},
		{args: decomp + "--outt x", want: `unknown flag --outt; did you mean --out? (pho decompose has ` + flagList + `)`},
		{args: decomp + "-q", want: `unknown flag -q; flags are written with two dashes, and data files as ./-name`},
		{args: decomp + "--df s(x)=5,6", want: `--df "s(x)=5,6": a term has one number of degrees of freedom`},
		{args: decomp + "--smoothing cv", want: `--smoothing cv and --groups COLUMN go together: the groups are left out one after the other`},
		{args: decomp + "--groups g", want: `--smoothing cv and --groups COLUMN go together: the groups are left out one after the other`},
		{args: decomp + "--bands wide", want: `--bands "wide": it is robust, rows, projection or none`},
		{args: decomp + "--bands none --cluster g", want: `--cluster "g" is for --bands robust or rows, not for --bands none`},
		{args: decomp + "--terms both", want: `--terms "both": they are hierarchical or fitted`},
		{args: decomp + "--refit all", want: `--refit "all": it is total or left out`},
		{args: decomp + "--route svd", want: `--route "svd": it is gram or qr`},
		{args: decomp + "--contributions xlsx", want: `--contributions "xlsx": it is csv, parquet or none`},
		{args: decomp + "--method phonam", want: `--method "phonam": it is pho or phogam`},
		{args: decomp + "--levels g", want: `--levels "g": want COLUMN=level,level, and levels with commas in double quotes`},
		{args: decomp + "--levels g=a,a", want: `--levels "g=a,a": level "a" is there twice`},
		{args: decomp + "--levels g=a,b --levels g=b,a", want: `--levels: column "g" has two orders`},
		{args: decomp + "--na skip", want: `--na "skip": it is error, drop or keep`},
		{args: decomp + "--batch-size 0", want: `--batch-size "0": it is a number of rows, at least 1`},
		{args: decomp + "--batch-size -1", want: `--batch-size "-1": it is a number of rows, at least 1`},
		{args: decomp + "--engine fast", want: `--engine "fast": it is go or onnxruntime`},
		{args: decomp + "--engine onnxruntime --precision float64", want: `--precision float64: the engine onnxruntime computes in the types of the network's file, float32 for most: leave it out`},
		{args: decomp + "--precision half", want: `--precision "half": it is float64 or float32`},
		{args: decomp + "--workers -2", want: `--workers -2 is negative`},
		{args: decomp + "--max-order -2", want: `--max-order -2 is negative`},
		{args: decomp + "--delimiter ab", want: `--delimiter "ab": use a comma, semicolon, tab or another ASCII mark`},
		{args: decomp + "--delimiter a", want: `--delimiter "a": use a comma, semicolon, tab or another ASCII mark`},
		{args: decomp + "--gamma 0", want: `--gamma 0: it is a number > 0, 1 by default`},
		{args: decomp + "--gamma NaN", want: `--gamma NaN: it is a number > 0, 1 by default`},
		{args: decomp + "--rank-tolerance 1e-14", want: `--rank-tolerance 1e-14: it is at least 1e-13 (1e-6 with --route gram) and less than 1`},
		{args: decomp + "--log text", want: `--log "text": it is json or nothing`},
		{args: decomp + "--sp 3", want: `--sp "3": write 's(x2)=0.3'`},
		{args: decomp + "--sp s(x2)=-1", want: `--sp "s(x2)=-1": "-1" is not a number >= 0`},
		{args: decomp + "--family binomial", want: `--family binomial needs a response: give --response COLUMN or 'y ~ ...'`},
		{args: decomp + "--family betta --response y", want: `--family: unknown family "betta": did you mean beta? (known: gaussian, binomial, poisson, negative-binomial, gamma, beta, student-t, categorical, ordinal, tweedie, inverse-gaussian, zip, lognormal, weibull, log-logistic, cox)`},
		{args: decomp + "--response y --formula n~x1", want: `the response is "y" and, in the formula "n~x1", "n": name one`},
		{args: decomp + "--response y --formula", more: []string{"~ y"}, want: "--formula: formula, character 3: \"y\" is the response; it cannot explain itself\n  ~ y\n    ^"},
		{args: decomp + "--response y --formula", more: []string{"~ x0 + s(x1, y)"}, want: "--formula: formula, character 14: \"y\" is the response; it cannot explain itself\n  ~ x0 + s(x1, y)\n               ^"},
		{args: decomp + "--response y --formula", more: []string{"~ te(x0, y)"}, want: "--formula: formula, character 10: \"y\" is the response; it cannot explain itself\n  ~ te(x0, y)\n           ^"},
		{args: decomp + "--response y --formula", more: []string{"~ s(x0, by=y)"}, want: "--formula: formula, character 12: \"y\" is the response; it cannot explain itself\n  ~ s(x0, by=y)\n             ^"},
		{args: decomp + "--response y --formula", more: []string{"~ s(y, bs='re') + x0:x1"}, want: "--formula: formula, character 5: \"y\" is the response; it cannot explain itself\n  ~ s(y, bs='re') + x0:x1\n      ^"},
		{args: decomp + "--formula", more: []string{"~ factor(y):x0", "--formula", "sigma = y ~ x1"}, want: "--formula: formula, character 10: \"y\" is the response; it cannot explain itself\n  ~ factor(y):x0\n           ^"},
		{args: decomp + "--response y --weights y", want: `--weights: column "y" is the response`},
		{args: decomp + "--response y --offset y", want: `--offset: column "y" is the response`},
		{args: decomp + "--formula", more: []string{"~ x0 + s(x1, bs=\"ps\""}, want: "--formula: formula, character 21: expected \",\" or \")\" in s(...), found the end of the formula\n  ~ x0 + s(x1, bs=\"ps\"\n                      ^"},
		{args: decomp + "--formula", more: []string{"~ x0 ++ x1"}, want: "--formula: formula, character 7: expected a term, found \"+\"\n  ~ x0 ++ x1\n        ^"},
		{args: decomp + "--formula", more: []string{"~ q(x1)"}, want: "--formula: formula, character 3: unknown function \"q\"; the functions are factor, onehot, ridge, s, te, ti\n  ~ q(x1)\n    ^"},
		{args: decomp + "--formula", more: []string{`~ s(x1, kk=3)`}, want: "--formula: formula, character 9: unknown argument \"kk\" of s(); did you mean k?\n  ~ s(x1, kk=3)\n          ^"},
	} {
		c.status = exitUsage
		name := strings.Join(append([]string{c.args}, c.more...), " ")
		t.Run(strings.TrimPrefix(name, decomp), c.run)
	}
}

// Help and version go to standard output and show how to begin.
func TestHelp(t *testing.T) {
	for _, c := range []struct {
		args string
		want []string
	}{
		{"", []string{"pho demo", "Available Commands:", "decompose", "inspect"}},
		{"--help", []string{"pho demo", "--version"}},
		{"help decompose", []string{"Examples:", "--formula 'y ~ x1"}},
		{"decompose --help", []string{"Examples:", "--formula 'y ~ x1"}},
		{"apply --help", []string{"Examples:", "--out -"}},
		{"inspect --help", []string{"Examples:", "--json"}},
		{"report --help", []string{"Examples:", "--model"}},
		{"verify --help", []string{"Examples:", "--sign"}},
		{"demo --help", []string{"Examples:", "--out"}},
		{"--version", []string{revision.Maker}},
	} {
		o := call(t, strings.Fields(c.args)...)
		if o.status != exitDone || o.err != "" {
			t.Errorf("pho %s: status %d, %s", c.args, o.status, o.err)
		}
		for _, want := range c.want {
			if !strings.Contains(o.out, want) {
				t.Errorf("pho %s: no %q in\n%s", c.args, want, o.out)
			}
		}
	}
}

// A result directory is replaced as a whole or not at all.
func TestDirectoryRules(t *testing.T) {
	t.Parallel()
	temp := t.TempDir()
	place := func(names ...string) string { return filepath.Join(append([]string{temp}, names...)...) }
	write(t, place("rows.csv"), rows(30))
	decompose := func(out string, more ...string) outcome {
		t.Helper()
		return call(t, append([]string{"decompose", "--model", golden("ssn_op13"), "--data", place("rows.csv"), "--input", "x=x0..x4", "--out", out}, more...)...)
	}
	good := func(out string, more ...string) {
		t.Helper()
		if o := decompose(out, more...); o.status != exitDone {
			t.Fatalf("status %d: %s", o.status, o.err)
		}
	}
	bad := func(out, want string) {
		t.Helper()
		before := contents(t, temp)
		o := decompose(out)
		if o.status != exitFailed || !strings.HasPrefix(o.err, "pho: --out "+want) {
			t.Errorf("status %d, message\n%swant\npho: --out %s", o.status, o.err, want)
		}
		if !maps.Equal(before, contents(t, temp)) {
			t.Error("files changed")
		}
	}
	mkdir := func(path string) string {
		t.Helper()
		if err := os.MkdirAll(path, 0o777); err != nil {
			t.Fatal(err)
		}
		return path
	}

	good(place("new", "er", "result"))
	good(mkdir(place("empty")))
	first := read(t, place("empty", resultdir.Decomposition))
	good(place("empty"), "--formula", "~ g") // an earlier result
	if first == read(t, place("empty", resultdir.Decomposition)) {
		t.Error("the earlier result is still there")
	}
	write(t, place("empty", "."+resultdir.Report+durable.TempMark+"ABC"), "") // as an interrupted report leaves it
	good(place("empty"))
	if first != read(t, place("empty", resultdir.Decomposition)) {
		t.Error("equal work, other bytes")
	}
	if err := os.Symlink(place("empty"), place("link")); err != nil {
		t.Fatal(err)
	}
	good(place("link"))
	if info, err := os.Lstat(place("link")); err != nil || info.Mode()&os.ModeSymlink == 0 {
		t.Error("the link was replaced, not what it points to")
	}

	write(t, place("empty", "notes.txt"), "mine")
	bad(place("empty"), `"`+place("empty")+`" holds "notes.txt", which is not part of a result: give an empty or a new directory`)
	write(t, filepath.Join(mkdir(place("other")), resultdir.Run), "{}")
	bad(place("other"), `"`+place("other")+`" is neither empty nor a result (it has no decomposition.json): give an empty or a new directory`)
	mkdir(place("nested", resultdir.Decomposition))
	bad(place("nested"), `"`+place("nested")+`" holds "decomposition.json", which is not part of a result`)
	bad(place("rows.csv"), `"`+place("rows.csv")+`": not a directory: give a directory`)
	bad(place("rows.csv", "result"), `"`+place("rows.csv", "result")+`": not a directory: give a directory`)
	bad("/proc/result", `"/proc/result" cannot be written: `)
	if os.Getuid() != 0 { // root may write anywhere
		locked := mkdir(place("locked"))
		if err := os.Chmod(locked, 0o555); err != nil {
			t.Fatal(err)
		}
		bad(filepath.Join(locked, "result"), `"`+filepath.Join(locked, "result")+`" cannot be written: no directory can be made beside it: permission denied`)
	}
	entries, err := os.ReadDir(temp)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if strings.Contains(e.Name(), durable.TempMark) {
			t.Errorf("%s was left behind", e.Name())
		}
	}
}

// A file that appears in the result's directory while the work goes on is not
// removed with the earlier result.
func TestForeignFileAppears(t *testing.T) {
	target := filepath.Join(t.TempDir(), "result")
	d, err := durable.NewDir(nil, resultdir.Files(), target)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Discard()
	if err := os.Mkdir(target, 0o777); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(target, "notes.txt"), "mine")
	if err := d.Commit(); err == nil || !strings.Contains(err.Error(), `holds "notes.txt"`) {
		t.Errorf("commit: %v", err)
	}
	d.Discard()
	if read(t, target, "notes.txt") != "mine" {
		t.Error("the file has changed")
	}
}
