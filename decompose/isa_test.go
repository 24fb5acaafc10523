package decompose_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/cpu"
	"gonum.org/v1/gonum/mat"

	"github.com/pho-go/pho/basis"
	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/decompose"
	"github.com/pho-go/pho/internal/base/kernel"
)

// isaCase is a formula. What is not the same bytes without fused multiply-adds may be
// off by as much, relative to the largest; 0: 1e-11.
type isaCase struct {
	name, formula string
	eigenvectors  bool // are in the terms' definitions
	parts, alpha  float64
}

var isaCases = []isaCase{
	{name: "lines and factor", formula: `~ x + z + factor(g)`},
	{name: "ps", formula: `~ s(x,bs="ps",k=20) + s(z,bs="ps")`},
	{name: "cr, cyclic", formula: `~ s(x,bs="cr") + s(z,bs="cc")`},
	{name: "tp of few values", formula: `~ s(tenth)`, eigenvectors: true},
	{name: "tp of many values", formula: `~ s(x)`, eigenvectors: true},
	{name: "ts of many values", formula: `~ s(x,bs="ts",k=20)`, eigenvectors: true},
	{name: "tp by factor", formula: `~ g + s(x,by=g,k=6)`, eigenvectors: true},
	{name: "tp on a square grid", formula: `~ s(gx,gz,k=30)`, eigenvectors: true},
	{name: "tp on a large square grid", formula: `~ s(hx,hz,k=29)`, eigenvectors: true},
	{name: "tp of two columns", formula: `~ s(x,z,k=20)`, eigenvectors: true},
	{name: "te", formula: `~ te(x,z,k=5)`},
	{name: "te of tp", formula: `~ te(x,z,bs="tp",k=4)`, eigenvectors: true},
	{name: "ti", formula: `~ ti(x) + ti(z) + ti(x,z)`},
	{name: "fs", formula: `~ s(x,g,bs="fs",k=5)`, eigenvectors: true},
	{name: "random effect", formula: `~ s(g,bs="re")`},
}

const isaRows = 9000

func isaTable(t *testing.T) *data.Table {
	t.Helper()
	r := rand.New(rand.NewPCG(19, 4))
	tab := data.NewTable(isaRows)
	columns := map[string][]float64{}
	var text []string
	for i := range isaRows {
		x, z := r.Float64(), r.Float64()
		columns["x"], columns["z"] = append(columns["x"], x), append(columns["z"], z)
		columns["tenth"] = append(columns["tenth"], math.Round(40*x)/10)
		columns["gx"], columns["gz"] = append(columns["gx"], math.Floor(9*x)), append(columns["gz"], math.Floor(9*z))
		columns["hx"], columns["hz"] = append(columns["hx"], math.Floor(21*x)), append(columns["hz"], math.Floor(21*z))
		text = append(text, []string{"a", "b", "c"}[i*7%3])
	}
	for _, name := range []string{"x", "z", "tenth", "gx", "gz", "hx", "hz"} {
		must(t, tab.AddNumeric(name, columns[name]))
	}
	must(t, tab.AddTexts("g", text))
	return tab
}

// semistructured is a network of two hidden layers next to a line, run by the kernels.
type semistructured struct {
	first, second, last *kernel.Weights[float64]
	line                *decompose.LinearTerm
	tap                 bool
}

const isaWidth = 32

func newSemistructured(tap bool) *semistructured {
	r := rand.New(rand.NewPCG(3, 1))
	draw := func(k, n int) *kernel.Weights[float64] {
		w := make([]float64, k*n)
		for i := range w {
			w[i] = r.NormFloat64() / math.Sqrt(float64(k)) * 1.5
		}
		return kernel.Pack(k, n, w, false)
	}
	return &semistructured{first: draw(2, isaWidth), second: draw(isaWidth, isaWidth), last: draw(isaWidth, 1), line: &decompose.LinearTerm{Column: "x"}, tap: tap}
}

func (s *semistructured) Predictors() []string  { return []string{"eta"} }
func (s *semistructured) Columns() []string     { return []string{"x", "z"} }
func (s *semistructured) Intercept(int) float64 { return 0.25 }
func (s *semistructured) Taps() map[string]int {
	if s.tap {
		return map[string]int{"hidden": isaWidth}
	}
	return nil
}

func (s *semistructured) Blocks(int) []decompose.Block {
	if !s.tap {
		return nil
	}
	return []decompose.Block{
		{Term: s.line, Coef: []float64{2}},
		{Term: &decompose.Tap{Tensor: "hidden", Features: []string{"x", "z"}, Width: isaWidth}},
	}
}

