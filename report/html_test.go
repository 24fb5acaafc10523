package report_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/decompose"
	"github.com/pho-go/pho/report"
)

func pageOf(t testing.TB, r *decompose.Result, effects []report.Effect) string {
	t.Helper()
	var b bytes.Buffer
	must(t, report.Write(&b, r, effects))
	check(t, b.String())
	return b.String()
}

// check holds every page to what must hold for all: the policy is there and
// first, and allows the one script alone, whose hash it has; nothing is loaded; the data are
// JSON; elements nest, nothing failed to be escaped or formatted.
func check(t testing.TB, page string) {
	t.Helper()
	markup, data, script := taken(t, page)
	sum := sha256.Sum256([]byte(script))
	policy := `<meta http-equiv="Content-Security-Policy" content="default-src 'none'; script-src 'sha256-` +
		strings.ReplaceAll(base64.StdEncoding.EncodeToString(sum[:]), "+", "&#43;") + `'; style-src 'unsafe-inline'; img-src data:">`
	if !strings.Contains(page, policy) || strings.Index(page, policy) > strings.Index(page, "<title>") {
		t.Error("no content security policy of the script ahead of the content")
	}
	if !json.Valid([]byte(data)) || strings.ContainsAny(data, "<>") {
		t.Error("the data of the script are no JSON, or hold markup")
	}
	page = markup
	lower := strings.ToLower(regexp.MustCompile(`base64,[^"]*`).ReplaceAllString(page, "")) // letters by chance
	for _, no := range []string{"<script", "http://", "https://", "javascript:", "<link", "<iframe", "@import", "url(", "zgotmplz", "%!", "nan", "+inf", "-inf", "&lt;nil"} {
		if i := strings.Index(lower, no); i >= 0 {
			t.Errorf("the page contains %q: …%s", no, lower[max(0, i-60):min(len(lower), i+60)])
		}
	}
	for _, m := range regexp.MustCompile(`(?:src|href)="([^"]*)"`).FindAllStringSubmatch(page, -1) {
		if !strings.HasPrefix(m[1], "#p") && !slices.Contains([]string{"#overview", "#rows", "#warnings", "#made", "#glossary"}, m[1]) && !strings.HasPrefix(m[1], "data:image/png;base64,") {
			t.Errorf("the page refers to %q", m[1])
		}
	}
	for _, m := range regexp.MustCompile(` on[a-z]+=`).FindAllString(page, -1) {
		t.Errorf("the page has an event handler:%s", m)
	}
	if err := nested(page); err != nil {
		t.Error(err)
	}
	for _, m := range regexp.MustCompile(`<svg[^>]*>`).FindAllString(page, -1) {
		if !strings.Contains(m, "aria-label=") && !strings.Contains(m, "aria-hidden=") {
			t.Errorf("a picture without words: %s", m)
		}
	}
}

// taken takes the two scripts, the data and the program, out of a page.
func taken(t testing.TB, page string) (markup, data, script string) {
	t.Helper()
	cut := func(begin string) (inside string) {
		before, rest, ok := strings.Cut(page, begin)
		inside, after, closed := strings.Cut(rest, "</script>")
		if !ok || !closed {
			t.Fatalf("the page has no %s", begin)
		}
		page = before + after
		return inside
	}
	data = cut(`<script type="application/json" id="pho-data">`)
	script = cut("<script>")
	return page, data, script
}

// nested checks that every element is closed in order.
func nested(page string) error {
	void := map[string]bool{"meta": true, "image": true, "path": true, "rect": true, "circle": true, "input": true, "i": false}
	var open []string
	for _, m := range regexp.MustCompile(`<(/?)([a-zA-Z][a-zA-Z0-9]*)(?:[^<>"]|"[^"]*")*?(/?)>`).FindAllStringSubmatch(page, -1) {
		switch {
		case m[1] == "" && m[3] == "/":
		case m[1] == "" && void[m[2]]:
			if m[2] != "meta" && m[2] != "input" {
				return fmt.Errorf("element %s is not closed", m[2])
			}
		case m[1] == "":
			open = append(open, m[2])
		case len(open) == 0 || open[len(open)-1] != m[2]:
			return fmt.Errorf("</%s> closes %q", m[2], open)
		default:
			open = open[:len(open)-1]
		}
	}
	if len(open) > 0 {
		return fmt.Errorf("elements %q are left open", open)
	}
	return nil
}

