package graphtest

import (
	"fmt"
	"strings"

	"github.com/pho-go/pho/adapters/onnx/internal/structure"
)

// Brief is what was found in one line per predictor: terms with columns, width and
// coefficient, then the deep part.
func Brief(f *structure.Found) []string {
	var lines []string
	for _, p := range f.Predictors {
		var b strings.Builder
		fmt.Fprintf(&b, "%s[%s] = %.4g", p.Name, p.Head, p.Intercept)
		for _, t := range p.Terms {
			if t.Coefficient != nil {
				fmt.Fprintf(&b, " + %.4g %s", *t.Coefficient, t.Name)
			} else {
				fmt.Fprintf(&b, " + %s:%d", t.Name, t.Width)
			}
		}
		if p.Deep != nil {
			fmt.Fprintf(&b, " + deep(%s):%d", strings.Join(p.Deep.Columns, ","), p.Deep.Width)
		}
		lines = append(lines, b.String())
	}
	return lines
}

// Shape is a predictor in a line: head, terms, "deep" if there is a deep part.
func Shape(p structure.Predictor) string {
	var parts []string
	if p.Head != "" {
		parts = append(parts, p.Head)
	}
	for _, t := range p.Terms {
		if t.Width != 1 {
			return "a term of several columns: " + t.Name
		}
		parts = append(parts, t.Name)
	}
	if p.Deep != nil {
		if p.Deep.Width != 1 {
			return "a deep part of several features"
		}
		parts = append(parts, "deep")
	}
	return strings.ReplaceAll(strings.Join(parts, " "), "X", "")
}
