package browsertest

import (
	"encoding/csv"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// artifact is what these tests read of decomposition.json.
type artifact struct {
	Weights    string
	Predictors []struct {
		Name  string
		Terms []struct {
			Name          string
			Features      []string
			Columns       int
			EDF           float64
			Before, After struct{ Variance float64 }
		}
		Variance   struct{ Total, Structured, Unstructured float64 }
		Importance []struct {
			Feature       string
			VarianceShare *float64 `json:"variance_share"`
		}
	}
}

func readArtifact(t *testing.T, dir string) artifact {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(dir, "decomposition.json"))
	if err != nil {
		t.Fatal(err)
	}
	var a artifact
	if err := json.Unmarshal(raw, &a); err != nil {
		t.Fatal(err)
	}
	return a
}

// readTable is a CSV file: its heading and its rows.
func readTable(t *testing.T, path string) (heading map[string]int, rows [][]string) {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	all, err := csv.NewReader(f).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	heading = map[string]int{}
	for i, name := range all[0] {
		heading[name] = i
	}
	return heading, all[1:]
}

// shown is the number that a page shows; false: none.
func shown(text string) (float64, bool) {
	text = strings.NewReplacer("−", "-", "\u202f", "", "\u00a0", "", "%", "", "≈ ", "").Replace(strings.TrimSpace(text))
	v, err := strconv.ParseFloat(text, 64)
	return v, err == nil
}

// near: v is shown with three digits.
func near(shown, v float64) bool { return math.Abs(shown-v) <= 0.0051*math.Abs(v) }

// TestTablesAreTheArtifact: the sizes of moved parts in the page's table equal
// decomposition.json's, and the standard deviations of the parts in contributions.csv.
func TestTablesAreTheArtifact(t *testing.T) {
	each(t, func(t *testing.T, dir, page string) {
		if filepath.Base(page) != "report.html" {
			t.Skip("a comparison has other tables")
		}
		a, b := readArtifact(t, dir), open(t, page, look{})
		type cells struct {
			Predictor                      int
			Term                           string
			Before, After, Columns, EDF, X string
		}
		rows := map[string]cells{}
		for _, c := range value[[]cells](b, `[...document.querySelectorAll("article")].flatMap((article, k) =>
			[...article.querySelectorAll("[id$=-moved]")].flatMap(h => {
				const table = h.closest("section").querySelector("table");
				const at = name => [...table.tHead.rows[0].cells].findIndex(c => c.textContent.trim() === name);
				return [...table.tBodies[0].rows].map(r => ({Predictor: k, Term: r.dataset.term || r.cells[0].textContent,
					Before: r.cells[at("sd before")].textContent, After: r.cells[at("sd after")].textContent,
					Columns: r.cells[at("columns")].textContent, EDF: r.cells[at("edf")].textContent}));
			}))`) {
			rows[strconv.Itoa(c.Predictor)+" "+c.Term] = c
		}
		heading, contributions := readTable(t, filepath.Join(dir, "contributions.csv"))
		compared := 0
		for k, p := range a.Predictors {
			prefix := ""
			if len(a.Predictors) > 1 {
				prefix = p.Name + "."
			}
			for _, term := range p.Terms {
				c, ok := rows[strconv.Itoa(k)+" "+term.Name]
				if !ok {
					t.Errorf("%s: no row of %s", p.Name, term.Name)
					continue
				}
				compare := func(what, text string, v float64) {
					if s, ok := shown(text); !ok || !near(s, v) && math.Abs(v) > 1e-12 {
						t.Errorf("%s, %s: %s is %q on the page, %g in the file", p.Name, term.Name, what, text, v)
					}
					compared++
				}
				compare("sd before", c.Before, math.Sqrt(term.Before.Variance))
				compare("sd after", c.After, math.Sqrt(term.After.Variance))
				compare("columns", c.Columns, float64(term.Columns))
				compare("edf", c.EDF, term.EDF)
				column, ok := heading[prefix+term.Name]
				if !ok {
					t.Fatalf("contributions.csv has no %s%s", prefix, term.Name)
				}
				if sd := deviation(t, contributions, column); a.Weights == "" && math.Abs(sd-math.Sqrt(term.After.Variance)) > 0.01*sd {
					t.Errorf("%s, %s: sd %g by rows, %g in the file", p.Name, term.Name, sd, math.Sqrt(term.After.Variance))
				}
			}
		}
		if compared == 0 {
			t.Error("nothing was compared")
		}
	})
}

