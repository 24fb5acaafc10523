package online_test

import (
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"html"
	"io"
	"math"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/pho-go/pho"
	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/internal/base/onnxpb"
	"github.com/pho-go/pho/label"
	"github.com/pho-go/pho/serve/online"
)

// shownPage is a page as the server answers.
type shownPage struct {
	status int
	header http.Header
	text   string
}

func page(t *testing.T, method, address string, form url.Values) shownPage {
	t.Helper()
	q, err := http.NewRequest(method, address, strings.NewReader(form.Encode()))
	if err != nil {
		t.Fatal(err)
	}
	q.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r, err := http.DefaultClient.Do(q)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	text, err := io.ReadAll(r.Body)
	if err != nil {
		t.Fatal(err)
	}
	return shownPage{r.StatusCode, r.Header, string(text)}
}

var (
	inputElement  = regexp.MustCompile(`<input id="[^"]*" name="([^"]*)"[^>]* value="([^"]*)"`)
	selectElement = regexp.MustCompile(`(?s)<select id="[^"]*" name="([^"]*)"[^>]*>(.*?)</select>`)
	chosen        = regexp.MustCompile(`<option value="([^"]*)" selected`)
	partElement   = regexp.MustCompile(`<tr data-part="([^"]*)" data-value="([^"]*)">`)
)

// values are what a browser would send of the page's form.
func (p *shownPage) values() url.Values {
	out := url.Values{}
	for _, m := range inputElement.FindAllStringSubmatch(p.text, -1) {
		out.Set(html.UnescapeString(m[1]), html.UnescapeString(m[2]))
	}
	for _, m := range selectElement.FindAllStringSubmatch(p.text, -1) {
		value := ""
		if c := chosen.FindStringSubmatch(m[2]); c != nil {
			value = html.UnescapeString(c[1])
		}
		out.Set(html.UnescapeString(m[1]), value)
	}
	return out
}

// parts are those of the first picture, to six digits.
func (p *shownPage) parts() map[string]float64 {
	out := map[string]float64{}
	for _, m := range partElement.FindAllStringSubmatch(p.text, -1) {
		if name := html.UnescapeString(m[1]); out[name] == 0 {
			out[name], _ = strconv.ParseFloat(m[2], 64)
		}
	}
	return out
}

// near: equal to the six digits of a page.
func near(a, b float64) bool { return math.Abs(a-b) <= 1e-5*max(math.Abs(b), 1e-3) }

// TestPage: the page begins with a typical row, is sent back with another, and draws the parts that the Explainer has.
func TestPage(t *testing.T) {
	t.Parallel()
	a, b := two(t)
	base := started(t, nil, a, b)
	first := page(t, "GET", base+"/", nil)
	values := first.values()
	if first.status != 200 || len(values) != len(numeric)+1 || strings.Contains(first.text, "<script") || !strings.Contains(first.text, "Prediction of a typical row") {
		t.Fatalf("%d %v %s", first.status, values, first.text)
	}
	for _, want := range []string{`href="/v2/models/a/report"`, `href="/openapi.json"`, `href="/?model=b"`, `<option value="=b"`, "in training"} {
		if !strings.Contains(first.text, want) {
			t.Errorf("no %s", want)
		}
	}
	if policy := first.header.Get("Content-Security-Policy"); !strings.Contains(policy, "default-src 'none'") || !strings.Contains(policy, styleHash(first.text)) {
		t.Errorf("the policy %q does not allow the style", policy)
	}
	parts, names, _ := want(t, a, false)
	for name := range values {
		column := strings.TrimPrefix(name, "c:")
		switch column {
		case "g":
			values.Set(name, "="+level(17))
		case "day":
			values.Set(name, fmt.Sprintf("=%v", cell(column, 17)))
		default:
			values.Set(name, fmt.Sprint(cell(column, 17)))
		}
	}
	second := page(t, "POST", base+"/?model=a", values)
	drawn := second.parts()
	wanted := map[string]float64{}
	for k, name := range names {
		if name == "x1" || name == "s(x1)" {
			name = "x1 + s(x1)" // only their sum is identified
		}
		wanted[name] += parts[k][17]
	}
	for name, v := range wanted {
		if _, there := drawn[name]; !there || !near(drawn[name], v) {
			t.Errorf("%s is drawn as %v, and is %v", name, drawn[name], v)
		}
	}
	if got := second.values(); second.status != 200 || fmt.Sprint(got) != fmt.Sprint(values) {
		t.Errorf("%d: %v of %v is left", second.status, got, values)
	}
	values.Set("c:x0", "99")
	if far := page(t, "POST", base+"/?model=a", values); !strings.Contains(far.text, `class="outside">outside `) {
		t.Error("99 is not said to be outside")
	}
	for entered, says := range map[string]string{"many": `column &#34;x0&#34; holds text`, "1e999": `column &#34;x0&#34; holds text`, "": `column &#34;x0&#34;, data row 1: data: a value is missing`} {
		values.Set("c:x0", entered)
		values.Set("c:g", map[bool]string{true: "", false: "=a"}[entered == ""])
		got := page(t, "POST", base+"/?model=a", values)
		if got.status != 400 || !strings.Contains(got.text, says) || got.values().Get("c:x0") != entered || got.values().Get("c:x1") != values.Get("c:x1") {
			t.Errorf("%q: %d, %v\n%s", entered, got.status, got.values(), got.text)
		}
	}
	if got := page(t, "GET", base+"/?model=%3Cb%3E", nil); got.status != 404 || !strings.Contains(got.text, `no model`) {
		t.Errorf("%+v", got)
	}
	if got := page(t, "PUT", base+"/", nil); got.status != 405 || got.header.Get("Allow") != "GET, POST" {
		t.Errorf("%+v", got)
	}
	if got := page(t, "GET", base+"/v2/models/a/report", nil); got.status != 200 || !strings.HasPrefix(got.text, "<!DOCTYPE html>") || !strings.Contains(got.header.Get("Content-Type"), "html") {
		t.Errorf("the report: %d %v", got.status, got.header)
	}
}

