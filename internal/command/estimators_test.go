package command

import (
	"encoding/json"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// Estimators of many libraries, as testdata/estimators/make.py left them: a file that predicts what
// the estimator does is computed as the estimator does on its own rows, on the scale of the
// response. Those without such a file, the known lies among them, are decomposed by their predictions.
func TestEstimatorsPredictWhatTheyDo(t *testing.T) {
	folder := filepath.Join("..", "..", "testdata", "estimators")
	var index struct {
		Cases []estimatorCase `json:"cases"`
	}
	if err := json.Unmarshal([]byte(read(t, folder, "index.json")), &index); err != nil {
		t.Fatal(err)
	}
	judged := 0
	for _, c := range index.Cases {
		if c.Model != "" {
			judged++
		}
		t.Run(c.Name, func(t *testing.T) {
			t.Parallel()
			c.judge(t, folder)
		})
	}
	if judged < 60 {
		t.Errorf("%d estimators are judged by their files, want 60 at least", judged)
	}
}

// estimatorCase is an entry of index.json.
type estimatorCase struct {
	Name, Rows, Model, NA, Link string
	Predictions                 []string
	Inputs                      map[string][]string
}

func (c *estimatorCase) judge(t *testing.T, folder string) {
	data, out := filepath.Join(folder, c.Rows), filepath.Join(t.TempDir(), "result")
	args := []string{"decompose", "--data", data, "--formula", "~ 1", "--interactions", "none", "--out", out}
	if c.Model != "" {
		args = append(args, "--model", filepath.Join(folder, c.Model))
	} else {
		args = append(args, "--predictions", strings.Join(c.Predictions, ","), "--link", c.Link, "--clip", c.clip())
	}
	for name, columns := range c.Inputs {
		args = append(args, "--input", name+"="+strings.Join(columns, ","))
	}
	if c.NA != "" {
		args = append(args, "--na", c.NA)
	}
	done(t, args...)
	want := c.columns(t, c.Predictions, data)
	got := onResponse(document(t, out)["predictors"].([]any), func(names []string) [][]float64 {
		return c.columns(t, names, out, "contributions.csv")
	})
	if len(got) == 2*len(want) { // both of two classes
		got = got[len(want):]
	}
	if len(got) != len(want) {
		t.Fatalf("%d predictors, the estimator has %d", len(got), len(want))
	}
	for k, own := range want {
		allowed := 1e-3 * deviation(own)
		for i, v := range own {
			if off := math.Abs(got[k][i] - v); !(off <= allowed) {
				t.Errorf("prediction %d of row %d is %v, the estimator's own %v", k+1, i+1, got[k][i], v)
			}
		}
	}
}

// clip keeps probabilities away from 0 and 1, less than what is allowed.
func (c *estimatorCase) clip() string {
	if c.Link == "logit" || c.Link == "softmax" {
		return "1e-9"
	}
	return "0"
}

// columns reads columns of a CSV file as numbers.
func (c *estimatorCase) columns(t *testing.T, names []string, path ...string) (columns [][]float64) {
	header, records := table(t, path...)
	for _, name := range names {
		at := slices.Index(header, name)
		if at < 0 {
			t.Fatalf("no column %q among %q", name, header)
		}
		values := make([]float64, len(records))
		for i, r := range records {
			values[i] = number(t, r[at])
		}
		columns = append(columns, values)
	}
	return columns
}

// onResponse undoes the links of predictors, by their heads; columns reads their values.
func onResponse(predictors []any, columns func(names []string) [][]float64) [][]float64 {
	var names, heads []string
	for _, p := range predictors {
		own := p.(map[string]any)
		name := "eta"
		if len(predictors) > 1 {
			name = own["name"].(string) + ".eta"
		}
		head, _ := own["head"].(string)
		names, heads = append(names, name), append(heads, head)
	}
	values := columns(names)
	for i := range values[0] {
		sum := 0.0
		for k, head := range heads {
			switch v := &values[k][i]; head {
			case "sigmoid":
				*v = 1 / (1 + math.Exp(-*v))
			case "exp", "softmax":
				*v = math.Exp(*v)
			}
			sum += values[k][i]
		}
		for k, head := range heads {
			if head == "softmax" {
				values[k][i] /= sum
			}
		}
	}
	return values
}

func deviation(values []float64) float64 {
	mean, squares := 0.0, 0.0
	for _, v := range values {
		mean += v / float64(len(values))
	}
	for _, v := range values {
		squares += (v - mean) * (v - mean)
	}
	return math.Sqrt(squares / float64(len(values)))
}
