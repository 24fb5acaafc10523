package browsertest

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
)

const root = "../.."

// reports are the directories that the command wrote, each once for all tests.
type reports struct {
	mu   sync.Mutex
	dir  string
	done map[string]string // "": could not be made
	pho  string
}

var written reports

func (r *reports) remove() {
	if r.dir != "" {
		os.RemoveAll(r.dir)
	}
}

// report is a page that is tested: what makes it in a directory, and its file there.
type report struct {
	name string
	page string // "report.html" unless said otherwise
	data string // a real table that it needs
	make func(w *workshop)
}

// all are the pages of the tests: those of every shape that people bring.
func all() []report {
	return []report{
		{name: "smooths", make: smooths},
		{name: "classes", make: classes},
		{name: "levels", make: levels},
		{name: "wide", make: wide},
		{name: "members", make: members},
		{name: "blackbox", make: blackBox},
		{name: "trees", make: trees},
		{name: "poisson", make: poisson},
		{name: "predictors", make: predictors},
		{name: "released", make: released},
		{name: "released-members", make: releasedMembers},
		{name: "skewed", make: skewed},
		{name: "comparison", page: "compare.html", make: comparison},
		{name: "comparison-columns", page: "compare.html", make: comparisonOfFormulas},
		{name: "ordinal", make: ordinal},
		{name: "three-classes", make: threeClasses},
		{name: "times", make: times},
		{name: "hazards", make: hazards},
		{name: "drift", page: "monitor.html", make: drift},
		{name: "form", page: "form.html", make: form},
		{name: "form-classes", page: "form.html", make: formOfClasses},
		{name: "bike", data: "bike_hour.csv.gz", make: bike},
		{name: "california", data: "california_housing.csv.gz", make: california},
	}
}

// each runs a test on every page, or on those named.
func each(t *testing.T, test func(t *testing.T, dir, page string), names ...string) {
	for _, r := range all() {
		if len(names) > 0 && !slices.Contains(names, r.name) {
			continue
		}
		t.Run(r.name, func(t *testing.T) {
			dir := made(t, r.name)
			page := r.page
			if page == "" {
				page = "report.html"
			}
			test(t, dir, filepath.Join(dir, page))
		})
	}
}

// made is the directory of a report, written by the command unless it is there.
func made(t *testing.T, name string) string {
	t.Helper()
	chromium(t) // nothing is made for tests that are skipped
	written.mu.Lock()
	defer written.mu.Unlock()
	if written.done == nil {
		dir, err := os.MkdirTemp("", "browsertest")
		if err != nil {
			t.Fatal(err)
		}
		written.dir, written.done = dir, map[string]string{}
	}
	for _, r := range all() {
		if r.name != name {
			continue
		}
		w := &workshop{t: t, dir: filepath.Join(written.dir, name)}
		if r.data != "" {
			w.data = table(t, r.data)
		}
		if at, ok := written.done[name]; ok {
			if at == "" {
				t.Fatal("it could not be made, see above")
			}
			return at
		}
		written.done[name] = ""
		if err := os.MkdirAll(w.dir, 0o755); err != nil {
			t.Fatal(err)
		}
		r.make(w)
		written.done[name] = filepath.Join(w.dir, "out")
		return written.done[name]
	}
	t.Fatalf("no report %q", name)
	return ""
}

// table is the path of a real table.
func table(t *testing.T, name string) string {
	t.Helper()
	dir := os.Getenv("PHO_DATA")
	if dir == "" {
		dir = filepath.Join(root, "..", "shared", "data")
	}
	path, err := filepath.Abs(filepath.Join(dir, name))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(path); err != nil {
		t.Skipf("%s is not there: PHO_DATA names its directory", name)
	}
	return path
}

// workshop is where one report is made.
type workshop struct {
	t    *testing.T
	dir  string
	data string // the real table
}

// place is a path in the workshop, file one in the repository.
func (w *workshop) place(name string) string { return filepath.Join(w.dir, name) }

func (w *workshop) file(name string) string {
	path, err := filepath.Abs(filepath.Join(root, filepath.FromSlash(name)))
	if err != nil {
		w.t.Fatal(err)
	}
	return path
}

