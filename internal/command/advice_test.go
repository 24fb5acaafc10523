package command

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pho-go/pho/adapters/onnx"
	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/decompose"
	"github.com/pho-go/pho/internal/app/wiring"
	"github.com/pho-go/pho/internal/base/onnxpb"
)

// The flag that helps follows the words of the library, however they are wrapped.
func TestAdvice(t *testing.T) {
	cell := func(column string, err error) error {
		return fmt.Errorf("pass 1: %w", &data.CellError{File: "a.csv", Row: 1, Column: column, Reason: "r", Err: err})
	}
	for _, c := range []struct {
		err  error
		want string
	}{
		{cell("x", data.ErrMissingValue), " with --na drop; --na keep lets a model fill them in that can"},
		{data.ErrMissingValue, " with --na drop"}, // a term needs it, or a tensor
		{cell("x.1", data.ErrText), " with --factor x.1"},
		{cell("my col", data.ErrText), ` with --factor "my col"`},
		{cell("x", nil), ""},
		{data.ErrText, ""}, // of a batch: it is no file's column
		{&data.DelimiterError{Delimiter: ';'}, `: try --delimiter ";"`},
		{&data.DelimiterError{Delimiter: '\t'}, ": try --delimiter tab"},
		{&wiring.MovedError{Err: errors.New("not there")}, "; if the network has moved, give its place with --model"},
		{&wiring.MovedError{Err: onnx.ErrMemory}, "; --max-memory sets the bound"}, // it is there
		{&wiring.ClipError{Err: errors.New("0")}, ": pho decompose moves them that far from 0 and 1 with --clip 1e-6, or decomposes the probabilities as they are with --link identity"},
		{&wiring.RefusedError{Err: errors.New("rows are mixed")}, elsewhere},
		{&wiring.RefusedError{Err: onnx.ErrMemory}, "; --max-memory sets the bound"},
		{errors.New("other"), ""},
	} {
		if got := advice(c.err); got != c.want {
			t.Errorf("advice on %v is %q, want %q", c.err, got, c.want)
		}
	}
}