// text is the page as it reads.
func text(page string) string {
	page = page[strings.Index(page, "</style>"):]
	if i := strings.Index(page, "<script"); i >= 0 { // the last of the page
		page = page[:i]
	}
	return strings.Join(strings.Fields(regexp.MustCompile(`<[^>]*>`).ReplaceAllString(page, " ")), " ")
}

func contains(t testing.TB, page string, wants ...string) {
	t.Helper()
	read := text(page)
	for _, w := range wants {
		if !strings.Contains(read, w) {
			t.Errorf("the page does not say %q", w)
		}
	}
}

func TestPage(t *testing.T) {
	r, a := everything(t)
	r.Model = json.RawMessage(`{"path": "models/house.onnx", "sha256": "0123456789abcdef0123"}`)
	r.Diagnostics = json.RawMessage(`{"seed": 7}`)
	r.Predictors[0].Concurvity = []decompose.PairConcurvity{{Term: "dow", With: "group", Concurvity: decompose.Concurvity{Worst: 0.4321, Observed: 0.1, Estimate: 0.2}}}
	page := pageOf(t, r, effectsOf(t, r, a))
	contains(t, page, "dow group 0.432 0.100 0.200", "y, as house.onnx predicts it", "The model house.onnx predicts y", "0123456789ab…", "can be read from the curves below; the other", "The structured part carries", "Before the projection the structured part carried",
		"What moves y", "What matters most", "Pictures", "For statisticians: eta", "What moved", "Importance", "Identifiability", "Fit and checks", "Glossary", "robust band: darker at a point, lighter of the whole curve", "Robust band", "HC3",
		"x0 &#43; s(x0)", "Where only the sum of terms is known, the sum is drawn.", "McFadden&#39;s R² is not valid here", "reconstruction error", "&#34;seed&#34;: 7", "2 warnings")
	if n := strings.Count(page, "<figure"); n != 9 {
		t.Errorf("%d figures", n)
	}
	if n := strings.Count(page, "data:image/png"); n != 3 {
		t.Errorf("%d maps, want before, after and standard error of one term", n)
	}
	if again := pageOf(t, r, effectsOf(t, r, a)); again != page {
		t.Error("equal results give different pages")
	}
	if bare := pageOf(t, r, nil); strings.Contains(bare, "<figure") {
		t.Error("figures without effects")
	}
}

func TestTwoPredictors(t *testing.T) {
	r, a := everything(t, "mu", "sigma")
	page := pageOf(t, r, effectsOf(t, r, a))
	contains(t, page, "predicts the distribution of y, by mu and sigma.", "What moves y", "What moves sigma", "in all predictors at once")
	if !strings.Contains(page, `<a href="#p2">sigma</a>`) || !strings.Contains(page, `<article id="p2" data-predictor="2">`) {
		t.Error("no way to the second predictor")
	}
	r.Model = []byte(`{"inputs": {"x": ["x0", "x1"]}}`)
	contains(t, pageOf(t, r, nil), "predicts the distribution of y, by mu and sigma, from 2 columns.")
}