// pho runs the command in the workshop.
func (w *workshop) pho(args ...string) {
	w.t.Helper()
	if written.pho == "" {
		written.pho = command(w.t)
	}
	c := exec.Command(written.pho, args...)
	c.Dir = w.dir
	if out, err := c.CombinedOutput(); err != nil {
		w.t.Fatalf("pho %s: %v\n%s", strings.Join(args, " "), err, out)
	}
}

// command is the path of pho: PHO_BINARY, or what is built from the repository.
func command(t *testing.T) string {
	t.Helper()
	if path := os.Getenv("PHO_BINARY"); path != "" {
		path, err := filepath.Abs(path)
		if err != nil {
			t.Fatal(err)
		}
		return path
	}
	path := filepath.Join(written.dir, "pho.exe")
	c := exec.Command("go", "build", "-C", root, "-o", path, "./cmd/pho")
	c.Env = append(os.Environ(), "GOWORK=off")
	if out, err := c.CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	return path
}

// rows writes rows.csv: a heading, and n rows of what row gives.
func (w *workshop) rows(name string, n int, heading string, row func(r *rand.Rand, i int) []any) {
	w.t.Helper()
	r := rand.New(rand.NewPCG(15, 7))
	var b bytes.Buffer
	b.WriteString(heading + "\n")
	for i := range n {
		for j, v := range row(r, i) {
			if j > 0 {
				b.WriteByte(',')
			}
			fmt.Fprint(&b, v)
		}
		b.WriteByte('\n')
	}
	if err := os.WriteFile(w.place(name), b.Bytes(), 0o644); err != nil {
		w.t.Fatal(err)
	}
}

const fewEpochs = "4"

// smooths: a smooth, a line, a factor, a surface, curves by level, and a pair that is left.
func smooths(w *workshop) {
	w.rows("rows.csv", 1500, "x0,x1,x2,x3,n,g,y", func(r *rand.Rand, _ int) []any {
		x := []float64{r.Float64(), r.NormFloat64(), r.Float64() * 10, r.Float64()}
		n, g := r.IntN(7), r.IntN(3)
		y := math.Sin(6*x[0]) + 0.4*x[1] + 0.1*float64(g)*x[0] + math.Cos(x[2]/2)*x[3] + 0.1*float64(n) + x[1]*x[3] + 0.1*r.NormFloat64()
		return []any{x[0], x[1], x[2], x[3], n, string(rune('a' + g)), y}
	})
	w.pho("train", "--data", "rows.csv", "--formula", "y ~ s(x0, k=8) + x1 + g + n", "--deep", "x0,x1,x2,x3", "--hidden", "8", "--epochs", fewEpochs, "--seed", "1", "--out", "net")
	w.pho("decompose", "--model", "net/model.onnx", "--data", "rows.csv", "--response", "y", "--formula", "~ te(x2, x3, k=c(5,5)) + s(x0, by=g, k=6)", "--orders", "--out", "out")
}

// classes: ten classes.
func classes(w *workshop) {
	w.rows("rows.csv", 1200, "a,b,c,f,class", func(r *rand.Rand, _ int) []any {
		a, b, c := r.NormFloat64(), r.NormFloat64(), r.Float64()
		best, most := 0, math.Inf(-1)
		for k := range 10 {
			if v := math.Sin(float64(k)+2*a) + 0.3*float64(k%3)*b - math.Log(-math.Log(r.Float64())); v > most {
				best, most = k, v
			}
		}
		return []any{a, b, c, "level " + string(rune('a'+r.IntN(4))), fmt.Sprintf("class %d", best)}
	})
	w.pho("train", "--data", "rows.csv", "--formula", "class ~ a + s(b, k=5) + f", "--family", "categorical", "--deep", "a,b,c", "--hidden", "6", "--epochs", fewEpochs, "--seed", "1", "--out", "net")
	w.pho("decompose", "--model", "net/model.onnx", "--data", "rows.csv", "--response", "class", "--out", "out")
}

