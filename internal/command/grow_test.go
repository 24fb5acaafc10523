package command

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/pho-go/pho/decompose"
	"github.com/pho-go/pho/internal/app/resultdir"
)

// stepped are rows of a function that jumps where x is 0.3, and of one that is smooth.
func stepped(n int) string {
	r := rand.New(rand.NewPCG(5, 6))
	var text strings.Builder
	text.WriteString("x,z,y\n")
	for range n {
		x, z := r.NormFloat64(), r.NormFloat64()
		y := math.Sin(z) + 0.2*x*z
		if x >= 0.3 {
			y++
		}
		fmt.Fprintf(&text, "%v,%v,%v\n", x, z, y)
	}
	return text.String()
}

// A "." finds where a function jumps, in one process and in shards, to the same bytes; the formula that is printed, typed,
// gives the same curves.
func TestChosenTermsGrow(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 1))
	h := shards{temp: t.TempDir(), n: 3, random: random}
	data, whole := h.place("rows.csv"), h.place("whole")
	write(t, data, stepped(9000))
	args := []string{"--data", data, "--predictions", "y", "--interactions", "none"}
	said := done(t, append([]string{"decompose", "--out", whole}, args...)...)
	formula := `~ s(x, bs = "bs", k = 20, knots = "quantiles", cuts = c(0.3)) + s(z, bs = "bs", k = 20, knots = "quantiles")`
	if !strings.Contains(said.err, "--formula '"+formula+"'") {
		t.Errorf("no formula %s in:\n%s", formula, said.err)
	}
	typed := h.place("typed")
	done(t, append([]string{"decompose", "--out", typed, "--formula", formula}, args...)...)
	for _, name := range []string{resultdir.Contributions, resultdir.Effects, resultdir.Moments} {
		if read(t, typed, name) != read(t, whole, name) {
			t.Errorf("%s: the formula, typed, gives other bytes", name)
		}
	}
	done(t, append([]string{"plan", "--out", h.place("plan"), "--shards", "3"}, args...)...)
	if passes, want := strings.Join(h.run(t), " "), "scan scan fit explain scan fit explain"; passes != want {
		t.Errorf("passes %s, want %s", passes, want)
	}
	equalResults(t, h.place("result"), whole)
	if h.contributions(t) != read(t, whole, resultdir.Contributions) {
		t.Error("the contributions of shards are not those of one decompose")
	}
}

// A smooth that misses a step says so wherever its verdict is.
func TestLackOfFitIsTold(t *testing.T) {
	temp := t.TempDir()
	write(t, temp+"/rows.csv", stepped(3000))
	said := done(t, "decompose", "--data", temp+"/rows.csv", "--predictions", "y", "--formula", `~ s(x, bs="cr", k=10) + s(z)`, "--out", temp+"/out")
	var doc decompose.Result
	if err := json.Unmarshal([]byte(read(t, temp, "out", resultdir.Decomposition)), &doc); err != nil {
		t.Fatal(err)
	}
	x, z := doc.Predictors[0].Terms[0], doc.Predictors[0].Terms[1]
	if x.Verdict != decompose.Weak || !x.LackOfFit.Matters() || x.Because[0].Kind != decompose.ReasonLackOfFit {
		t.Errorf("s(x): %s, %+v, %+v", x.Verdict, x.LackOfFit, x.Because)
	}
	if z.Verdict != decompose.Identified || z.LackOfFit.Matters() {
		t.Errorf("s(z): %s, %+v", z.Verdict, z.LackOfFit)
	}
	if len(doc.Warnings) == 0 || !strings.Contains(strings.Join(doc.Warnings, "\n"), "the remainder still depends on the columns of smooths, which miss so much of what they should hold: s(x) (") {
		t.Errorf("warnings %q", doc.Warnings)
	}
	for what, text := range map[string]string{
		"what is printed": said.out + said.err, "summary": done(t, "summary", temp+"/out").out, "report": read(t, temp, "out", resultdir.Report),
	} {
		if words := strings.Join(strings.Fields(text), " "); !strings.Contains(words, "still depends on the") {
			t.Errorf("%s does not say it:\n%.2000s", what, text)
		}
	}
}