// deviation is the standard deviation of a column.
func deviation(t *testing.T, rows [][]string, column int) float64 {
	t.Helper()
	var sum, squares, n float64
	for _, r := range rows {
		v, err := strconv.ParseFloat(r[column], 64)
		if err != nil {
			t.Fatal(err)
		}
		sum, squares, n = sum+v, squares+v*v, n+1
	}
	return math.Sqrt(max(0, squares/n-sum*sum/n/n))
}

// readPictures are functions of the page that read a picture as people do: by its ticks.
const readPictures = `
const number = s => { const v = s.replace(/\u2212/g, "-").replace(/[\u202f\u00a0]/g, ""); return v.trim() === "" ? NaN : Number(v); };
// scale maps units of the picture to what the tick labels say: on the axis as it is drawn, which
// may be logarithmic across.
const warp = name => name === "log" ? Math.log : /^asinh /.test(name) ? v => Math.asinh(v / name.split(" ")[1]) : v => v;
const scale = (svg, kind, axis) => {
	const w = warp(axis === "x" && svg.dataset.xScale || "");
	const ticks = [...svg.querySelectorAll("text." + kind + ":not(.name)")].map(e => [Number(e.getAttribute(axis)), w(number(e.textContent))]).filter(t => !isNaN(t[1]));
	if (ticks.length < 2) return null;
	const [a, b] = [ticks[0], ticks[ticks.length - 1]];
	return v => a[1] + (v - a[0]) * (b[1] - a[1]) / (b[0] - a[0]);
};
const figures = () => [...document.querySelectorAll("article")].flatMap((article, k) => [...article.querySelectorAll("figure")].map(f =>
	({k: k, term: f.dataset.term || f.querySelector("h3").textContent, svg: f.querySelector("svg.plot")}))).filter(f => f.svg);
`

