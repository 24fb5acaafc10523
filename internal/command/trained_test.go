package command

import (
	"encoding/json"
	"fmt"
	"math"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/pho-go/pho/internal/app/resultdir"
)

// textRows writes trainingRows with the response b as no and yes.
func textRows(t *testing.T, path string) {
	t.Helper()
	trainingRows(t, path)
	lines := strings.Split(strings.TrimSpace(read(t, path)), "\n")
	for i, line := range lines[1:] {
		label := ",no"
		if strings.HasSuffix(line, ",1") {
			label = ",yes"
		}
		lines[i+1] = line[:len(line)-2] + label
	}
	write(t, path, strings.Join(lines, "\n")+"\n")
}

// TestTrainText: text columns and class labels go from training to contributions of
// new rows as they stand in the data.
func TestTrainText(t *testing.T) {
	dir := t.TempDir()
	rows, out, result := filepath.Join(dir, "rows.csv"), filepath.Join(dir, "trained"), filepath.Join(dir, "result")
	textRows(t, rows)
	o := done(t, "train", "--data", rows, "--out", out, "--epochs", "4", "--seed", "2", "--family", "binomial",
		"--formula", `b ~ g + x1 + s(x2, k=6) + s(x3, by=g, k=5)`, "--deep", "x1,x2,x3,g")
	for _, want := range []string{
		`classes of the response: "no" is 0, "yes" is 1: the network gives the log-odds of "yes"`,
		`text columns ["g"]: the network reads the number of a level`, "deviance explained ", "validation rows: ",
	} {
		if !strings.Contains(o.err, want) {
			t.Errorf("train does not say %q:\n%s", want, o.err)
		}
	}
	model := filepath.Join(out, fileNetwork)
	if o := done(t, "inspect", model); !strings.Contains(o.out, `input "g" is text: 0 = "a" 1 = "b" 2 = "c"`) || !strings.Contains(o.out, `response "b" is text: 0 = "no" 1 = "yes"`) {
		t.Errorf("inspect does not tell the texts:\n%s", o.out)
	}
	done(t, "decompose", "--model", model, "--data", rows, "--response", "b", "--out", result)
	doc := read(t, result, resultdir.Decomposition)
	for _, want := range []string{`"name": "g"`, `"name": "s(x3):gb"`, `"mcfadden"`} {
		if !strings.Contains(doc, want) {
			t.Errorf("the decomposition has no %s", want)
		}
	}
	if effects := read(t, result, resultdir.Effects); !strings.Contains(effects, "eta,g,after,b,") {
		t.Errorf("no effect of level b of g:\n%.600s", effects)
	}
	applied := done(t, "apply", "--decomposition", result, "--data", rows, "--out", "-")
	if applied.out != read(t, result, resultdir.Contributions) {
		t.Error("apply on the same rows gives other contributions")
	}
	odd := filepath.Join(dir, "odd.csv")
	write(t, odd, strings.Replace(read(t, rows), ",a,", ",zz,", 1))
	o = call(t, "apply", "--decomposition", result, "--data", odd, "--out", "-")
	if want := `the network was trained on the texts ["a" "b" "c"], and "zz" is none of them`; o.status != exitFailed || !strings.Contains(o.err, want) {
		t.Errorf("status %d, %s\nwant %s", o.status, o.err, want)
	}
}

// TestTextThatLooksLikeNumbers: new rows in which a text column happens to hold numbers
// are read as its texts, not as the numbers that the network reads for them.
func TestTextThatLooksLikeNumbers(t *testing.T) {
	dir := t.TempDir()
	rows, out, result := filepath.Join(dir, "rows.csv"), filepath.Join(dir, "trained"), filepath.Join(dir, "result")
	trainingRows(t, rows)
	text := strings.NewReplacer(",a,", ",1,", ",b,", ",2,").Replace(read(t, rows))
	write(t, rows, text)
	done(t, "train", "--data", rows, "--out", out, "--epochs", "3", "--formula", "y ~ g + x1", "--deep", "x1,x2,g")
	done(t, "decompose", "--model", filepath.Join(out, fileNetwork), "--data", rows, "--out", result)
	contributions := strings.SplitAfter(read(t, result, resultdir.Contributions), "\n")
	var some, want strings.Builder
	for i, line := range strings.SplitAfter(text, "\n") {
		if !strings.Contains(line, ",c,") {
			some.WriteString(line)
			want.WriteString(contributions[i])
		}
	}
	write(t, rows, some.String())
	if o := done(t, "apply", "--decomposition", result, "--data", rows, "--out", "-"); o.out != want.String() {
		t.Errorf("rows whose levels are all numbers are split otherwise:\n%.300s\nwant\n%.300s", o.out, want.String())
	}
	write(t, rows, strings.ReplaceAll(some.String(), ",1,", ",0,"))
	if o := call(t, "apply", "--decomposition", result, "--data", rows, "--out", "-"); o.status != exitFailed || !strings.Contains(o.err, `and "0" is none of them`) {
		t.Errorf("a number that is no level: status %d, %s", o.status, o.err)
	}
}