// levels: a factor of 200 levels, some with names that are long or look like markup.
func levels(w *workshop) {
	names := make([]string, 200)
	for i := range names {
		names[i] = fmt.Sprintf("station %03d", i)
	}
	names[3], names[7] = "<b>bold</b> & \u2028 'quoted'", "a station whose name goes on and on and on without an end in sight"
	w.rows("rows.csv", 4000, "station,x,y", func(r *rand.Rand, i int) []any {
		s, x := i%200, r.Float64()
		return []any{`"` + names[s] + `"`, x, math.Sin(float64(s)) + x*x + 0.1*r.NormFloat64()}
	})
	w.pho("train", "--data", "rows.csv", "--formula", "y ~ station + s(x, k=6)", "--deep", "x", "--hidden", "6", "--epochs", fewEpochs, "--seed", "1", "--out", "net")
	w.pho("decompose", "--model", "net/model.onnx", "--data", "rows.csv", "--response", "y", "--out", "out")
}

// wide: 40 features.
func wide(w *workshop) {
	names, smooth := make([]string, 40), make([]string, 40)
	for j := range names {
		names[j] = fmt.Sprintf("feature_%02d", j+1)
		smooth[j] = fmt.Sprintf("s(%s, k=5)", names[j])
	}
	w.rows("rows.csv", 1500, strings.Join(names, ",")+",y", func(r *rand.Rand, _ int) []any {
		out, y := make([]any, 41), 0.0
		for j := range 40 {
			x := r.NormFloat64()
			out[j], y = x, y+math.Sin(x+float64(j))/float64(1+j)
		}
		out[40] = y + 0.1*r.NormFloat64()
		return out
	})
	w.pho("train", "--data", "rows.csv", "--kind", "mlp", "--response", "y", "--deep", strings.Join(names, ","), "--hidden", "8", "--epochs", fewEpochs, "--seed", "1", "--out", "net")
	w.pho("decompose", "--model", "net/model.onnx", "--data", "rows.csv", "--response", "y", "--formula", "~ "+strings.Join(smooth, " + "), "--out", "out")
}

// members: three networks on resamples.
func members(w *workshop) {
	w.rows("rows.csv", 800, "x0,x1,g,y", func(r *rand.Rand, _ int) []any {
		a, b, g := r.Float64(), r.NormFloat64(), r.IntN(3)
		return []any{a, b, string(rune('u' + g)), math.Sin(5*a) + 0.3*b + 0.5*float64(g) + 0.3*r.NormFloat64()}
	})
	w.pho("train", "--data", "rows.csv", "--formula", "y ~ s(x0, k=6) + x1 + g", "--deep", "x0,x1,g", "--hidden", "6", "--epochs", fewEpochs, "--seed", "1", "--members", "3", "--resample", "--out", "nets")
	w.pho("decompose", "--model", "nets", "--data", "rows.csv", "--response", "y", "--out", "out")
}

// blackBox: a network that Keras wrote, without structure and without a formula.
func blackBox(w *workshop) {
	w.rows("rows.csv", 600, "a,b,c,d", func(r *rand.Rand, _ int) []any {
		return []any{r.NormFloat64(), r.NormFloat64(), r.Float64(), r.IntN(5)}
	})
	w.pho("decompose", "--model", w.file("testdata/zoo/networks/keras/mlp_relu.onnx"), "--data", "rows.csv", "--input", "x=a,b,c,d", "--out", "out")
}

// trees: a boosted ensemble, which is split by its features.
func trees(w *workshop) {
	w.rows("rows.csv", 900, "a,b,c,d", func(r *rand.Rand, _ int) []any {
		return []any{r.NormFloat64(), r.NormFloat64(), r.NormFloat64(), r.NormFloat64()}
	})
	w.pho("decompose", "--model", w.file("testdata/zoo/networks/lightgbm/pairs.onnx"), "--data", "rows.csv", "--input", "X=a,b,c,d", "--out", "out")
}