// TestHostileNames: whatever a file calls things, it stays text.
func TestHostileNames(t *testing.T) {
	hostile := []string{
		`<script>alert(1)</script>`, `"><img src=x onerror=alert(1)>`, `' onload='alert(1)`, "new\nline\x00", `</title><script>`,
		`</style><script>`, `]]>`, `{{.}}`, `javascript:alert(1)`, "\u202egnp.exe", `&lt;b&gt;`, strings.Repeat("long", 200),
	}
	for _, name := range hostile {
		g := level{names: append([]string{name, "plain"}, hostile...)}
		g.names = unique(g.names)
		r, a := ofLevels(t, g)
		r.Response, r.Weights, r.Family, r.CreatedBy = name, name, name, name
		r.Model = raw(t, map[string]string{"path": name, "sha256": name})
		r.Diagnostics = raw(t, map[string]string{name: name})
		r.Warnings = append(r.Warnings, name)
		effects := effectsOf(t, r, a)
		d := &r.Predictors[0]
		d.Name, d.Status, d.Aliased = name, name, []string{name}
		d.Concurvity = []decompose.PairConcurvity{{Term: name, With: name}}
		d.Terms[0].Name, d.Terms[0].Identified, d.Terms[0].AliasedWith = name, false, []string{name}
		d.Entangled = []decompose.Entanglement{{Terms: []string{name, name}, Reason: name}}
		d.Terms[0].KCheck = &decompose.KCheck{Index: 0.5, P: 0.01, Rows: 100}
		one := 0.5
		d.Importance = []decompose.Importance{{Feature: name, Terms: []string{name}, McFadden: &one, DeltaLogLikPerRow: &one}}
		for i := range effects {
			effects[i].Predictor, effects[i].Term, effects[i].Held = name, name, name
			effects[i].X.Feature = name
		}
		var b bytes.Buffer
		must(t, report.Write(&b, r, effects))
		page, data, _ := taken(t, b.String())
		var island struct{ Predictors []struct{ Name string } }
		if err := json.Unmarshal([]byte(data), &island); err != nil || strings.ContainsAny(data, "<>&") || !strings.ContainsAny(name, "\n\u202e") && island.Predictors[0].Name != name {
			t.Errorf("%q breaks the data of the script: %v", name, err)
		}
		for _, tag := range []string{"<script", "<img"} {
			if strings.Contains(page, tag) {
				t.Errorf("%q became markup", name)
			}
		}
		if err := nested(page); err != nil {
			t.Errorf("%q breaks out: %v", name, err)
		}
		if strings.ContainsAny(page, "\x00\u202e") {
			t.Errorf("%q brings characters that do not print", name)
		}
		if len(page) > 200_000 {
			t.Errorf("%q makes a page of %d bytes", name[:10], len(page))
		}
	}
	if nested(`<p><b>x</p>`) == nil || nested(`<p>`) == nil || nested(`</p>`) == nil {
		t.Error("the check of nesting notices nothing")
	}
}

func raw(t testing.TB, v any) json.RawMessage {
	t.Helper()
	b, err := json.Marshal(v)
	must(t, err)
	return b
}

func unique(names []string) []string {
	var out []string
	for _, n := range names {
		if !strings.Contains("\x01"+strings.Join(out, "\x01")+"\x01", "\x01"+n+"\x01") {
			out = append(out, n)
		}
	}
	return out
}

// ofLevels decomposes a network by one factor whose levels matter at random.
func ofLevels(t testing.TB, g level) (*decompose.Result, *decompose.Applier) {
	t.Helper()
	n := 20 * len(g.names)
	r := rand.New(rand.NewPCG(4, 4))
	cells, x := make([]string, n), make([]float64, n)
	for i := range n {
		cells[i] = g.names[i%len(g.names)]
		x[i] = r.NormFloat64()
	}
	src := data.NewTable(n)
	must(t, src.AddTexts("g", cells))
	must(t, src.AddNumeric("x", x))
	return decomposed(t, with(single(func(x float64) float64 { return x }), &g), src, nil)
}

func TestManyLevels(t *testing.T) {
	var g level
	for i := range 400 {
		g.names = append(g.names, fmt.Sprintf("level %03d", i))
	}
	r, a := ofLevels(t, g)
	effects := effectsOf(t, r, a)
	if n := find(t, effects, "g").X.Len(); n != 400 {
		t.Errorf("%d levels on the grid", n)
	}
	page := pageOf(t, r, effects)
	contains(t, page, "30 of 400 levels are drawn, those furthest from 0; effects.csv has all.")
	if n := strings.Count(page, `class="dot-after"`); n != 30 {
		t.Errorf("%d levels drawn", n)
	}
}

// TestManyTerms: a page of 200 terms and two predictors stays usable.
func TestManyTerms(t *testing.T) {
	n := 600
	src := data.NewTable(n)
	r := rand.New(rand.NewPCG(9, 9))
	var terms []decompose.Term
	for j := range 200 {
		x := make([]float64, n)
		for i := range x {
			x[i] = r.NormFloat64()
		}
		name := fmt.Sprintf("c%03d", j)
		if j == 0 {
			name = "x"
		}
		must(t, src.AddNumeric(name, x))
		terms = append(terms, &decompose.LinearTerm{Column: name})
	}
	m := single(func(x float64) float64 { return x + math.Sin(x) })
	m.heads = []string{"mu", "sigma"}
	res, a := decomposed(t, with(m, terms...), src, nil)
	page := pageOf(t, res, effectsOf(t, res, a))
	contains(t, page, "Drawn are the 40 of 200 that vary most; the table above and effects.csv have all.", "376 more, less important or not identified alone", "c199")
	if got := strings.Count(page, "<figure "); got != 80 {
		t.Errorf("%d figures", got)
	}
	if len(page) > 1_500_000 {
		t.Errorf("%d bytes", len(page))
	}
}