// TestTrainSaysWhatIsSaved: the figures are those of the file, row by row, also of a
// network that was orthogonalized online; ruined training keeps the additive model and
// says so.
func TestTrainSaysWhatIsSaved(t *testing.T) {
	dir := t.TempDir()
	rows, out := filepath.Join(dir, "rows.csv"), filepath.Join(dir, "trained")
	trainingRows(t, rows)
	for name, c := range map[string]struct {
		args []string
		says []string
	}{
		"online":  {[]string{"--orthogonalize", "online", "--epochs", "40"}, []string{"orthogonalized online: the file holds the projection over the training rows", "validation rows: RMSE ", ", R2 0."}},
		"ruined":  {[]string{"--learning-rate", "100", "--epochs", "5"}, []string{"warning: no epoch explains the validation rows better than epoch 0", "Lower --learning-rate (100)", "the best is 0"}},
		"in full": {[]string{"--validation", "0", "--epochs", "5"}, []string{"training rows: RMSE "}},
	} {
		t.Run(name, func(t *testing.T) {
			o := done(t, append([]string{"train", "--data", rows, "--out", out, "--formula", `y ~ x1 + s(x2, k=6)`, "--deep", "x1,x2,x3"}, c.args...)...)
			for _, want := range c.says {
				if !strings.Contains(o.err, want) {
					t.Errorf("train does not say %q:\n%s", want, o.err)
				}
			}
			var doc struct {
				Best     int `json:"best_epoch"`
				Warnings []string
				Score    struct {
					Loss, RMSE, R2 float64
					Additive       float64 `json:"loss_of_additive_model"`
				}
				Epochs []struct{ Validation *float64 }
			}
			if err := json.Unmarshal([]byte(read(t, out, fileTraining)), &doc); err != nil {
				t.Fatal(err)
			}
			if !(doc.Score.Loss <= doc.Score.Additive+1e-6) {
				t.Errorf("loss %v, of the additive model %v", doc.Score.Loss, doc.Score.Additive)
			}
			if (doc.Best == 0) != (len(doc.Warnings) > 0) {
				t.Errorf("best epoch %d, warnings %q", doc.Best, doc.Warnings)
			}
			if doc.Best > 0 && doc.Epochs[doc.Best-1].Validation != nil {
				if v := *doc.Epochs[doc.Best-1].Validation; math.Abs(v-doc.Score.Loss) > 1e-5 {
					t.Errorf("the best epoch has loss %v, the file %v", v, doc.Score.Loss)
				}
			}
		})
	}
}

// TestTrainExactFile: where float32 would lose what tells the rows apart, the file holds
// float64, and is told to.
func TestTrainExactFile(t *testing.T) {
	dir := t.TempDir()
	rows := filepath.Join(dir, "rows.csv")
	trainingRows(t, rows)
	lines := strings.Split(strings.TrimSpace(read(t, rows)), "\n")
	lines[0] += ",seconds"
	for i, line := range lines[1:] {
		x1, err := strconv.ParseFloat(line[:strings.Index(line, ",")], 64)
		if err != nil {
			t.Fatal(err)
		}
		lines[i+1] += fmt.Sprintf(",%.3f", 1.6e9+60*x1)
	}
	write(t, rows, strings.Join(lines, "\n")+"\n")
	for column, exact := range map[string]bool{"x1": false, "seconds": true} {
		out := filepath.Join(dir, "trained")
		o := done(t, "train", "--data", rows, "--out", out, "--formula", "y ~ "+column, "--deep", "x2", "--epochs", "2")
		if strings.Contains(o.err, "the file holds float64") != exact {
			t.Errorf("column %s: %s", column, o.err)
		}
		done(t, "decompose", "--model", filepath.Join(out, fileNetwork), "--data", rows, "--out", filepath.Join(dir, "result"))
	}
}