// poisson: a response scale that is not the link's.
func poisson(w *workshop) {
	w.rows("rows.csv", 1200, "x,z,n", func(r *rand.Rand, _ int) []any {
		x, z := r.Float64(), r.NormFloat64()
		n, p := 0, r.Float64()
		for limit := math.Exp(-math.Exp(1 + math.Sin(5*x) + 0.3*z)); p > limit; n++ {
			p *= r.Float64()
		}
		return []any{x, z, n}
	})
	w.pho("train", "--data", "rows.csv", "--formula", "n ~ s(x, k=7) + z", "--family", "poisson", "--deep", "x,z", "--hidden", "6", "--epochs", fewEpochs, "--seed", "1", "--out", "net")
	w.pho("decompose", "--model", "net/model.onnx", "--data", "rows.csv", "--response", "n", "--out", "out")
}

// predictors: location and scale.
func predictors(w *workshop) {
	w.rows("rows.csv", 1000, "x,z,y", func(r *rand.Rand, _ int) []any {
		x, z := r.Float64(), r.NormFloat64()
		return []any{x, z, math.Sin(5*x) + 0.3*z + math.Exp(x-1)*r.NormFloat64()}
	})
	w.pho("train", "--data", "rows.csv", "--formula", "mu = y ~ s(x, k=7) + z", "--formula", "sigma = ~ x", "--deep", "x,z", "--hidden", "6", "--epochs", fewEpochs, "--seed", "1", "--out", "net")
	w.pho("decompose", "--model", "net/model.onnx", "--data", "rows.csv", "--response", "y", "--out", "out")
}

// skewed: columns whose axes are logarithms, one of them with zeros, as curves and as a surface.
func skewed(w *workshop) {
	w.rows("rows.csv", 1500, "income,debt,x,y", func(r *rand.Rand, _ int) []any {
		income, debt, x := math.Exp(10+1.5*r.NormFloat64()), 0.0, r.NormFloat64()
		if r.IntN(3) > 0 {
			debt = math.Exp(5 + 2*r.NormFloat64())
		}
		return []any{income, debt, x, math.Sin(math.Log(income)) + 0.2*math.Log1p(debt) + 0.3*x + 0.2*r.NormFloat64()}
	})
	w.pho("train", "--data", "rows.csv", "--kind", "mlp", "--response", "y", "--deep", "income,debt,x", "--hidden", "8", "--epochs", fewEpochs, "--seed", "1", "--out", "net")
	w.pho("decompose", "--model", "net/model.onnx", "--data", "rows.csv", "--response", "y", "--formula", "~ s(income, k=8) + s(debt, k=8) + x + ti(income, debt, k=c(5,5))", "--out", "out")
}

// released and releasedMembers: what the first release wrote.
func released(w *workshop)        { w.release("gram") }
func releasedMembers(w *workshop) { w.release("several") }

func (w *workshop) release(name string) {
	from := w.file("testdata/formats/0.1.0")
	if err := os.CopyFS(w.place("0.1.0"), os.DirFS(from)); err != nil {
		w.t.Fatal(err)
	}
	w.pho("report", filepath.Join("0.1.0", name))
	if err := os.Rename(w.place(filepath.Join("0.1.0", name)), w.place("out")); err != nil {
		w.t.Fatal(err)
	}
}

// comparison: two trainings on different rows.
func comparison(w *workshop) {
	for i, name := range []string{"first", "second"} {
		w.rows(name+".csv", 900, "x0,x1,g,y", func(r *rand.Rand, _ int) []any {
			a, b, g := r.Float64(), r.NormFloat64()+0.5*float64(i), r.IntN(3+i)
			return []any{a, b, string(rune('u' + g)), math.Sin((5+float64(i))*a) + 0.3*b + 0.5*float64(g) + 0.3*r.NormFloat64()}
		})
		w.pho("train", "--data", name+".csv", "--formula", "y ~ s(x0, k=6) + x1 + g", "--deep", "x0,x1", "--hidden", "6", "--epochs", fewEpochs, "--seed", "1", "--out", name+"-net")
		w.pho("decompose", "--model", name+"-net/model.onnx", "--data", name+".csv", "--response", "y", "--out", name)
	}
	w.pho("compare", "first", "second", "--out", "out")
}

