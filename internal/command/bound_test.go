package command

import (
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pho-go/pho/internal/app/resultdir"
	"github.com/pho-go/pho/internal/base/onnxpb"
)

// trainedPair writes a network, 2 x[0] - x[1], and rows of the columns it was trained on
// with a response: y near what it says, or a count n near the exponential of that.
// swapped: the columns are in the other order.
func trainedPair(t *testing.T, names [2]string, response string, swapped bool) (net, rows string) {
	t.Helper()
	dir := t.TempDir()
	net, rows = filepath.Join(dir, "net.onnx"), filepath.Join(dir, "rows.csv")
	model(t, net, 2, func(b *onnxpb.Builder) {
		b.AddInit("w", []int{2, 1}, 2, -1)
		b.AddNode("MatMul", []string{"x", "w"}, "y")
	})
	random := rand.New(rand.NewPCG(3, 3))
	header := names[0] + "," + names[1]
	if swapped {
		header = names[1] + "," + names[0]
	}
	text := strings.Builder{}
	text.WriteString(header + "," + response + "\n")
	for range 400 {
		a, b := random.NormFloat64(), random.NormFloat64()
		first, second := a, b
		if swapped {
			first, second = b, a
		}
		eta := 2*a - b
		y := eta + 0.1*random.NormFloat64()
		if response == "n" {
			y = math.Round(math.Exp(eta))
		}
		fmt.Fprintf(&text, "%g,%g,%g\n", first, second, y)
	}
	write(t, rows, text.String())
	return net, rows
}

// TestBoundByPosition: the bindings of columns to inputs are listed if names do not decide
// them, and the quality of the network's predictions comes first.
func TestBoundByPosition(t *testing.T) {
	names := [2]string{"age", "bmi"}
	for _, c := range []struct {
		why, input, response string
		swapped              bool
		starts, has          []string
		warned               bool
		by                   string
	}{
		{"as trained", "", "y", false, []string{"the model's own prediction of y (gaussian): R2 0.99"}, []string{"  [0] age  [1] bmi\n"}, false, "position"},
		{"another order", "", "y", true, []string{"the model's own prediction of y (gaussian): R2 -"},
			[]string{"  [0] bmi  [1] age\n", `warning: the model predicts "y" worse than its mean does (R2 -`, `check the order of the columns (input "x" took them by position)`}, true, "position"},
		{"another order, named", "x=age,bmi", "y", true, []string{"the model's own prediction of y (gaussian): R2 0.99"}, nil, false, "option"},
		{"counts", "", "n", true, []string{"the model's own prediction of n (poisson): -"}, []string{`warning: the model predicts "n" worse than its mean does (deviance explained -`}, true, "position"},
		{"counts, as trained", "", "n", false, []string{"the model's own prediction of n (poisson): 9"}, nil, false, "position"},
	} {
		t.Run(c.why, func(t *testing.T) {
			net, rows := trainedPair(t, names, c.response, c.swapped)
			dir := filepath.Join(t.TempDir(), "result")
			args := []string{"decompose", "--model", net, "--data", rows, "--response", c.response, "--out", dir}
			if c.response == "n" {
				args = append(args, "--family", "poisson")
			}
			if c.input != "" {
				args = append(args, "--input", c.input)
			}
			o := done(t, args...)
			for _, want := range c.starts {
				if !strings.HasPrefix(o.err, want) {
					t.Errorf("it begins\n%.200s\nwant\n%s", o.err, want)
				}
			}
			for _, want := range c.has {
				if !strings.Contains(o.err, want) {
					t.Errorf("no %q in\n%s", want, o.err)
				}
			}
			if strings.Contains(o.err, "worse than its mean") != c.warned {
				t.Errorf("warned: %v\n%s", !c.warned, o.err)
			}
			if strings.Contains(o.err, "bound by position") != (c.by == "position") {
				t.Errorf("told by position: %s", o.err)
			}
			doc := document(t, dir)
			if by := doc["model"].(map[string]any)["bound_by"].(map[string]any)["x"]; by != c.by {
				t.Errorf("bound by %v, want %s", by, c.by)
			}
			if worse, _ := doc["prediction"].(map[string]any)["worse"].(bool); worse != c.warned {
				t.Errorf("prediction: %v", doc["prediction"])
			}
			page := read(t, dir, resultdir.Report)
			for _, want := range []string{"How this was made", "takes these columns ", "<li>0 <code>"} {
				if !strings.Contains(page, want) {
					t.Errorf("the report does not say %q", want)
				}
			}
		})
	}
}

// Columns x1, x2, ... of a file that are not in the order of their numbers look like a
// shuffled file.
func TestNumbersOutOfOrder(t *testing.T) {
	for _, swapped := range []bool{false, true} {
		net, rows := trainedPair(t, [2]string{"v1", "v2"}, "y", swapped)
		o := done(t, "decompose", "--model", net, "--data", rows, "--response", "y", "--out", filepath.Join(t.TempDir(), "result"))
		want := `warning: input "x" takes its columns by position, and "v2" comes before "v1"`
		if strings.Contains(o.err, want) != swapped {
			t.Errorf("swapped %v:\n%s", swapped, o.err)
		}
	}
}
