package browsertest

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

// TestPagesOpen: without script, and with it, a page opens without an error and a request.
func TestPagesOpen(t *testing.T) {
	each(t, func(t *testing.T, _, page string) {
		for _, l := range []look{{}, {noJS: true}, {dark: true, still: true}} {
			b := open(t, page, l)
			if value[string](b, "document.querySelector('h1').textContent") == "" {
				t.Error("no heading")
			}
			if value[int](b, "document.querySelectorAll('[id]').length") != value[int](b, "new Set([...document.querySelectorAll('[id]')].map(e => e.id)).size") {
				t.Error("ids stand more than once")
			}
		}
	})
}

// TestNothingSticksOut: no page scrolls sideways as a whole, on a telephone, with large text,
// or wide; what is wider than the page scrolls in a region that can be reached by keys.
func TestNothingSticksOut(t *testing.T) {
	each(t, func(t *testing.T, _, page string) {
		b := open(t, page, look{})
		b.eval("for (const d of document.querySelectorAll('details')) d.open = true")
		for _, l := range []look{{width: 320}, {width: 400}, {width: 768}, {width: 1200}, {width: 1200, zoom: 200}, {width: 400, zoom: 200}} {
			b.show(l)
			for _, who := range value[[]string](b, `(() => {
				const out = [], wide = innerWidth;
				if (document.documentElement.scrollWidth > wide) out.push("the page: " + document.documentElement.scrollWidth);
				for (const e of document.querySelectorAll("body *")) {
					if (e.closest(".scroll") && !e.matches(".scroll") || e.closest("pre") || e.closest("svg") && !e.matches("svg") || !e.getClientRects().length) continue;
					if (e.getBoundingClientRect().right > wide + 0.5) out.push(e.tagName + "." + e.className + " #" + e.id);
				}
				for (const e of document.querySelectorAll("thead")) if (e.getBoundingClientRect().height > 8 * parseFloat(getComputedStyle(e).fontSize)) out.push("squeezed: " + e.textContent);
				for (const e of document.querySelectorAll(".scroll, pre")) {
					if (e.scrollWidth > e.clientWidth && e.tabIndex < 0) out.push("not reached by keys: " + e.outerHTML.slice(0, 80));
				}
				return out.slice(0, 5);
			})()`) {
				t.Errorf("at %+v sticks out: %s", l, who)
			}
		}
	})
}

// TestTextIsReadable: no text is smaller than 9 pixels on a telephone, or cut at a picture's edge.
func TestTextIsReadable(t *testing.T) {
	each(t, func(t *testing.T, _, page string) {
		b := open(t, page, look{})
		for _, l := range []look{{width: 400}, {}} {
			b.show(l)
			for _, what := range value[[]string](b, `(() => {
				const out = [];
				for (const e of document.querySelectorAll("svg.plot text")) {
					if (!e.getClientRects().length || !e.textContent.trim()) continue;
					const svg = e.ownerSVGElement, box = (svg.closest(".scroll") ? svg : svg.closest("figure")).getBoundingClientRect(), r = e.getBoundingClientRect();
					const size = parseFloat(getComputedStyle(e).fontSize) * svg.getScreenCTM().a;
					if (size < 9) out.push("small (" + size.toFixed(1) + "): " + e.textContent);
					if (r.left < box.left - 0.5 || r.right > box.right + 0.5) out.push("cut: " + e.textContent + " " + [r.left, box.left, r.right, box.right].map(Math.round));
				}
				return out.slice(0, 5);
			})()`) {
				t.Errorf("at %+v: %s", l, what)
			}
		}
	})
}