func (s *semistructured) Forward(_ context.Context, dst *decompose.Outputs, b *data.Batch) error {
	x, err := b.Numeric("x")
	if err != nil {
		return err
	}
	z, err := b.Numeric("z")
	if err != nil {
		return err
	}
	n := len(x)
	in := make([]float64, 0, 2*n)
	for i := range x {
		in = append(in, 4*x[i]-2, 4*z[i]-2)
	}
	one, two, out := make([]float64, n*isaWidth), make([]float64, n*isaWidth), make([]float64, n)
	s.first.Mul(one, isaWidth, in, 2, n, nil)
	kernel.Tanh(one, one)
	s.second.Mul(two, isaWidth, one, isaWidth, n, nil)
	kernel.Sigmoid(two, two)
	s.last.Mul(out, 1, two, isaWidth, n, nil)
	for i, v := range out {
		dst.Zeta.Set(i, 0, v)
		if s.tap {
			v += 0.25 + 2*x[i]
			dst.Taps["hidden"].SetRow(i, two[i*isaWidth:(i+1)*isaWidth])
		} else {
			dst.Zeta.Set(i, 0, v-0.25)
		}
		dst.Eta.Set(i, 0, v)
	}
	return nil
}

// isaReport is what one process found.
type isaReport struct {
	AVX2, AVX512 bool
	Cases        map[string]*isaAnswer
	// Own and Shared are statistics of a shard: of terms found in its rows, and of terms
	// that another process sent.
	Own, Shared []byte
}

type isaAnswer struct {
	Blocks             json.RawMessage
	Statistics, Result string    // hashes
	Columns            []float64 // of the formula's bases at some rows
	Parts              []float64 // at some rows
	Alpha              []float64
}

func hashOf(b []byte) string {
	h := sha256.Sum256(b)
	return hex.EncodeToString(h[:])
}

// isaDecompose decomposes m with further blocks.
func isaDecompose(t *testing.T, m decompose.Model, tab *data.Table, extra []decompose.Block) *isaAnswer {
	t.Helper()
	ctx := context.Background()
	s, whole := shard(t, m, extra, tab, 0)
	a := &isaAnswer{Statistics: hashOf(bytesOf(t, s))}
	var err error
	a.Blocks, err = decompose.EncodeBlocks([][]decompose.Block{extra})
	must(t, err)
	r, err := decompose.Decompose(ctx, whole, tab, nil)
	must(t, err)
	doc, sums := encode(t, r)
	a.Result = hashOf(append(doc, sums...))
	for _, term := range r.Predictors[0].Terms {
		a.Alpha = append(a.Alpha, term.Alpha...)
	}
	const every = 97
	for parts, err := range mustApplier(t, r, whole).All(ctx, tab) {
		must(t, err)
		p := parts.Predictors[0]
		for i := 0; i < parts.Batch.Rows(); i += every {
			a.Parts = append(a.Parts, p.Eta[i], p.Unstructured[i])
			a.Parts = append(a.Parts, p.Terms.RawRowView(i)...)
		}
		for _, b := range extra {
			x := mat.NewDense(parts.Batch.Rows(), b.Term.Dim(), nil)
			must(t, b.Term.Eval(x, parts.Batch))
			for i := 0; i < parts.Batch.Rows(); i += every {
				a.Columns = append(a.Columns, x.RawRowView(i)...)
			}
		}
	}
	return a
}

const isaShard = `~ s(x) + s(z,bs="ps")`

// isaChild writes the report of this process.
func isaChild(t *testing.T, report, terms string) {
	tab := isaTable(t)
	r := isaReport{AVX2: cpu.X86.HasAVX2, AVX512: cpu.X86.HasAVX512F, Cases: map[string]*isaAnswer{}}
	for _, c := range isaCases {
		r.Cases[c.name] = isaDecompose(t, newSemistructured(false), tab, builtBlocks(t, c.formula, tab))
	}
	r.Cases["learned"] = isaDecompose(t, newSemistructured(true), tab, nil)
	doc, err := os.ReadFile(terms)
	must(t, err)
	shared, err := decompose.DecodeBlocks(doc, basis.Decode)
	must(t, err)
	const first = 3 // blocks, after those of isaRows
	own, _ := shard(t, newSemistructured(false), builtBlocks(t, isaShard, tab), tab, first)
	same, _ := shard(t, newSemistructured(false), shared[0], tab, first)
	r.Own, r.Shared = bytesOf(t, own), bytesOf(t, same)
	text, err := json.Marshal(r)
	must(t, err)
	must(t, os.WriteFile(report, text, 0o600))
}

// isaReportOf runs this test in a process without some instructions.
func isaReportOf(t *testing.T, off, terms string) *isaReport {
	t.Helper()
	path := filepath.Join(t.TempDir(), "report")
	c := exec.Command(os.Args[0], "-test.run=^TestInstructionSets$", "-test.count=1")
	c.Env = append(os.Environ(), "GODEBUG="+off, "PHO_TEST_ISA_REPORT="+path, "PHO_TEST_ISA_TERMS="+terms)
	if out, err := c.CombinedOutput(); err != nil {
		t.Fatalf("GODEBUG=%s: %v\n%s", off, err, out)
	}
	text, err := os.ReadFile(path)
	must(t, err)
	r := new(isaReport)
	must(t, json.Unmarshal(text, r))
	return r
}