// styleHash is the hash of a page's style.
func styleHash(text string) string {
	_, style, _ := strings.Cut(text, "<style>")
	style, _, _ = strings.Cut(style, "</style>")
	sum := sha256.Sum256([]byte(style))
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}

// odd are names that would break a page, or a form, that does not mind them.
var odd = []string{`a "quoted" <b>x</b>`, "العمر", "'; alert(1) //", "two\nlines", "_charset_"}

// TestPageOddNames: names and levels stand on the page as text, and come back as they are; labels and scales are undone.
func TestPageOddNames(t *testing.T) {
	t.Parallel()
	const n = 300
	levels := []string{"<script>alert(1)</script>", `"q" & 'p'`, "שלום", "two\nlines", "", "=x"}
	b := onnxpb.NewBuilder(13)
	b.AddInput("x", onnxpb.TensorProto_DOUBLE, onnxpb.Rows, len(odd))
	b.AddDouble("w", []int{len(odd), 1}, 0.1, 0.2, 0.3, 0.4, 0.5)
	b.AddNode("MatMul", []string{"x", "w"}, "h")
	b.AddNode("Tanh", []string{"h"}, "y")
	b.Output("y", onnxpb.TensorProto_DOUBLE, onnxpb.Rows, 1)
	raw, err := b.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	net := filepath.Join(t.TempDir(), "net.onnx")
	faults := []error{os.WriteFile(net, raw, 0o600)}
	table := data.NewTable(n)
	place, formula := make([]string, n), "~ s(place, bs='re')"
	for j, name := range odd {
		v := make([]float64, n)
		for i := range v {
			v[i] = math.Sin(float64(i * (j + 2)))
			place[i] = levels[i%len(levels)]
		}
		faults = append(faults, table.AddNumeric(name, v))
		if name != "_charset_" { // of which stored rows alone tell
			formula += " + `" + name + "`"
		}
	}
	if err := errors.Join(append(faults, table.AddTexts("place", place))...); err != nil {
		t.Fatal(err)
	}
	labels := &label.Labels{Columns: map[string]label.Column{"العمر": {Name: "age <i>", Unit: `"years"`, BackTransform: &label.BackTransform{Scale: 10, Shift: 40}}}}
	d, err := pho.Decompose(t.Context(), net, table, &pho.Options{Formula: formula, Inputs: map[string][]string{"x": odd}, Labels: labels})
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), `odd "name" <b>`)
	if err := d.Write(t.Context(), dir); err != nil {
		t.Fatal(err)
	}
	address := started(t, nil, dir) + "/?model=" + url.QueryEscape(`odd "name" <b>`)
	first := page(t, "GET", address, nil)
	for _, bad := range []string{"<script>alert", "<b>x</b>", "<i>", `"quoted"`, `"q"`} {
		if strings.Contains(first.text, bad) {
			t.Errorf("%s stands on the page", bad)
		}
	}
	if !strings.Contains(first.text, "age &lt;i&gt; (&#34;years&#34;)") || !strings.Contains(first.text, "30 to 50 in training") {
		t.Errorf("the label of a scaled column: %s", first.text)
	}
	values := first.values()
	if v, err := strconv.ParseFloat(values.Get("c:_charset_"), 64); len(values) != len(odd)+1 || err != nil || math.Abs(v) > 0.9 {
		t.Fatalf("%v", values)
	}
	for i, l := range levels {
		h := 0.0
		for j, name := range odd {
			v := math.Sin(float64((i + 7) * (j + 2)))
			if h += v * float64(j+1) / 10; name == "العمر" {
				v = 10*v + 40
			}
			values.Del("c:" + name)
			values.Set(strings.ReplaceAll("c:"+name, "\n", "\r\n"), fmt.Sprint(v)) // as browsers send lines
		}
		values.Set("c:place", "="+strings.ReplaceAll(l, "\n", "\r\n"))
		got := page(t, "POST", address, values)
		if got.status != 200 || !near(got.parts()["eta"], math.Tanh(h)) || got.values().Get("c:place") != "="+l {
			t.Errorf("level %q: %d, eta %v of %v, %v", l, got.status, got.parts()["eta"], math.Tanh(h), got.values())
		}
	}
}

