package command

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"
)

func TestLaTeXOfNamesAndNumbers(t *testing.T) {
	for name, want := range map[string]string{
		"x_1 & 50 %": `x\_1 \& 50 \%`, `a\b~c^2`: `a\textbackslash{}b\textasciitilde{}c\textasciicircum{}2`, "#{$}": `\#\{\$\}`,
		"[0, 1)": "{[}0, 1)", "*": "{*}", "a[1]*": "a[1]*", "<b>|": `\textless{}b\textgreater{}\textbar{}`, "two\nlines\u202e": "two lines ", "Größe": "Größe",
	} {
		if got := latexText(name); got != want {
			t.Errorf("%q is %q, want %q", name, got, want)
		}
	}
	for text, want := range map[string]string{
		"-": "--", "1.5": "1.5", "-0.25": "$-$0.25", "64.9 %": `64.9\,\%`, "-0.1 %": `$-$0.1\,\%`, "1.20e-05": `$1.20\times10^{-5}$`, "-3.00e+07": `$-3.00\times10^{7}$`, "weak": "weak", "identified": "identified",
	} {
		if got := latexNumber(text); got != want {
			t.Errorf("%q is %q, want %q", text, got, want)
		}
	}
}

// TestSummaryLaTeX: all coefficients and terms of all predictors are in it, each line with the cells of its table, and numbers
// have units where these are known.
func TestSummaryLaTeX(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	args := labelledRows(t, dir)
	out := filepath.Join(dir, "out")
	done(t, append(args, "--out", out)...)
	for _, labels := range []string{"", `{"columns": {"q0": {"name": "Temp_1", "unit": "°C"}, "resp": {"name": "Yield & more", "unit": "$"}}}`} {
		command := []string{"summary", out, "--latex"}
		if labels != "" {
			write(t, filepath.Join(dir, "own.json"), labels)
			command = append(command, "--labels", filepath.Join(dir, "own.json"))
		}
		text := done(t, command...).out
		var doc summaryJSON
		if err := json.Unmarshal([]byte(done(t, "summary", out, "--json").out), &doc); err != nil {
			t.Fatal(err)
		}
		want := 2 // the heads
		for _, p := range doc.Predictors {
			want += len(p.Coefficients) + len(p.Terms)
		}
		lines := 0
		for line := range strings.Lines(text) {
			if strings.HasSuffix(line, "\\\\\n") {
				if lines++; strings.Count(line, " & ") != 4 {
					t.Errorf("%q has not five cells", line)
				}
			}
		}
		if lines != want || strings.Count(text, `\toprule`) != 2 || strings.Count(text, `\end{tabular}`) != 2 {
			t.Errorf("%d lines, want %d:\n%s", lines, want, text)
		}
		if labels != "" && (!strings.Contains(text, `Temp\_1 (per °C) & `) || !strings.Contains(text, `& sd (\$) &`)) {
			t.Errorf("units are missing:\n%s", text)
		}
	}
	if o := call(t, "summary", out, "--latex", "--json"); o.status != exitUsage || !strings.Contains(o.err, "give one") {
		t.Errorf("%+v", o)
	}
}