// TestInstructionSets: whole decompositions with AVX2 have the bytes of those with
// AVX-512; without either, terms that no eigenvectors make are the same bytes, and
// everything else is equal to rounding, signs included.
func TestInstructionSets(t *testing.T) {
	if path := os.Getenv("PHO_TEST_ISA_REPORT"); path != "" {
		isaChild(t, path, os.Getenv("PHO_TEST_ISA_TERMS"))
		return
	}
	if runtime.GOARCH != "amd64" || !cpu.X86.HasAVX2 || !cpu.X86.HasFMA {
		t.Skip("this machine has no vector instructions to do without")
	}
	if testing.Short() {
		t.Skip("three processes that decompose")
	}
	tab := isaTable(t)
	blocks := builtBlocks(t, isaShard, tab)
	doc, err := decompose.EncodeBlocks([][]decompose.Block{blocks})
	must(t, err)
	terms := filepath.Join(t.TempDir(), "terms")
	must(t, os.WriteFile(terms, doc, 0o600))
	all := isaReportOf(t, "", terms)
	reports := map[string]*isaReport{}
	t.Run("avx2", func(t *testing.T) {
		if !cpu.X86.HasAVX512F {
			t.Skip("this machine has no AVX-512 to do without")
		}
		r := isaReportOf(t, "cpu.avx512f=off", terms)
		if r.AVX512 || !r.AVX2 {
			t.Fatal("AVX-512 was not turned off")
		}
		reports["avx2"] = r
		for name, want := range all.Cases {
			got := r.Cases[name]
			if string(got.Blocks) != string(want.Blocks) || got.Statistics != want.Statistics || got.Result != want.Result || !slices.Equal(got.Parts, want.Parts) {
				t.Errorf("%s: not the bytes of AVX-512: terms equal %t, statistics %t, result %t, parts off by %.1e",
					name, string(got.Blocks) == string(want.Blocks), got.Statistics == want.Statistics, got.Result == want.Result, difference(got.Parts, want.Parts))
			}
		}
	})
	t.Run("plain", func(t *testing.T) {
		r := isaReportOf(t, "cpu.avx2=off", terms)
		if r.AVX2 {
			t.Fatal("AVX2 was not turned off")
		}
		reports["plain"] = r
		for _, c := range append(isaCases, isaCase{name: "learned", parts: 1e-9, alpha: 1e-6}) {
			got, want := r.Cases[c.name], all.Cases[c.name]
			if !c.eigenvectors && string(got.Blocks) != string(want.Blocks) {
				t.Errorf("%s: other terms", c.name)
			}
			if c.parts == 0 {
				c.parts, c.alpha = 1e-11, 1e-11
			}
			columns, parts, alpha := difference(got.Columns, want.Columns), difference(got.Parts, want.Parts), difference(got.Alpha, want.Alpha)
			t.Logf("%-26s columns off by %.0e, parts %.0e, alpha %.0e", c.name, columns, parts, alpha)
			if !(columns < 1e-11 && parts < c.parts && alpha < c.alpha) {
				t.Errorf("%s: columns off by %.1e, parts by %.1e, alpha by %.1e", c.name, columns, parts, alpha)
			}
		}
	})
	for name, r := range reports {
		t.Run("shards of "+name, func(t *testing.T) {
			s, _ := shard(t, newSemistructured(false), blocks, tab, 0)
			own, shared := new(decompose.Statistics), new(decompose.Statistics)
			must(t, own.UnmarshalBinary(r.Own))
			must(t, shared.UnmarshalBinary(r.Shared))
			err := s.Merge(own)
			const tp = "tp of many values" // the term s(x)
			switch {
			case string(r.Cases[tp].Blocks) == string(all.Cases[tp].Blocks): // AVX2, and builds without assembly
				must(t, err)
			case err == nil || !strings.Contains(err.Error(), `term "s(x)"`) || !strings.Contains(err.Error(), "basis.weights"):
				t.Errorf("terms of another instruction set: %v", err)
			}
			s, m := shard(t, newSemistructured(false), blocks, tab, 0)
			must(t, s.Merge(shared))
			_, err = decompose.Solve(t.Context(), m, s, nil)
			must(t, err)
		})
	}
}

// difference is the largest relative to the largest of a.
func difference(a, b []float64) float64 {
	if len(a) != len(b) {
		return math.NaN()
	}
	worst, size := 0.0, 1e-300
	for i, v := range a {
		size = math.Max(size, math.Abs(v))
		worst = math.Max(worst, math.Abs(v-b[i]))
	}
	return worst / size
}