// An option is called by its flag wherever in an error it stands, each of several.
func TestInFlags(t *testing.T) {
	weights := &wiring.OptionError{Option: "weights", Err: errors.New("there is no weights")}
	deep := &onnx.OptionError{Option: "Deep", Value: "u", Reason: ` and Options.Learned "v" name the same part of the network`}
	for _, c := range []struct {
		err  error
		want string
	}{
		{weights, "--weights: there is no weights"},
		{fmt.Errorf("weights of %q: %w", "a.onnx", weights), `weights of "a.onnx": --weights: there is no weights`},
		{deep, `onnx: --deep "u" and --learned "v" name the same part of the network`},
		{usageError{errors.Join(errors.New("first"), weights, deep)},
			"first\n--weights: there is no weights\n" + `onnx: --deep "u" and --learned "v" name the same part of the network`},
		{errors.New("a smaller Options.MaxOrder; Options.Predictor"), "a smaller --max-order; --predictor"},
		{trainingError{errors.New("lower Training.LearningRate")}, "lower --learning-rate"},
		{errors.New(`no column "Training.Epochs"`), `no column "Training.Epochs"`},
	} {
		if got := inFlags(c.err); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}

// Parts of the memory say by flags what makes them smaller; those of the command stay.
func TestMemoryInFlags(t *testing.T) {
	m := decompose.Memory{
		{Name: "moments", Bytes: 1, Advice: decompose.FewerWorkers + ", or " + decompose.FewerColumns},
		{Name: "kept outputs", Bytes: 1, Advice: decompose.OutputsInFile},
		{Name: "files", Bytes: 1, Advice: "a smaller --batch-size"},
	}
	want := []string{"fewer --workers, or " + decompose.FewerColumns, "--zeta-cache FILE", "a smaller --batch-size"}
	for i, p := range memoryInFlags(m) {
		if p.Advice != want[i] {
			t.Errorf("%s: %q, want %q", p.Name, p.Advice, want[i])
		}
	}
	if strings.Contains(m[0].Advice, "--") {
		t.Error("the library's own estimate was changed")
	}
}

// Errors of every library reach the user in flags, once, from each command that can meet
// them.
func TestCommandsSpeakInFlags(t *testing.T) {
	temp := t.TempDir()
	place := func(name string) string { return filepath.Join(temp, name) }
	good := rows(40)
	write(t, place("rows.csv"), good)
	write(t, place("unseen.csv"), strings.ReplaceAll(good, ",b,", ",z,"))
	write(t, place("column.csv"), strings.Replace(good, ",x2,", ",u2,", 1))
	lines := strings.SplitAfter(good, "\n")
	lines[5] = "high" + lines[5][strings.Index(lines[5], ","):]
	write(t, place("text.csv"), strings.Join(lines, ""))
	lines[5] = lines[5][len("high"):]
	write(t, place("missing.csv"), strings.Join(lines, ""))
	b := onnxpb.NewBuilder(13)
	b.AddInput("a", onnxpb.TensorProto_FLOAT, onnxpb.Rows, 2)
	b.AddInput("b", onnxpb.TensorProto_FLOAT, onnxpb.Rows, 2)
	b.AddNode("Add", []string{"a", "b"}, "y")
	b.Output("y", onnxpb.TensorProto_FLOAT, onnxpb.Rows, 2)
	two, err := b.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	write(t, place("two.onnx"), string(two))
	net := golden("ssn_op13")
	done(t, "decompose", "--model", net, "--data", place("rows.csv"), "--input", "x=x0..x4", "--formula", "~ g", "--out", place("result"))
	if o := call(t, "train", "--formula", "y ~ x1", "--deep", "x2", "--epochs", "1", "--data", place("rows.csv"), "--out", place("result")); o.status != exitFailed ||
		!strings.HasPrefix(o.err, "pho: --out ") {
		t.Errorf("train into a decomposition: status %d, %s", o.status, o.err)
	}

	decomposed := "decompose --model " + net + " --data TEMP/rows.csv --input x=x0..x4 --out TEMP/out "
	apply := "apply --decomposition TEMP/result --out TEMP/parts.csv --data TEMP/"
	const flats = "decompose --model ../../testdata/docs/pytorch/flats.onnx --data ../../testdata/docs/pytorch/flats.csv --out TEMP/out --na "
	const addends = ` is no term, node or tensor of the network; the addends are `
	const bound = `onnx: initializer "lin.weight" of shape [1 3] needs more than 10 bytes (MaxMemory); --max-memory sets the bound` + "\n"
	for _, c := range []struct{ args, want string }{
		{"inspect --deep nope " + net, `onnx: --deep "nope"` + addends},
		{"inspect --predictor nope " + net, `onnx: --predictor "nope": the network computes no tensor`},
		{decomposed + "--deep nope", `onnx: --deep "nope"` + addends},
		{decomposed + "--learned nope", `onnx: --learned "nope"` + addends},
		{decomposed + "--log json --learned nope", `onnx: --learned \"nope\"` + addends},
		{decomposed + "--weights nope", `pho: --weights: there is no column "nope"`},
		{"decompose --model TEMP/two.onnx --data TEMP/rows.csv --out TEMP/out", `onnx: no columns are bound to the inputs "a", "b"; use --input NAME=column,... for each` + "\n"},
		{"decompose --model TEMP/two.onnx --data TEMP/rows.csv --input a=x0,x1 --out TEMP/out", `; name them with --input b=column,...` + "\n"},
		{"inspect --max-memory 10B " + net, bound},
		{decomposed + "--max-memory 10B", bound},
		{"verify --max-memory 10B TEMP/result", bound},
		{"report --max-memory 10B TEMP/result", bound},
		{apply + "rows.csv --max-memory 10B", bound},
		{apply + "rows.csv --max-memory 4kB", "onnx: 40 rows need more than 4000 bytes (MaxMemory); "},
		{decomposed + "--max-memory 1MB --batch-size 1", "pho: --max-memory 1MB: decompose: "},
		{apply + "unseen.csv", `level "z" of column "g" did not occur in the data the term was made from ("a", "b", "c")`},
		{apply + "column.csv", `data: no column "x2" in "TEMP/column.csv"; the nearest name is "`},
		{apply + "text.csv", `column "x0" holds text, where numbers are needed`},
		{flats + "drop --formula rent~s(district)", `column "district" holds text ("`},
		{flats + "keep --formula rent~.", `column "age", data row 17: data: a value is missing, and a term of the column would need it; leave the column out by the formula "~ . - age", fill it in, or leave such rows out with --na drop`},
		{apply + "missing.csv", `line 6 (row 5), column "x0": cell "" is empty; fill it in, or leave such rows out with --na drop; --na keep lets a model fill them in that can` + "\n"},
		{"demo --out TEMP/result", "pho: --out "},
	} {
		o := call(t, strings.Fields(strings.ReplaceAll(c.args, "TEMP", temp))...)
		if want := strings.ReplaceAll(c.want, "TEMP", temp); o.status != exitFailed || !strings.Contains(o.err, want) {
			t.Errorf("pho %s: status %d\n%swant\n%s", c.args, o.status, o.err, want)
		}
		if strings.Contains(o.err, "Options.") || strings.Contains(o.err, "----") {
			t.Errorf("pho %s: words of the library in\n%s", c.args, o.err)
		}
	}
}
