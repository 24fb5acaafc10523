package command

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pho-go/pho/internal/app/resultdir"
)

// flowers writes rows of three classes by their names and by numbers that are not places.
func flowers(t *testing.T, path string) {
	rng := rand.New(rand.NewPCG(6, 6))
	var text strings.Builder
	text.WriteString("a,b,g,species,number\n")
	for range 400 {
		a, b, g := rng.NormFloat64(), rng.NormFloat64(), rng.IntN(2)
		k, most := 0, math.Inf(-1)
		for c, eta := range []float64{0, 2*a + float64(g), 1.5*math.Sin(2*b) + a*b} {
			if v := eta - math.Log(-math.Log(rng.Float64())); v > most {
				k, most = c, v
			}
		}
		fmt.Fprintf(&text, "%.5f,%.5f,%s,%s,%s\n", a, b, []string{"dry", "wet"}[g], []string{"iris", "rose", "tulip"}[k], []string{"1", "2.5", "10"}[k])
	}
	write(t, path, text.String())
}

// TestTrainClasses: a response of classes, text or numbers, goes from training to
// contributions of new rows: the file knows the classes and their family.
func TestTrainClasses(t *testing.T) {
	dir := t.TempDir()
	rows := filepath.Join(dir, "rows.csv")
	flowers(t, rows)
	for response, names := range map[string]string{"species": "iris rose tulip", "number": "1 2.5 10"} {
		for kind, args := range map[string][]string{
			"ssn": {"--formula", response + " ~ g + s(b, k=6)", "--deep", "a,b"},
			"nam": {"--kind", "nam", "--response", response, "--features", "a,b"},
			"mlp": {"--kind", "mlp", "--response", response, "--deep", "a,b,g"},
		} {
			t.Run(response+" "+kind, func(t *testing.T) {
				out, result := filepath.Join(t.TempDir(), "trained"), filepath.Join(t.TempDir(), "result")
				o := done(t, append([]string{"train", "--data", rows, "--out", out, "--family", "categorical", "--epochs", "30", "--seed", "1"}, args...)...)
				for _, want := range []string{"classes of the response: ", "validation rows: accuracy ", "(always the most frequent class: ", "; without networks "} {
					if !strings.Contains(o.err, want) {
						t.Errorf("train does not say %q:\n%s", want, o.err)
					}
				}
				var trained struct {
					Family     string
					Predictors []string
					Classes    []string
					Score      map[string]any
				}
				if err := json.Unmarshal([]byte(read(t, out, fileTraining)), &trained); err != nil {
					t.Fatal(err)
				}
				if trained.Family != "categorical" || strings.Join(trained.Classes, " ") != names || strings.Join(trained.Predictors, " ") != names ||
					trained.Score["accuracy"] == nil || trained.Score["most_frequent"] == nil || trained.Score["deviance_explained"] == nil || trained.Score["rmse"] != nil {
					t.Errorf("training.json: %+v", trained)
				}
				model := filepath.Join(out, fileNetwork)
				first := strings.Fields(names)[0]
				if o := done(t, "inspect", model); !strings.Contains(o.out, fmt.Sprintf("response %q has the classes: 0 = %q", response, first)) {
					t.Errorf("inspect does not tell the classes:\n%s", o.out)
				}
				o = done(t, "decompose", "--model", model, "--data", rows, "--response", response, "--out", result)
				if !strings.Contains(o.err, "family categorical: that is what the network's file says") || !strings.Contains(o.err+o.out, "the most probable class is right in") {
					t.Errorf("decompose says:\n%s%s", o.out, o.err)
				}
				done(t, "verify", result)
				predictors, _, _ := shares(t, result)
				if strings.Join(predictors, " ") != names {
					t.Errorf("predictors %q", predictors)
				}
				applied := done(t, "apply", "--decomposition", result, "--data", rows, "--out", "-")
				if applied.out != read(t, result, resultdir.Contributions) {
					t.Error("apply on the same rows gives other contributions")
				}
			})
		}
	}
}

// TestTrainOrdinal: levels are the numbers of the response; decompose takes the family from
// the file and estimates the thresholds for its predictor again: those of training, of all rows.
func TestTrainOrdinal(t *testing.T) {
	dir := t.TempDir()
	rows, out, result := filepath.Join(dir, "rows.csv"), filepath.Join(dir, "trained"), filepath.Join(dir, "result")
	flowers(t, rows)
	o := done(t, "train", "--data", rows, "--out", out, "--family", "ordinal", "--epochs", "20", "--formula", "number ~ g + s(b, k=6)", "--deep", "a,b", "--validation", "0")
	for _, want := range []string{"levels of the response: [1 2.5 10], thresholds of the network's predictor: [", "training rows: accuracy ", "deviance explained "} {
		if !strings.Contains(o.err, want) {
			t.Errorf("train does not say %q:\n%s", want, o.err)
		}
	}
	_, cuts, _ := strings.Cut(o.err, "predictor: [")
	cuts, _, _ = strings.Cut(cuts, "]")
	o = done(t, "decompose", "--model", filepath.Join(out, fileNetwork), "--data", rows, "--response", "number", "--out", result)
	_, again, _ := strings.Cut(o.err, "thresholds of the predictor at [")
	again, _, _ = strings.Cut(again, "]")
	was, is := strings.Fields(cuts), strings.Fields(again)
	if len(was) != 2 || len(is) != 2 {
		t.Fatalf("thresholds %q, then %q:\n%s", cuts, again, o.err)
	}
	for k := range was {
		var a, b float64
		fmt.Sscan(was[k], &a)
		fmt.Sscan(is[k], &b)
		if !(math.Abs(a-b) < 1e-3) { // the file's predictor is float32
			t.Errorf("thresholds %q, then %q", cuts, again)
		}
	}
	done(t, "verify", result)
}