// comparisonOfFormulas: terms of other names of the same columns, among them sums.
func comparisonOfFormulas(w *workshop) {
	for i, formula := range []string{"~ x0 + x1 + s(x1, k=6) + g + te(x0,x1,k=4)", "~ s(x0, k=7) + s(x1, k=6) + g + te(x1,x0,k=4)"} {
		name := []string{"first", "second"}[i]
		w.rows(name+".csv", 900, "x0,x1,g,y", func(r *rand.Rand, _ int) []any {
			a, b, g := r.Float64()+0.2*float64(i), r.NormFloat64(), r.IntN(3)
			return []any{a, b, string(rune('u' + g)), math.Sin(5*a) + 0.3*b + a*b + 0.5*float64(g) + 0.3*r.NormFloat64()}
		})
		w.pho("train", "--data", name+".csv", "--kind", "mlp", "--response", "y", "--deep", "x0,x1,g", "--hidden", "6", "--epochs", fewEpochs, "--seed", "1", "--out", name+"-net")
		w.pho("decompose", "--model", name+"-net/model.onnx", "--data", name+".csv", "--response", "y", "--formula", formula, "--out", name)
	}
	w.pho("compare", "first", "second", "--out", "out")
}

// threeClasses are few enough for the pictures of each.
func threeClasses(w *workshop) {
	w.rows("rows.csv", 900, "a,b,f,class", func(r *rand.Rand, _ int) []any {
		a, b, best, most := r.NormFloat64(), r.Float64(), 0, math.Inf(-1)
		for k := range 3 {
			if v := math.Sin(float64(k)+2*a) + float64(k)*b - math.Log(-math.Log(r.Float64())); v > most {
				best, most = k, v
			}
		}
		return []any{a, b, "level " + string(rune('a'+r.IntN(4))), []string{"setosa", "versicolor of the WESTERN MOUNTAINS", "virginica"}[best]}
	})
	w.pho("train", "--data", "rows.csv", "--formula", "class ~ s(a, k=7) + b + f", "--family", "categorical", "--deep", "a,b", "--hidden", "6", "--epochs", fewEpochs, "--seed", "1", "--out", "net")
	w.pho("decompose", "--model", "net/model.onnx", "--data", "rows.csv", "--response", "class", "--out", "out")
}

// ordinal: ordered classes.
func ordinal(w *workshop) {
	w.rows("rows.csv", 900, "x,z,g,grade", func(r *rand.Rand, _ int) []any {
		x, z, g, u := r.Float64(), r.NormFloat64(), r.IntN(3), r.Float64()
		eta := math.Sin(5*x) + 0.5*z + 0.5*float64(g) + math.Log(u/(1-u))
		return []any{x, z, string(rune('u' + g)), 1 + min(3, max(0, int(eta+1)))}
	})
	w.pho("train", "--data", "rows.csv", "--formula", "grade ~ s(x, k=7) + z + g", "--family", "ordinal", "--deep", "x,z", "--hidden", "6", "--epochs", fewEpochs, "--seed", "1", "--out", "net")
	w.pho("decompose", "--model", "net/model.onnx", "--data", "rows.csv", "--response", "grade", "--out", "out")
}

// times and hazards: times, some of them censored, by a distribution and by hazards.
func times(w *workshop)   { w.survival("weibull") }
func hazards(w *workshop) { w.survival("cox") }

func (w *workshop) survival(family string) {
	w.rows("rows.csv", 900, "age,dose,g,time,seen", func(r *rand.Rand, _ int) []any {
		age, dose, g := 30+50*r.Float64(), r.ExpFloat64(), r.IntN(2)
		t, c := 100*r.ExpFloat64()*math.Exp(-0.03*(age-50)+0.3*math.Sin(dose)-0.4*float64(g)), 150*r.Float64()
		return []any{age, dose, string(rune('u' + g)), math.Min(t, c), map[bool]int{true: 1, false: 0}[t <= c]}
	})
	w.pho("train", "--data", "rows.csv", "--formula", "Surv(time, seen) ~ s(age, k=6) + dose + g", "--family", family, "--deep", "age,dose", "--hidden", "6", "--epochs", fewEpochs, "--seed", "1", "--out", "net")
	w.pho("decompose", "--model", "net/model.onnx", "--data", "rows.csv", "--response", "time", "--event", "seen", "--family", family, "--out", "out")
}

