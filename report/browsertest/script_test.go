package browsertest

import (
	"fmt"
	"math"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// opened is a page with its script; pages without one are skipped.
func opened(t *testing.T, page string, l look) *tab {
	t.Helper()
	b := open(t, page, l)
	if !value[bool](b, "!!document.getElementById('pho-data')") {
		t.Skip("this page has no script")
	}
	return b
}

// point is where something is on the screen.
type point struct{ X, Y float64 }

// at scrolls to the element that an expression gives and is a place in it, by shares of its
// width and height.
func (b *tab) at(element string, x, y float64) point {
	b.t.Helper()
	return value[point](b, fmt.Sprintf(`(e => { e.scrollIntoView({block: "center"}); const r = e.getBoundingClientRect(); return {X: r.left + r.width * %g, Y: r.top + r.height * %g}; })(%s)`, x, y, element))
}

func (b *tab) hover(p point) {
	b.t.Helper()
	b.do(chromedp.MouseEvent(input.DispatchMouseEventTypeMouseMoved, p.X, p.Y))
}

func (b *tab) click(element string) {
	b.t.Helper()
	p := b.at(element, 0.5, 0.5)
	b.do(chromedp.MouseClickXY(p.X, p.Y))
}

// fill types a text into an empty field.
func (b *tab) fill(id, text string) {
	b.t.Helper()
	b.click("document.getElementById('" + id + "')")
	b.eval("document.getElementById('" + id + "').select?.()")
	b.do(chromedp.KeyEvent(kb.Backspace))
	if text != "" {
		b.do(chromedp.KeyEvent(text))
	}
}

func (b *tab) choose(id, v string) {
	b.t.Helper()
	b.eval(fmt.Sprintf("(e => { e.value = %q; e.dispatchEvent(new Event('input', {bubbles: true})); e.dispatchEvent(new Event('change', {bubbles: true})); })(document.getElementById(%q))", v, id))
}

// TestHover: the values under the pointer, and at the point that the arrow keys chose, are those of
// effects.csv, in every curve, at several places.
func TestHover(t *testing.T) {
	each(t, func(t *testing.T, dir, page string) {
		b := opened(t, page, look{})
		b.eval("for (const d of document.querySelectorAll('details')) d.open = true")
		if value[bool](b, "!!document.getElementById('scale')") {
			b.choose("scale", "link")
		}
		a := readArtifact(t, dir)
		curves, _ := readEffects(t, dir)
		type figure struct {
			K    int
			Term string
		}
		compared := 0
		for i, f := range value[[]figure](b, `[...document.querySelectorAll("svg[data-kind=curve]")].map(s => s.closest("figure")).map(f => ({K: f.dataset.predictor - 1, Term: f.dataset.term}))`) {
			c := curves[a.Predictors[f.K].Name+"\x00"+f.Term]
			svg := fmt.Sprintf(`document.querySelectorAll("svg[data-kind=curve]")[%d]`, i)
			if len(c) == 0 || i > 12 || !value[bool](b, svg+".getClientRects().length > 0") {
				continue
			}
			for _, share := range []float64{0.3, 0.55, 0.9} {
				b.hover(b.at(svg, share, 0.4))
				compared += b.sameAsEffect(svg, f.Term, c, "under the pointer")
			}
			b.eval(svg + ".focus()")
			for _, key := range []string{kb.Home, kb.ArrowRight, kb.PageDown, kb.End} {
				b.do(chromedp.KeyEvent(key))
				compared += b.sameAsEffect(svg, f.Term, c, "after a key")
			}
		}
		if compared == 0 && value[bool](b, `!!document.querySelector("svg[data-kind=curve]")`) {
			t.Error("nothing was compared")
		}
	}, "smooths", "classes", "members", "skewed", "california")
}

// sameAsEffect compares the values that are shown with the nearest point of an effect.
func (b *tab) sameAsEffect(svg, term string, c [][2]float64, when string) int {
	b.t.Helper()
	type values struct{ X, After, Words string }
	v := value[values](b, `(o => ({X: o.dataset.x || "", After: o.dataset.after || "", Words: o.textContent}))(`+svg+`.closest("figure").querySelector("output.values"))`)
	x, err := strconv.ParseFloat(v.X, 64)
	after, err2 := strconv.ParseFloat(v.After, 64)
	if err != nil || err2 != nil {
		b.t.Errorf("%s %s: no values: %+v", term, when, v)
		return 0
	}
	best := 0
	low, high := math.Inf(1), math.Inf(-1)
	for i := range c {
		if math.Abs(c[i][0]-x) < math.Abs(c[best][0]-x) {
			best = i
		}
		low, high = min(low, c[i][1]), max(high, c[i][1])
	}
	width := c[len(c)-1][0] - c[0][0]
	if math.Abs(c[best][0]-x) > 1e-3*width || math.Abs(c[best][1]-after) > 1e-3*(high-low)+1e-3*math.Abs(after) {
		b.t.Errorf("%s %s: %g at %g on the page, %g at %g in effects.csv", term, when, after, x, c[best][1], c[best][0])
	}
	if strings.TrimSpace(v.Words) == "" {
		b.t.Errorf("%s %s: no words", term, when)
	}
	return 1
}

// TestSort: a click on a heading sorts rows by what they show, largest first, then smallest first,
// then as before.
func TestSort(t *testing.T) {
	each(t, func(t *testing.T, dir, page string) {
		b := opened(t, page, look{})
		const table = `document.querySelector("[id$=-moved]").closest("section").querySelector("table")`
		if value[bool](b, `!document.querySelector("[id$=-moved]")`) {
			t.Skip("no table of terms")
		}
		b.eval("for (const d of document.querySelectorAll('details')) d.open = true")
		const terms = `[...` + table + `.tBodies[0].rows].filter(r => !r.classList.contains("member")).map(r => r.cells[0].textContent + "\t" + r.cells[1].textContent)`
		before := value[[]string](b, terms)
		column := func() []float64 {
			var out []float64
			for _, s := range value[[]string](b, terms) {
				_, text, _ := strings.Cut(s, "\t")
				if v, ok := shown(text); ok {
					out = append(out, v)
				}
			}
			return out
		}
		for _, want := range []string{"descending", "ascending", ""} {
			b.click(table + `.tHead.rows[0].cells[1].querySelector("button")`)
			if got := value[string](b, table+`.tHead.rows[0].cells[1].getAttribute("aria-sort") || ""`); got != want {
				t.Errorf("aria-sort is %q, not %q", got, want)
			}
			v := column()
			for i := 1; i < len(v); i++ {
				if want == "descending" && v[i] > v[i-1] || want == "ascending" && v[i] < v[i-1] {
					t.Errorf("%s: %v", want, v)
					break
				}
			}
		}
		if after := value[[]string](b, terms); strings.Join(after, "\n") != strings.Join(before, "\n") {
			t.Errorf("the third click does not bring the order back:\n%v\n%v", before, after)
		}
	}, "smooths", "wide")
}

// TestSearch: typing leaves the terms that match, and their number; clearing brings all back.
func TestSearch(t *testing.T) {
	dir := made(t, "wide")
	b := opened(t, filepath.Join(dir, "report.html"), look{})
	const visible = `new Set([...document.querySelectorAll("tr[data-term], figure[data-term]")].filter(e => e.getClientRects().length).map(e => e.dataset.term)).size`
	all := value[int](b, visible)
	for query, want := range map[string]int{"feature_07": 1, "FEATURE_1": 10, "no such column": 0} {
		b.fill("find", query)
		if got := value[int](b, visible); got != want {
			t.Errorf("%q: %d terms are left, not %d", query, got, want)
		}
		if said := value[string](b, `document.getElementById("find-count").textContent`); !strings.HasPrefix(said, strconv.Itoa(want)) {
			t.Errorf("%q: the page says %q", query, said)
		}
	}
	b.fill("find", "")
	if got := value[int](b, visible); got != all {
		t.Errorf("%d terms after the search, %d before", got, all)
	}
}

// TestRows: the waterfall of every stored row has the parts of contributions.csv, and they add up.
func TestRows(t *testing.T) {
	each(t, func(t *testing.T, dir, page string) {
		b := opened(t, page, look{})
		if !value[bool](b, `!!document.getElementById("row-list")`) {
			t.Skip("no rows are stored")
		}
		a := readArtifact(t, dir)
		heading, rows := readTable(t, filepath.Join(dir, "contributions.csv"))
		numbers := value[[]string](b, `[...document.querySelectorAll("#row-list option")].map(o => o.value).filter(Boolean)`)
		if len(numbers) == 0 {
			t.Fatal("the list is empty")
		}
		for i := 0; i < len(numbers); i += 1 + len(numbers)/12 {
			n, err := strconv.Atoi(numbers[i])
			if err != nil || n < 1 || n > len(rows) {
				t.Fatalf("row %q of %d", numbers[i], len(rows))
			}
			b.fill("row-number", numbers[i])
			b.click(`document.getElementById("row-go")`)
			for k := range a.Predictors {
				if len(a.Predictors) > 1 {
					b.choose("row-predictor", strconv.Itoa(k+1))
				}
				prefix := ""
				if len(a.Predictors) > 1 {
					prefix = a.Predictors[k].Name + "."
				}
				parts := value[map[string]string](b, `Object.fromEntries([...document.querySelectorAll("#row-chosen table.waterfall[data-row='`+numbers[i]+`'] tr[data-part]")].map(r => [r.dataset.part, r.dataset.value]))`)
				if len(parts) < 3 {
					t.Fatalf("row %d: parts %v", n, parts)
				}
				for part, text := range parts {
					column, ok := heading[prefix+part]
					if !ok {
						continue // the response, or "further terms"
					}
					got, err := strconv.ParseFloat(text, 64)
					want, err2 := strconv.ParseFloat(rows[n-1][column], 64)
					if err != nil || err2 != nil || math.Abs(got-want) > 2e-3*math.Abs(want)+1e-4 {
						t.Errorf("row %d, %s: %q on the page, %s in contributions.csv", n, prefix+part, text, rows[n-1][column])
					}
				}
			}
		}
		b.fill("row-number", "99999999")
		b.click(`document.getElementById("row-go")`)
		if value[string](b, `document.getElementById("row-message").textContent`) == "" {
			t.Error("nothing is said of a row that is not stored")
		}
	}, "smooths", "classes", "members", "released")
}

// TestZoom: a drag shows a part of a curve, the button all of it again; keys do the same.
func TestZoom(t *testing.T) {
	b := opened(t, filepath.Join(made(t, "smooths"), "report.html"), look{})
	b.eval("for (const d of document.querySelectorAll('details')) d.open = true")
	const svg = `[...document.querySelectorAll("svg[data-kind=curve]")].find(s => s.closest("figure").dataset.term === "s(x0)")`
	width := func() float64 { return value[float64](b, svg+".dataset.x1 - "+svg+".dataset.x0") }
	all := width()
	from := b.at(svg, 0.4, 0.4)
	to := b.at(svg, 0.7, 0.4)
	b.do(chromedp.MouseEvent(input.DispatchMouseEventTypeMousePressed, from.X, from.Y, chromedp.ButtonLeft, chromedp.ClickCount(1)),
		chromedp.MouseEvent(input.DispatchMouseEventTypeMouseMoved, to.X, to.Y, chromedp.ButtonLeft),
		chromedp.MouseEvent(input.DispatchMouseEventTypeMouseReleased, to.X, to.Y, chromedp.ButtonLeft, chromedp.ClickCount(1)))
	if w := width(); w > 0.5*all || w < 0.2*all {
		t.Errorf("a drag over 0.3 of the picture shows %g of %g", w, all)
	}
	b.click(svg + `.closest("figure").querySelector("button.whole")`)
	if w := width(); w != all {
		t.Errorf("the whole range is %g, not %g", w, all)
	}
	b.eval(svg + ".focus()")
	b.do(chromedp.KeyEvent("+"))
	if w := width(); w > 0.6*all {
		t.Errorf("+ shows %g of %g", w, all)
	}
	b.do(chromedp.KeyEvent("0"))
	if w := width(); w != all {
		t.Errorf("0 shows %g of %g", w, all)
	}
}

// TestResponseScale: of a log link, values are exp(intercept + effect) on the response scale, which is what
// the server draws: the curve is where its values say, by the ticks.
func TestResponseScale(t *testing.T) {
	dir := made(t, "poisson")
	b := opened(t, filepath.Join(dir, "report.html"), look{})
	const svg = `document.querySelector("svg[data-kind=curve]")`
	after := func() float64 {
		b.hover(b.at(svg, 0.2, 0.2))
		b.hover(b.at(svg, 0.6, 0.4))
		v, err := strconv.ParseFloat(value[string](b, svg+`.closest("figure").querySelector("output.values").dataset.after || ""`), 64)
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	intercept := value[float64](b, `JSON.parse(document.getElementById("pho-data").textContent).predictors[0].intercept`)
	picture := fmt.Sprintf(`(() => {%s
		const f = %s, y = scale(f, "y", "y"), dot = f.querySelector(".readout .dot-after");
		return y(Number(dot.getAttribute("cy")));
	})()`, readPictures, svg)
	response := after()
	if drawn := value[float64](b, picture); math.Abs(drawn-response) > 2e-2*response {
		t.Errorf("the server draws %g, the value is %g", drawn, response)
	}
	b.choose("scale", "link")
	link := after()
	b.choose("scale", "response")
	if got := after(); got != response {
		t.Errorf("%g, %g before", got, response)
	}
	if got, want := after(), math.Exp(intercept+link); math.Abs(got-want) > 2e-3*want {
		t.Errorf("%g on the response scale, exp(%g + %g) is %g", got, intercept, link, want)
	}
	if value[string](b, `document.getElementById("scale-words").textContent`) == "" {
		t.Error("the scale is not told")
	}
	b.choose("scale", "link")
	if got := after(); got != link {
		t.Errorf("%g on the link scale, %g before", got, link)
	}
}

// TestEnlarge: a figure opens by its button, has what it had, and closes by Escape; the focus
// returns to the button.
func TestEnlarge(t *testing.T) {
	each(t, func(t *testing.T, _, page string) {
		b := opened(t, page, look{})
		n := value[int](b, `document.querySelectorAll("button.enlarge").length`)
		for i := 0; i < n; i += 1 + n/4 {
			button := fmt.Sprintf(`document.querySelectorAll("button.enlarge")[%d]`, i)
			if !value[bool](b, button+".checkVisibility()") {
				continue
			}
			b.eval(button + ".focus()")
			b.do(chromedp.KeyEvent(kb.Enter))
			if !value[bool](b, `!!document.querySelector("dialog[open] svg")`) {
				t.Fatalf("figure %d does not open", i)
			}
			if value[bool](b, `document.querySelector("dialog").scrollWidth > document.querySelector("dialog").clientWidth`) {
				t.Errorf("figure %d sticks out of the dialog", i)
			}
			b.do(chromedp.KeyEvent(kb.Escape))
			if !value[bool](b, `!document.querySelector("dialog[open]") && document.activeElement === `+button) {
				t.Errorf("figure %d: Escape does not bring back where it was opened", i)
			}
		}
	}, "smooths", "levels", "california")
}

// TestSave: a picture is a drawing that needs no page, as SVG and PNG, and its values are a table of as many
// rows as the grid has points.
func TestSave(t *testing.T) {
	each(t, func(t *testing.T, _, page string) {
		b := opened(t, page, look{})
		b.eval(`window.saved = []; URL.createObjectURL = blob => { saved.push(blob); return "#"; };
			document.execCommand = () => { window.copied = document.activeElement.value; return true; };`)
		type file struct {
			Type, Text string
			Size       int
		}
		of := func(label string) file {
			b.eval(fmt.Sprintf(`saved.length = 0; [...document.querySelector("figure[data-term]").querySelectorAll("button.save")].find(e => e.textContent === %q).click()`, label))
			return value[file](b, `new Promise(async done => { while (!saved.length) await new Promise(r => setTimeout(r, 20)); const s = saved[0]; done({Type: s.type, Text: s.type === "image/png" ? "" : await s.text(), Size: s.size}); })`)
		}
		if f := of("SVG"); f.Type != "image/svg+xml" || !strings.Contains(f.Text, `xmlns="http://www.w3.org/2000/svg"`) || !strings.Contains(f.Text, "stroke:") || strings.Contains(f.Text, "var(--") {
			t.Errorf("%s: %.200s", f.Type, f.Text)
		}
		if f := of("PNG"); f.Type != "image/png" || f.Size < 2000 {
			t.Errorf("%s of %d bytes", f.Type, f.Size)
		}
		b.eval(`document.querySelector("figure[data-term] > .tools button.copy").click()`)
		points := value[int](b, `(d => { const p = d.predictors[0], e = p.effects.find(e => e.term === document.querySelector("figure[data-term]").dataset.term), n = a => (a.levels || a.values).length; return n(d.axes[e.x]) * (e.x2 === undefined ? 1 : n(d.axes[e.x2])); })(JSON.parse(document.getElementById("pho-data").textContent))`)
		if rows := strings.Split(value[string](b, "copied"), "\n"); len(rows) != points+1 || strings.Count(rows[1], "\t") < 3 {
			t.Errorf("%d rows of a grid of %d points: %q", len(rows), points, rows[:min(2, len(rows))])
		}
		b.eval(`document.querySelector("table.sortable").closest(".scroll").nextElementSibling.querySelector("button.copy").click()`)
		if rows, want := strings.Split(value[string](b, "copied"), "\n"), value[int](b, `document.querySelector("table.sortable").rows.length`); len(rows) != want {
			t.Errorf("%d rows of a table of %d", len(rows), want)
		}
	}, "smooths", "poisson", "levels", "california")
}

// TestChoosePredictor: of ten classes one is left, and all again.
func TestChoosePredictor(t *testing.T) {
	b := opened(t, filepath.Join(made(t, "classes"), "report.html"), look{})
	const visible = `[...document.querySelectorAll("article")].filter(a => a.getClientRects().length).length`
	if n := value[int](b, visible); n != 10 {
		t.Errorf("%d classes are shown", n)
	}
	b.choose("predictor", "3")
	if n := value[int](b, visible); n != 1 {
		t.Errorf("%d classes are shown after one was chosen", n)
	}
	b.choose("predictor", "")
	if n := value[int](b, visible); n != 10 {
		t.Errorf("%d classes are shown again", n)
	}
}

// TestPickClass: of ten classes one is brought to the front in all pictures, with its name, and the others lose theirs; numbers
// are copied for all.
func TestPickClass(t *testing.T) {
	b := opened(t, filepath.Join(made(t, "classes"), "report.html"), look{})
	const names = `[...document.querySelectorAll(".classes figure:first-of-type text.end")].filter(e => e.getClientRects().length).map(e => e.textContent)`
	if n := len(value[[]string](b, names)); n != 6 {
		t.Errorf("%d classes have names", n)
	}
	for _, choice := range []string{"4", "9"} {
		b.eval(`(s => { s.value = "` + choice + `"; s.dispatchEvent(new Event("change")); })(document.querySelector("select.pick"))`)
		want := value[string](b, `document.querySelector("select.pick").selectedOptions[0].textContent`)
		if got := value[[]string](b, names); len(got) != 1 || got[0] != want {
			t.Errorf("%q have names, picked is %q", got, want)
		}
		if n := value[int](b, `document.querySelectorAll(".classes path.picked").length`); n != value[int](b, `document.querySelectorAll(".classes svg svg").length`) {
			t.Errorf("%d curves are picked", n)
		}
	}
	b.eval(`(s => { s.value = ""; s.dispatchEvent(new Event("change")); })(document.querySelector("select.pick"))`)
	if n := len(value[[]string](b, names)); n != 6 {
		t.Errorf("%d classes have names again", n)
	}
	b.eval(`document.execCommand = () => { window.copied = document.activeElement.value; return true; }`)
	b.eval(`document.querySelector(".classes button.copy").click()`)
	lines := strings.Split(value[string](b, "copied"), "\n")
	sum := 0.0
	for _, cell := range strings.Split(lines[1], "\t")[1:] {
		v, err := strconv.ParseFloat(cell, 64)
		if err != nil {
			t.Fatal(err)
		}
		sum += v
	}
	if strings.Count(lines[0], "\t") != 10 || math.Abs(sum-1) > 1e-4 {
		t.Errorf("copied are %q, %q", lines[0], lines[1])
	}
}

// TestJump: the target of a link is not covered by the bar of controls, of one line or two, and
// folded sections around it open.
func TestJump(t *testing.T) {
	each(t, func(t *testing.T, _, page string) {
		b := opened(t, page, look{})
		if value[bool](b, `!!document.getElementById("scale") && document.getElementById("scale").getClientRects().length > 0`) {
			b.choose("scale", "response")
		}
		for i, n := 0, value[int](b, `document.querySelectorAll("a[href^='#']").length`); i < n; i += 1 + n/12 {
			link := fmt.Sprintf(`document.querySelectorAll("a[href^='#']")[%d]`, i)
			if !value[bool](b, link+".checkVisibility()") {
				continue // folded
			}
			b.eval(link + ".click()")
			type place struct {
				Top, Bar float64
				Seen     bool
				What     string
			}
			p := value[place](b, `new Promise(done => setTimeout(() => { const e = document.getElementById(location.hash.slice(1)), bar = document.getElementById("controls").getBoundingClientRect();
				done({Top: e.getBoundingClientRect().top, Bar: bar.top <= 1 ? bar.bottom : 0, Seen: e.checkVisibility(), What: location.hash}); }, 60))`)
			if !p.Seen || p.Top < p.Bar {
				t.Errorf("%s is at %g, the bar ends at %g, seen: %v", p.What, p.Top, p.Bar, p.Seen)
			}
		}
	}, "classes", "poisson", "wide")
}

// TestFindLevels: a search among many levels leaves those that match, and says how many instead of
// how many the server drew.
func TestFindLevels(t *testing.T) {
	b := opened(t, filepath.Join(made(t, "levels"), "report.html"), look{})
	const figure = `document.querySelector("input.find-level").closest("figure")`
	said := func() (n int, caption bool) {
		v, _, _ := strings.Cut(value[string](b, `(`+figure+`.querySelector(".found-levels") || {textContent: ""}).textContent`), " ")
		n, _ = strconv.Atoi(v)
		return n, value[bool](b, `[...`+figure+`.querySelectorAll("figcaption span")].some(s => /levels are drawn/.test(s.textContent) && s.getClientRects().length > 0)`)
	}
	if _, caption := said(); !caption {
		t.Error("the caption does not say that levels are left out")
	}
	for query, want := range map[string]int{"station 11": 10, "no such": 0} {
		b.eval(fmt.Sprintf(`(e => { e.value = %q; e.dispatchEvent(new Event("input")); })(document.querySelector("input.find-level"))`, query))
		n, caption := said()
		if drawn := value[int](b, figure+`.querySelectorAll("g[data-level]").length`); drawn != want || n != want || caption {
			t.Errorf("%q: %d levels are drawn, %d said, of %d; the caption is shown: %v", query, drawn, n, want, caption)
		}
	}
	b.eval(`(e => { e.value = ""; e.dispatchEvent(new Event("input")); })(document.querySelector("input.find-level"))`)
	if n, caption := said(); n != 0 || !caption {
		t.Errorf("after the search: %d, %v", n, caption)
	}
}

// TestKeyboard: whatever can be clicked is reached by the Tab key, in the order of the page, and the
// focus can be seen.
func TestKeyboard(t *testing.T) {
	for _, name := range []string{"smooths", "comparison"} {
		t.Run(name, func(t *testing.T) {
			page := "report.html"
			if name == "comparison" {
				page = "compare.html"
			}
			b := open(t, filepath.Join(made(t, name), page), look{})
			want := value[int](b, `[...document.querySelectorAll("a[href], button, input, select, summary, [tabindex='0']")].filter(e => e.getClientRects().length && e.checkVisibility()).length`)
			if want == 0 {
				t.Skip("nothing to click")
			}
			reached, last := 0, -1
			for range want {
				b.do(chromedp.KeyEvent(kb.Tab))
				type focus struct {
					Order   int
					Visible bool
					What    string
				}
				f := value[focus](b, `(e => ({Order: [...document.querySelectorAll("*")].indexOf(e), Visible: getComputedStyle(e).outlineStyle !== "none" && parseFloat(getComputedStyle(e).outlineWidth) >= 2, What: e.outerHTML.slice(0, 90)}))(document.activeElement)`)
				if !f.Visible {
					t.Errorf("the focus cannot be seen: %s", f.What)
				}
				if f.Order <= last {
					t.Errorf("the focus jumps back to %s", f.What)
					break
				}
				last = f.Order
				reached++
			}
			if reached != want {
				t.Errorf("%d of %d are reached by the Tab key", reached, want)
			}
		})
	}
}