// TestCurvesAreEffects: every curve of the page, read off by its ticks, is the effect of
// effects.csv, to two pixels; so are the dots of levels.
func TestCurvesAreEffects(t *testing.T) {
	each(t, func(t *testing.T, dir, page string) {
		if filepath.Base(page) != "report.html" {
			t.Skip("a comparison has no effects.csv")
		}
		a, b := readArtifact(t, dir), open(t, page, look{noJS: true})
		if value[bool](b, `!!document.querySelector("[data-scale=response]")`) { // TestResponseScale has these; effects are on the other
			b = opened(t, page, look{})
			b.choose("scale", "link")
		}
		curves, levels := readEffects(t, dir)
		type drawn struct {
			K      int
			Term   string
			Scale  string  // of x
			Unit   float64 // of a pixel
			Steps  bool
			Points [][2]float64
			Levels map[string]float64
		}
		compared := 0
		for _, d := range value[[]drawn](b, `(() => {`+readPictures+`
			return figures().map(f => {
				const x = scale(f.svg, "x", "x"), y = scale(f.svg, "y", "y"), path = f.svg.querySelector("path.after"), out = {K: f.k, Term: f.term, Scale: f.svg.dataset.xScale || "", Steps: "steps" in f.svg.dataset};
				if (path && x && y) {
					const [left, top, right, bottom] = f.svg.dataset.box.split(",").map(Number); // beyond it nothing is seen
					const n = path.getTotalLength(); out.Points = []; out.Unit = Math.abs(y(1) - y(0));
					for (let i = 0; i <= 60; i++) { const p = path.getPointAtLength(n * i / 60); if (p.x >= left && p.x <= right && p.y >= top && p.y <= bottom) out.Points.push([x(p.x), y(p.y)]); }
				} else if (x && f.svg.querySelector(".dot-after")) {
					out.Levels = {}; out.Unit = Math.abs(x(1) - x(0));
					for (const g of f.svg.querySelectorAll("g")) {
						const dot = g.querySelector(".dot-after"); if (!dot) continue;
						out.Levels[g.dataset.level || g.querySelector("title").textContent.split(": ")[0]] = x(Number(dot.getAttribute("cx")));
					}
				}
				return out;
			});
		})()`) {
			name := a.Predictors[d.K].Name
			if c := curves[name+"\x00"+d.Term]; len(c) > 1 {
				if d.Steps {
					c = stepped(c)
				}
				w := warped(d.Scale)
				for i := range c {
					c[i][0] = w(c[i][0])
				}
				width := math.Abs(c[len(c)-1][0] - c[0][0])
				for _, p := range d.Points {
					if best := distance(c, p, width/300, d.Unit); best > 2 {
						t.Errorf("%s, %s: the picture is at (%.4g, %.4g), %.1f px from the effect", name, d.Term, p[0], p[1], best)
						break
					}
					compared++
				}
			}
			for level, v := range d.Levels {
				want, ok := levels[name+"\x00"+d.Term+"\x00"+level]
				if !ok {
					continue // shortened, or a sum
				}
				if math.Abs(v-want) > 2*d.Unit {
					t.Errorf("%s, %s, level %q: the dot is at %.4g, the effect %.4g", name, d.Term, level, v, want)
				}
				compared++
			}
		}
		if compared == 0 {
			t.Error("nothing was compared")
		}
	})
}

// stepped are the whole numbers of a curve as steps.
func stepped(c [][2]float64) (out [][2]float64) {
	for _, p := range c {
		if p[0] == math.Trunc(p[0]) {
			out = append(out, [2]float64{p[0] - 0.5, p[1]}, [2]float64{p[0] + 0.5, p[1]})
		}
	}
	return out
}

// distance is how far, in pixels, a point is from a curve of lines; ux and uy are the units
// of a pixel.
func distance(curve [][2]float64, p [2]float64, ux, uy float64) float64 {
	best := math.Inf(1)
	for i := 1; i < len(curve); i++ {
		ax, ay := (curve[i-1][0]-p[0])/ux, (curve[i-1][1]-p[1])/uy
		bx, by := (curve[i][0]-p[0])/ux, (curve[i][1]-p[1])/uy
		dx, dy := bx-ax, by-ay
		s := 0.0
		if l := dx*dx + dy*dy; l > 0 {
			s = min(1, max(0, -(ax*dx+ay*dy)/l))
		}
		best = min(best, math.Hypot(ax+s*dx, ay+s*dy))
	}
	return best
}

// readEffects are the effects after the projection: curves by predictor and term, and
// levels by predictor, term and level, names joined by a zero byte.
func readEffects(t *testing.T, dir string) (curves map[string][][2]float64, levels map[string]float64) {
	t.Helper()
	at, rows := readTable(t, filepath.Join(dir, "effects.csv"))
	curves, levels = map[string][][2]float64{}, map[string]float64{}
	for _, r := range rows {
		if member, ok := at["member"]; r[at["stage"]] != "after" || r[at["x2"]] != "" || ok && r[member] != "" {
			continue
		}
		v, err := strconv.ParseFloat(r[at["value"]], 64)
		if err != nil {
			continue // nothing is known there
		}
		key := r[at["predictor"]] + "\x00" + r[at["term"]]
		if x, err := strconv.ParseFloat(r[at["x"]], 64); err == nil {
			curves[key] = append(curves[key], [2]float64{x, v})
		}
		levels[key+"\x00"+r[at["x"]]] = v
	}
	return curves, levels
}