// TestMarksAreVisible: texts of pictures have a contrast of 4.5 with what is behind them, and lines, dots and bars one of 3, light
// and dark (WCAG 2.2, 1.4.3 and 1.4.11); in the dark there are no white boxes.
func TestMarksAreVisible(t *testing.T) {
	each(t, func(t *testing.T, _, page string) {
		b := open(t, page, look{})
		b.eval("for (const d of document.querySelectorAll('details')) d.open = true")
		for _, l := range []look{{}, {dark: true}} {
			b.show(l)
			for _, what := range value[[]string](b, `(() => {
				const parts = s => { const v = (s.match(/[\d.]+/g) || [0, 0, 0, 0]).map(Number); return s.startsWith("color(") ? [...v.slice(0, 3).map(c => 255 * c), v[3] ?? 1] : [...v.slice(0, 3), v[3] ?? 1]; };
				const light = c => { const [r, g, b] = c.map(v => (v /= 255) <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4); return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
				const over = (c, behind) => behind.map((v, i) => c[3] * c[i] + (1 - c[3]) * v);
				const behind = e => e ? over(parts(getComputedStyle(e).backgroundColor), behind(e.parentElement)) : [255, 255, 255];
				const contrast = (e, of) => {
					const style = getComputedStyle(e), c = parts(style[of]), back = behind(e.closest("svg").parentElement);
					if (style[of] === "none") return 0;
					c[3] *= style.opacity * style[of + "Opacity"];
					const [x, y] = [light(over(c, back)), light(back)];
					return (Math.max(x, y) + 0.05) / (Math.min(x, y) + 0.05);
				};
				const out = new Set(), shown = e => e.getClientRects().length > 0, name = e => e.tagName + "." + e.getAttribute("class");
				for (const e of document.querySelectorAll("svg text:not(.level)")) if (shown(e) && e.textContent.trim() && contrast(e, "fill") < 4.5) out.add("text " + name(e) + " " + contrast(e, "fill").toFixed(1));
				for (const e of document.querySelectorAll(".after, .before, .network, .class, .dot-after, .dot-before, .whisker, .structured, .unstructured, .covariance, .mark")) {
					const best = e.closest("svg") && shown(e) ? Math.max(contrast(e, "fill"), contrast(e, "stroke")) : 21;
					if (best < 3) out.add(name(e) + " " + best.toFixed(1));
				}
				if (matchMedia("(prefers-color-scheme: dark)").matches) {
					for (const e of document.querySelectorAll("body *:not(i)")) if (shown(e) && parts(getComputedStyle(e).backgroundColor)[3] > 0.5 && light(behind(e)) > 0.6) out.add("white: " + name(e));
				}
				return [...out].slice(0, 5);
			})()`) {
				t.Errorf("at %+v: %s", l, what)
			}
		}
	})
}

// TestPrint: on paper nothing is to be clicked, details are open, paper is white and ink black, and
// no picture is larger than a page, so that it need not break.
func TestPrint(t *testing.T) {
	each(t, func(t *testing.T, _, page string) {
		b := open(t, page, look{print: true, dark: true, width: 720})
		for _, what := range value[[]string](b, `(() => {
			const out = [], shown = e => e.getClientRects().length > 0;
			for (const e of document.querySelectorAll("button:not(.sort), input, select, nav")) if (shown(e)) out.push("a control: " + e.outerHTML.slice(0, 80));
			for (const d of document.querySelectorAll("details")) {
				const inner = d.querySelector(":scope > :not(summary)");
				if (shown(d) && inner && (!shown(inner) || !inner.checkVisibility({contentVisibilityAuto: true}))) out.push("closed: " + d.querySelector("summary").textContent);
			}
			for (const h of document.querySelectorAll("th")) if (shown(h) && h.textContent.trim() && !h.innerText.trim()) out.push("a heading without its text: " + h.textContent);
			const style = getComputedStyle(document.body);
			if (style.color !== "rgb(0, 0, 0)" || style.backgroundColor !== "rgb(255, 255, 255)") out.push("colours " + style.color + " on " + style.backgroundColor);
			for (const f of document.querySelectorAll("figure")) {
				if (f.querySelector("details")) continue; // the table of levels below it may break
				if (getComputedStyle(f).breakInside !== "avoid") out.push("a figure may break");
				if (f.getBoundingClientRect().height > 950) out.push("a figure of " + f.getBoundingClientRect().height + " px: " + f.querySelector("h3").textContent);
			}
			return out.slice(0, 5);
		})()`) {
			t.Errorf("on paper: %s", what)
		}
		if raw := b.pdf(); !bytes.HasPrefix(raw, []byte("%PDF")) {
			t.Error("it does not print")
		}
	})
}

// TestScreenshots draws every page for people to look at.
func TestScreenshots(t *testing.T) {
	dir := os.Getenv("PHO_SCREENSHOTS")
	if dir == "" {
		t.Skip("PHO_SCREENSHOTS names no directory")
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	each(t, func(t *testing.T, from, page string) {
		name := filepath.Base(filepath.Dir(from))
		b := open(t, page, look{})
		for suffix, l := range map[string]look{"light": {}, "dark": {dark: true}, "400": {width: 400}, "text200": {zoom: 200}, "paper": {print: true, width: 720}} {
			b.show(l)
			save(t, dir, fmt.Sprintf("%s-%s.png", name, suffix), b.picture())
			if l.print {
				save(t, dir, name+".pdf", b.pdf())
			}
		}
	})
}

func save(t *testing.T, dir, name string, raw []byte) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, name), raw, 0o644); err != nil {
		t.Fatal(err)
	}
}