// form is the page of pho serve, of a column of numbers and one of 200 levels.
func form(w *workshop) {
	levels(w)
	w.served()
}

// formOfClasses is that of ten classes.
func formOfClasses(w *workshop) {
	classes(w)
	w.served()
}

// served puts the page that pho serve has of the result beside it.
func (w *workshop) served() {
	w.t.Helper()
	c := exec.Command(written.pho, "serve", "out", "--listen", "127.0.0.1:0")
	c.Dir = w.dir
	log, err := c.StderrPipe()
	if err == nil {
		err = c.Start()
	}
	if err != nil {
		w.t.Fatal(err)
	}
	defer c.Wait()
	defer c.Process.Kill()
	address := ""
	for lines := bufio.NewScanner(log); address == "" && lines.Scan(); {
		var said struct{ Msg, Address string }
		if err := json.Unmarshal(lines.Bytes(), &said); err != nil {
			w.t.Fatalf("%v: %s", err, lines.Bytes())
		}
		address = said.Address
	}
	r, err := http.Get("http://" + address + "/")
	if err != nil {
		w.t.Fatal(err)
	}
	defer r.Body.Close()
	page, err := io.ReadAll(r.Body)
	if err == nil {
		err = os.WriteFile(w.place("out/form.html"), page, 0o644)
	}
	if err != nil || r.StatusCode != http.StatusOK {
		w.t.Fatalf("%s, %v: %s", r.Status, err, page)
	}
}

// drift is a network that is followed over 30 days, of which the last are other ones.
func drift(w *workshop) {
	w.rows("rows.csv", 1500, "when,x0,x1,g,y", func(r *rand.Rand, i int) []any {
		a, b, g := r.Float64(), r.NormFloat64(), r.IntN(3)
		if i >= 1200 {
			b += 0.8
		}
		return []any{fmt.Sprintf("2026-01-%02d", 1+i/50), a, b, string(rune('u' + g)), math.Sin(5*a) + 0.3*b + 0.5*float64(g) + 0.3*r.NormFloat64()}
	})
	w.pho("train", "--data", "rows.csv", "--formula", "y ~ s(x0, k=6) + x1 + g", "--deep", "x0,x1", "--hidden", "6", "--epochs", fewEpochs, "--seed", "1", "--out", "net")
	w.pho("decompose", "--model", "net/model.onnx", "--data", "rows.csv", "--response", "y", "--out", "result")
	w.pho("monitor", "result", "--data", "rows.csv", "--time", "when", "--response", "y", "--block", "10", "--state", "state.json", "--out", "out")
}

func bike(w *workshop) {
	w.pho("train", "--data", w.data, "--formula", "cnt ~ s(hr, k=12) + s(temp) + factor(season) + workingday", "--deep", "hr,temp,hum,windspeed,workingday,weathersit", "--hidden", "16", "--epochs", fewEpochs, "--seed", "1", "--out", "net")
	w.pho("decompose", "--model", "net/model.onnx", "--data", w.data, "--response", "cnt", "--formula", "~ factor(weathersit) + s(hum) + s(hr, by=workingday)", "--out", "out")
}

func california(w *workshop) {
	w.pho("train", "--data", w.data, "--kind", "mlp", "--response", "med_house_value", "--deep", "med_inc,house_age,ave_rooms,ave_bedrms,population,ave_occup,latitude,longitude", "--hidden", "16", "--epochs", fewEpochs, "--seed", "1", "--out", "net")
	w.pho("decompose", "--model", "net/model.onnx", "--data", w.data, "--response", "med_house_value", "--formula", "~ s(med_inc) + s(house_age) + s(ave_rooms) + s(ave_occup) + te(latitude,longitude) + population", "--out", "out")
}
