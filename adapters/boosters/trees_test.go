package boosters

import (
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const twoTrees = `{"format": "pho.trees/1", "library": "by hand", "link": "identity", "base": [10],
 "columns": [{"name": "x"}, {"name": "c", "categories": ["a", "b", "d"]}], "sets": [[0, 2]],
 "trees": [
  {"target": 0, "feature": [0, -1, -1], "threshold": [1.5, 0, 0], "set": [-1, -1, -1], "left": [1, 0, 0], "right": [2, 0, 0], "missing_left": [1, 0, 0], "value": [0, 1, 2]},
  {"target": 0, "feature": [1, -1, -1], "threshold": [0, 0, 0], "set": [0, -1, -1], "left": [1, 0, 0], "right": [2, 0, 0], "missing_left": [0, 0, 0], "value": [0, 20, 40]}]}`

// TestTrees: by hand. An unknown text is missing.
func TestTrees(t *testing.T) {
	g, err := Load(strings.NewReader(twoTrees), nil)
	if err != nil {
		t.Fatal(err)
	}
	c := tabledCase{Columns: [][]any{{1.5, math.Nextafter(1.5, 2), nil, 1.0, 2.0}, {"a", "b", "d", "", "e"}}}
	want := []float64{31, 52, 31, 51, 52}
	for i, v := range c.compute(t, g, []string{"prediction"})[0] {
		if v != want[i] {
			t.Errorf("row %d: %v, want %v", i, v, want[i])
		}
	}
	for _, change := range [][2]string{
		{`"left": [1, 0`, `"left": [3, 0`}, {`"set": [0, -1`, `"set": [1, -1`}, {`"feature": [1, -1`, `"feature": [2, -1`}, {`"link": "identity"`, `"link": "softmax"`},
		{`[0, 2]]`, `[2, 0]]`}, {`"value": [0, 1, 2]`, `"value": [0, 1]`}, {`"target": 0`, `"target": 1`}, {`"left": [1, 0`, `"left": [0, 0`}, {`"base": [10]`, `"base": []`},
	} {
		if damaged := strings.Replace(twoTrees, change[0], change[1], 1); damaged == twoTrees {
			t.Errorf("%q is not there", change[0])
		} else if _, err := Load(strings.NewReader(damaged), nil); err == nil {
			t.Errorf("%q for %q: no error", change[1], change[0])
		}
	}
}

// TestReleasedTreesAreRead: the models that each release wrote still predict like the
// estimators they came from.
func TestReleasedTreesAreRead(t *testing.T) {
	paths, err := filepath.Glob("../../testdata/formats/*/trees.json")
	if err != nil || len(paths) == 0 {
		t.Fatal("no files", err)
	}
	for _, path := range paths {
		file, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		defer file.Close()
		g, err := Load(file, nil)
		if err != nil {
			t.Fatal(path, err)
		}
		c := tabledCase{Columns: [][]any{{-0.3913657274532625, -1.9320077729825627, 0.8656892246586101}, {"b", "b", "c"}}}
		want := []float64{0.04254820793778276, 0.15360696172031124, 0.6558011731942601}
		for i, v := range c.compute(t, g, []string{"prediction"})[0] {
			if math.Abs(v-want[i]) > 1e-14 {
				t.Errorf("%s, row %d: %v, want %v", path, i, v, want[i])
			}
		}
	}
}