func TestNothingToShow(t *testing.T) {
	src := rows(t, 300)
	x := func(f func(x float64) float64) *alone { return &alone{heads: []string{"eta"}, f: f, column: "x0"} }
	for name, c := range map[string]struct {
		m    decompose.Model
		want []string
	}{
		"no terms":       {x(math.Sin), []string{"Nothing of eta can be read: no curve was asked for, and the model shows none."}},
		"constant eta":   {with(x(func(float64) float64 { return 3 }), linearX0), []string{"eta is constant on these rows"}},
		"zero eta":       {with(x(func(float64) float64 { return 0 }), linearX0), []string{"eta is constant on these rows"}},
		"additive":       {with(x(func(x float64) float64 { return 2 * x }), linearX0), []string{"All of what makes its predictions differ from row to row can be read"}},
		"tiny numbers":   {with(x(func(x float64) float64 { return 1e-12 * math.Sin(3*x) }), linearX0), []string{"can be read from the curve below"}},
		"large numbers":  {with(x(func(x float64) float64 { return 1e12 * (5 + math.Sin(3*x)) }), linearX0), []string{"can be read from the curve below"}},
		"constant input": {with(&alone{heads: []string{"eta"}, f: math.Sin, column: "x0"}, &decompose.LinearTerm{Column: "one"}), []string{"one is constant in these data"}},
	} {
		t.Run(name, func(t *testing.T) {
			if name == "constant input" {
				must(t, src.AddNumeric("one", ones(300)))
			}
			r, a := decomposed(t, c.m, src, nil)
			contains(t, pageOf(t, r, effectsOf(t, r, a)), c.want...)
		})
	}
}

func ones(n int) []float64 {
	v := make([]float64, n)
	for i := range v {
		v[i] = 1
	}
	return v
}

// TestNegativeCovariance: bars reach left of zero, and the words say so.
func TestNegativeCovariance(t *testing.T) {
	r, a := everything(t)
	r.Predictors[0].Variance = decompose.Variance{Structured: 1.2, Unstructured: 0.3, TwiceCovariance: -0.5, Total: 1}
	page := pageOf(t, r, effectsOf(t, r, a))
	contains(t, page, "structured 120.0 %, unstructured 30.0 %, twice their covariance −50.0 %", "that they covary accounts for the other −50.0 %")
	if !strings.Contains(page, `<rect class="covariance" x="0" y="3" width="250"`) {
		t.Error("the negative covariance is not left of zero")
	}
}

// TestBroken: figures that are missing or not numbers become a dash.
func TestBroken(t *testing.T) {
	r, a := everything(t)
	effects := effectsOf(t, r, a)
	d := &r.Predictors[0]
	d.Scale, d.EDF, d.Orthogonality, d.ReconstructionError = math.NaN(), math.Inf(1), math.NaN(), nil
	d.Variance.Total = math.NaN()
	d.Terms[1].After.Variance, d.Terms[0].EDF, d.Terms[0].SP = math.NaN(), math.NaN(), []float64{math.Inf(1)}
	d.Importance[0].VarianceShare = math.NaN()
	r.Features = nil
	page := pageOf(t, r, effects)
	contains(t, page, "–")
	var empty decompose.Result
	pageOf(t, &empty, nil)
}

// alone is a black box: a function of one column.
type alone struct {
	heads  []string
	f      func(x float64) float64
	column string
}

func single(f func(x float64) float64) *alone {
	return &alone{heads: []string{"eta"}, f: f, column: "x"}
}

func (m *alone) Predictors() []string         { return m.heads }
func (m *alone) Columns() []string            { return []string{m.column} }
func (m *alone) Intercept(int) float64        { return 0 }
func (m *alone) Blocks(int) []decompose.Block { return nil }
func (m *alone) Taps() map[string]int         { return nil }
func (m *alone) Forward(_ context.Context, dst *decompose.Outputs, b *data.Batch) error {
	x, err := b.Numeric(m.column)
	if err != nil {
		return err
	}
	for i, v := range x {
		for k := range m.heads {
			dst.Zeta.Set(i, k, m.f(v))
			dst.Eta.Set(i, k, m.f(v))
		}
	}
	return nil
}