// TestPageArrays: a picture is entered as nested lists.
func TestPageArrays(t *testing.T) {
	t.Parallel()
	dir, age, img, eta := pictured(t, false)
	base := started(t, nil, dir)
	if first := page(t, "GET", base+"/", nil); first.status != 200 || !strings.Contains(first.text, "<textarea") || !strings.Contains(first.text, "2 x 3") || len(first.parts()) > 0 {
		t.Errorf("%d %s", first.status, first.text)
	}
	for _, picture := range []string{strings.ReplaceAll(fmt.Sprint([][]float64{img[24:27], img[27:30]}), " ", ","), strings.ReplaceAll(fmt.Sprint(img[24:30]), " ", ",")} {
		got := page(t, "POST", base+"/", url.Values{"c:age": {fmt.Sprint(age[4])}, "c:img": {picture}})
		if !near(got.parts()["eta"], eta[4]) {
			t.Errorf("%s: %d %v, want %v", picture, got.status, got.parts(), eta[4])
		}
	}
	for _, bad := range []string{"[1,2", `[1]}],"rows":[{`, "7", "[[1,2],[3]]"} {
		if got := page(t, "POST", base+"/", url.Values{"c:age": {"3"}, "c:img": {bad}}); got.status != 400 || !strings.Contains(got.text, `role="alert"`) || !strings.Contains(got.text, html.EscapeString(bad)) {
			t.Errorf("%s: %d %s", bad, got.status, got.text)
		}
	}
}

// TestPagePassword: a browser brings the token as a password.
func TestPagePassword(t *testing.T) {
	t.Parallel()
	a, _ := two(t)
	base := started(t, &online.Options{Token: func() string { return "se:same" }}, a)
	for _, path := range []string{"/", "/openapi.json", "/v2/models/a/report"} {
		got := page(t, "GET", base+path, nil)
		if got.status != 401 || !strings.HasPrefix(got.header.Get("WWW-Authenticate"), "Basic ") {
			t.Errorf("%s: %d %v", path, got.status, got.header)
		}
		for password, status := range map[string]int{"se:same": 200, "same": 401, "": 401} {
			q, err := http.NewRequest("GET", base+path, nil)
			if err != nil {
				t.Fatal(err)
			}
			q.SetBasicAuth("me", password)
			r, err := http.DefaultClient.Do(q)
			if err != nil {
				t.Fatal(err)
			}
			r.Body.Close()
			if r.StatusCode != status {
				t.Errorf("%s with %q: %d", path, password, r.StatusCode)
			}
		}
	}
	if d := page(t, "GET", base+"/v2", nil); d.header.Get("WWW-Authenticate") != `Bearer realm="pho"` {
		t.Errorf("%v", d.header)
	}
}
