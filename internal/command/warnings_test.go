package command

import (
	"html"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/pho-go/pho/internal/app/resultdir"
	"github.com/pho-go/pho/internal/base/onnxpb"
)

// What is no error but must be known reaches standard error, the artifact and the
// report in the same words.
func TestWarnings(t *testing.T) {
	linear := func(b *onnxpb.Builder) { // no deep part: zeta is constant
		b.AddInit("w", []int{5, 1}, 1, 2, 0, 0, 0)
		b.AddInit("c", []int{1}, 3)
		b.AddNode("MatMul", []string{"x", "w"}, "xw")
		b.AddNode("Add", []string{"xw", "c"}, "y")
	}
	still := func(b *onnxpb.Builder) { // the output is constant
		b.AddInit("w", []int{5, 1}, 0, 0, 0, 0, 0)
		b.AddInit("c", []int{1}, 3)
		b.AddNode("MatMul", []string{"x", "w"}, "xw")
		b.AddNode("Add", []string{"xw", "c"}, "y")
	}
	for _, c := range []struct {
		name, rows string
		nodes      func(b *onnxpb.Builder)
		formula    string
		want       []string
	}{
		{"constant zeta", rows(40), linear, `~ s(x3, bs="ps", k=6)`, []string{
			`eta: the deep part is constant: the model is additive already, and nothing but a constant moves`,
		}},
		{"constant network", rows(40), still, `~ x0 + s(x3, bs="ps", k=6)`, []string{
			`eta: the predictor is constant on these rows`,
		}},
		{"n < p", rows(12), nil, `~ factor(x0) + factor(x1)`, []string{
			`eta: the structured columns have rank 12 on 12 rows: they explain anything, and the unstructured part is zero by construction (paper, limitation 1); use fewer columns or a penalty`,
			`eta: 14 of 26 columns are spanned by others, to the rank tolerance of 1e-06, and carry no information of their own: factor(x0)[1.0365048184706902], factor(x0)[1.1215863035411453], factor(x0)[1.2793061768359024], factor(x1)[-0.813995931816738], factor(x1)[-0.6350477106887258], factor(x1)[-0.3913657274532625], factor(x1)[-0.1672508421158736], factor(x1)[0.7981846054800661] and 6 more`,
			`eta: only the sum of these terms is identified, not how it is split between them: x0 + x1 + x2 + factor(x0) + factor(x1)`,
		}},
		{"rank = n", rows(7), nil, `~ x0 + x1 + x2 + x3 + x4 + w`, []string{
			`eta: the structured columns have rank 7 on 7 rows: they explain anything, and the unstructured part is zero by construction (paper, limitation 1); use fewer columns or a penalty`,
		}},
		{"constant column", constant(rows(40), 3), nil, "~ x3", []string{
			`eta: 1 of 5 columns are spanned by others, to the rank tolerance of 1e-06, and carry no information of their own: x3`,
		}},
		{"two columns alike", rows(40), nil, "~ dow + factor(dow)", []string{
			`eta: 1 of 11 columns are spanned by others, to the rank tolerance of 1e-06, and carry no information of their own: factor(dow)[7]`,
			`eta: only the sum of these terms is identified, not how it is split between them: dow + factor(dow)`,
		}},
		{"no structure", rows(40), nil, "", []string{
			`eta: there is no structured term to project on: everything stays in the deep part; give a formula`,
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			temp := t.TempDir()
			network := filepath.Join(temp, "net.onnx")
			if c.nodes == nil {
				network = golden("ssn_op13")
			} else {
				model(t, network, 5, c.nodes)
			}
			write(t, filepath.Join(temp, "rows.csv"), c.rows)
			dir := filepath.Join(temp, "result")
			args := []string{"decompose", "--model", network, "--data", filepath.Join(temp, "rows.csv"), "--input", "x=x0..x4", "--out", dir}
			if c.formula != "" {
				args = append(args, "--formula", c.formula)
			} else {
				args = append(args, "--no-structure", "--formula", "~ 1")
			}
			o := done(t, args...)
			var got []string
			for _, line := range strings.Split(o.err, "\n") {
				if w, ok := strings.CutPrefix(line, "warning: "); ok {
					got = append(got, w)
				}
			}
			page := html.UnescapeString(read(t, dir, resultdir.Report))
			recorded, _ := document(t, dir)["warnings"].([]any)
			if len(recorded) != len(got) {
				t.Errorf("%d warnings on standard error, %d in the artifact", len(got), len(recorded))
			}
			for i, w := range got {
				if recorded[i] != w {
					t.Errorf("the artifact says %q, standard error %q", recorded[i], w)
				}
				if !strings.Contains(page, w) {
					t.Errorf("the report lacks %q", w)
				}
			}
			// What follows an expected beginning may say more.
			if !slices.EqualFunc(got, c.want, strings.HasPrefix) {
				t.Errorf("warnings\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(c.want, "\n"))
			}
		})
	}
}

// TestNetworkThatReadsTheResponse: what it is told it predicts, which somebody should
// know before they believe a figure.
func TestNetworkThatReadsTheResponse(t *testing.T) {
	t.Parallel()
	temp := t.TempDir()
	write(t, filepath.Join(temp, "rows.csv"), rows(40))
	o := done(t, "decompose", "--model", golden("ssn_op13"), "--data", filepath.Join(temp, "rows.csv"), "--input", "x=x0..x4",
		"--response", "x4", "--out", filepath.Join(temp, "result"))
	if want := `warning: the model reads column "x4", which is the response`; !strings.Contains(o.err, want) {
		t.Errorf("no %q in\n%s", want, o.err)
	}
}
