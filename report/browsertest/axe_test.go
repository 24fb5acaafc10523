package browsertest

import (
	"fmt"
	"os"
	"testing"

	"github.com/chromedp/chromedp"
)

// TestAxe asks axe-core for everything that breaks WCAG 2.2 at levels A and AA, and for its
// best practices, of every page, light and wide, dark and narrow, with all details open.
func TestAxe(t *testing.T) {
	path := os.Getenv("PHO_AXE")
	if path == "" {
		t.Skip("PHO_AXE does not name axe.min.js: make check-report fetches it where npm is")
	}
	library, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	each(t, func(t *testing.T, _, page string) {
		for _, l := range []look{{}, {dark: true, width: 400}} {
			for _, broken := range axe(open(t, page, l), string(library)) {
				t.Errorf("at %+v: %s", l, broken)
			}
		}
	})
}

// axe lists the rules that the page breaks as it is shown now.
func axe(b *tab, library string) []string {
	b.t.Helper()
	b.eval("for (const d of document.querySelectorAll('details')) d.open = true")
	if _, err := chromedp.Run(b.ctx, chromedp.Evaluate[chromedp.Void](library+"\n;0")); err != nil {
		b.t.Fatal(err)
	}
	type rule struct {
		ID, Help string
		Nodes    []string
	}
	var out []string
	for _, r := range value[[]rule](b, `axe.run(document, {
			runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"], resultTypes: ["violations"],
		}).then(r => r.violations.map(v => ({ID: v.id, Help: v.help, Nodes: v.nodes.slice(0, 3).map(n => n.html.slice(0, 150) + " " + n.failureSummary.slice(0, 260))})))`) {
		out = append(out, fmt.Sprintf("%s (%s): %q", r.ID, r.Help, r.Nodes))
	}
	return out
}
