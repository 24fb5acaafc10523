package basis

import (
	"bytes"
	"context"
	"errors"
	"iter"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/decompose"
	"github.com/pho-go/pho/decompose/sumstest"
)

// everyTerm has a scanner of each sort, in formulas that name each term once.
var everyTerm = []string{
	`~ x + g + factor(h) + g:h + g:x:h + onehot(o1,o2,o3) + s(x, bs="ps") + s(z, bs="cr") + s(x, z, k=12) + s(x, by=g, k=6) + s(z, by=x, bs="cr", k=5)
		+ te(x, z, k=4) + ti(x, z, k=4) + te(x, g, bs=c("cr","re"), k=4) + ti(x, g, bs=c("cr","re"), k=4) + s(g, bs="re") + s(x, g, bs="fs", k=5)`,
	`~ s(x, bs="cc", k=6) + s(z, bs="cp", k=7) + s(x, z, bs="rbf", k=9) + s(x, bs="ps", by=factor(h)) + ti(x, z, bs=c("ps","cr"), k=c(5,4), by=g) + s(g, x, bs="re")`,
	`~ s(x, bs="cs", k=5) + s(z, bs="bs") + s(x, z, by=g, k=9) + s(g, h, bs="re")`, `~ s(x) + s(z, bs="ts") + s(w, bs="ps") + s(x, by=w, bs="cr") + s(w, x, bs="rbf", k=6)`, `~ s(x, bs="rbf", k=6) + s(w, bs="cr")`,
}

// observations are rows that can be cut, with texts numbered in each piece as they appear there.
type observations struct {
	schema  data.Schema
	numbers map[string][]float64
	texts   map[string][]string
	rows    []int64 // their numbers
}

// observed makes the rows that are left of n when some are dropped. Their values are rounded to steps of the
// given length (0: not).
func observed(n int, drop, step float64, seed uint64) *observations {
	r := rand.New(rand.NewPCG(seed, 5))
	o := &observations{numbers: map[string][]float64{}, texts: map[string][]string{}}
	for _, name := range []string{"x", "z", "h", "w", "o1", "o2", "o3"} {
		o.schema = append(o.schema, data.Column{Name: name, Numeric: true})
	}
	o.schema = append(o.schema, data.Column{Name: "g", Categorical: true})
	round := func(v float64) float64 {
		if step == 0 {
			return v
		}
		return math.Round(v/step) * step // -0 among them
	}
	levels := []string{"low", "mid", "high", "2", "10"}
	for i := range n {
		x, z, h, g, level := round(3*r.NormFloat64()), round(r.ExpFloat64()-1), float64(r.IntN(4)-1), levels[r.IntN(4)], r.IntN(4)
		if h == 0 && r.IntN(2) == 0 {
			h = math.Copysign(0, -1)
		}
		w := max(x, 0) // 0 and -0 are its least
		if w == 0 && r.IntN(2) == 0 {
			w = math.Copysign(0, -1)
		}
		if i > n-300 && r.IntN(50) == 0 {
			g = levels[4] // in the last shard only
		}
		if r.Float64() < drop {
			continue
		}
		o.rows = append(o.rows, int64(i))
		for name, v := range map[string]float64{"x": x, "z": z, "h": h, "w": w, "o1": indicator(level == 1), "o2": indicator(level == 2), "o3": indicator(level == 3)} {
			o.numbers[name] = append(o.numbers[name], v)
		}
		o.texts["g"] = append(o.texts["g"], g)
	}
	return o
}

func indicator(is bool) float64 {
	if is {
		return 1
	}
	return 0
}

// piece is a source of the rows with numbers from first to next-1, in batches of any size.
type piece struct {
	*observations
	first, next int64
	seed        uint64
}

func (p piece) Schema() data.Schema { return p.schema }

func (p piece) Batches(context.Context, []string) iter.Seq2[*data.Batch, error] {
	from, _ := slices.BinarySearch(p.rows, p.first)
	to, _ := slices.BinarySearch(p.rows, p.next)
	r := rand.New(rand.NewPCG(p.seed, 9))
	return func(yield func(*data.Batch, error) bool) {
		if from == to {
			return
		}
		all := data.NewBatch(to-from, 0)
		err := all.SetRows(p.rows[from:to])
		for name, x := range p.numbers {
			err = errors.Join(err, all.SetNumeric(name, x[from:to]))
		}
		for name, text := range p.texts {
			err = errors.Join(err, all.SetCodes(name, encode(text[from:to])))
		}
		for at := 0; at < to-from && err == nil; {
			next := min(at+1+r.IntN(3000), to-from)
			if !yield(all.Slice(at, next), nil) {
				return
			}
			at = next
		}
		if err != nil {
			yield(nil, err)
		}
	}
}

// pieces cuts n row numbers at random multiples of every, empty pieces among them.
func (o *observations) pieces(n, every int, r *rand.Rand) (all []piece) {
	cuts := []int{0, n}
	for range 1 + r.IntN(5) {
		cuts = append(cuts, r.IntN(n/every+1)*every)
	}
	slices.Sort(cuts)
	for i := 1; i < len(cuts); i++ {
		all = append(all, piece{o, int64(cuts[i-1]), int64(cuts[i]), r.Uint64()})
	}
	return all
}

// look is the share of one process in the look that is needed next, encoded; nil if none is.
func look(t *testing.T, specs []decompose.Spec, totals decompose.Recorded, src data.Source) (name string, seen []byte) {
	t.Helper()
	_, err := decompose.PrepareFrom(t.Context(), totals, "terms", specs, nil)
	var needed *decompose.ScanNeeded
	if !errors.As(err, &needed) {
		must(t, err)
		return "", nil
	}
	own, err := needed.Accumulate(t.Context(), src)
	must(t, err)
	seen, err = own.MarshalBinary()
	must(t, err)
	return needed.Name, seen
}

// checkPieces compares sums and blocks made from pieces with the ones that a single process makes.
// It returns the bytes of the totals.
func checkPieces(t *testing.T, specs []decompose.Spec, whole data.Source, pieces []piece, r *rand.Rand) (totals map[string][]byte) {
	t.Helper()
	recorded := decompose.Recorded{}
	totals = map[string][]byte{}
	for {
		name, want := look(t, specs, recorded, whole)
		if want == nil {
			break
		}
		var shares [][]byte
		for _, p := range pieces {
			_, seen := look(t, specs, recorded, p)
			shares = append(shares, seen)
		}
		got := sumstest.MergeScanned(t, shares, DecodeSums, r)
		if !bytes.Equal(got, want) {
			t.Fatalf("the look at the %s: the sums of %d pieces are others than those of all rows", name, len(pieces))
		}
		total, err := decompose.DecodeScanned(got, DecodeSums)
		must(t, err)
		recorded[name], totals[name] = total, got
		if len(totals) > 3 {
			t.Fatal("looks without end")
		}
	}
	for name, raw := range totals { // what was restored may have been used up
		total, err := decompose.DecodeScanned(raw, DecodeSums)
		must(t, err)
		recorded[name] = total
	}
	replayed, err := decompose.PrepareFrom(t.Context(), recorded, "terms", specs, nil)
	must(t, err)
	direct, err := decompose.PrepareEach(t.Context(), whole, specs, nil)
	must(t, err)
	for i := range direct {
		a, err := decompose.EncodeBlocks([][]decompose.Block{replayed[i].Blocks})
		must(t, err)
		b, err := decompose.EncodeBlocks([][]decompose.Block{direct[i].Blocks})
		must(t, err)
		if !bytes.Equal(a, b) || !slices.Equal(replayed[i].Notes, direct[i].Notes) {
			t.Errorf("spec %d (%s): the blocks made of the pieces' sums are others", i, direct[i].Blocks[0].Term.Name())
		}
	}
	return totals
}

func specsOf(t testing.TB, schema data.Schema, formulas ...string) (specs []decompose.Spec) {
	t.Helper()
	for _, text := range formulas {
		f, err := Parse(text, &Options{Schema: schema})
		must(t, err)
		specs = append(specs, f.Specs...)
	}
	return specs
}

// TestSumsOfPieces: whatever the cuts, the batches, the rows left out and the order and grouping of merges, the sums are those
// of all rows, to the last bit, and so are the terms.
func TestSumsOfPieces(t *testing.T) {
	rounds := 3
	if testing.Short() {
		rounds = 1
	}
	for seed := range uint64(rounds) {
		r := rand.New(rand.NewPCG(seed, 2))
		n := 9000 + r.IntN(9000)
		o := observed(n, float64(seed%3)*0.3, 0.05, seed)
		if seed == 1 { // a whole chunk is missing
			o.rows = slices.Clone(o.rows)
			at, _ := slices.BinarySearch(o.rows, 4096)
			for i := at; i < len(o.rows); i++ {
				o.rows[i] += 2 * 4096
			}
			n += 2 * 4096
		}
		specs := specsOf(t, o.schema, everyTerm...)
		whole := piece{o, 0, int64(n), 77}
		checkPieces(t, specs, whole, o.pieces(n, sumRows, r), r)
	}
}

// TestSampledSumsOfPieces: so it is where there are more values and points than are kept, and
// cuts are anywhere for terms that add up no numbers.
func TestSampledSumsOfPieces(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 2))
	const n = 7000
	o := observed(n, 0.1, 0, 3)
	specs := specsOf(t, o.schema, `~ g + g:factor(h) + s(x, bs="ps", by=g) + s(x, bs="cr") + s(x, z, bs="rbf", k=9) + s(z, bs="rbf", k=6)`)
	for range 5 {
		checkPieces(t, specs, piece{o, 0, n, 1}, o.pieces(n, 1, r), r)
	}
	s := specs[4].Scanner().(*surfaceScan)
	for b, err := range (piece{o, 0, n, 1}).Batches(t.Context(), nil) {
		must(t, err)
		must(t, s.Scan(b))
	}
	if !s.points.Sampled() {
		t.Error("all points are kept: this test is to be about a sample")
	}
}

// TestEmptyTotal: sums of no rows at all give the errors that no rows give.
func TestEmptyTotal(t *testing.T) {
	o := observed(100, 0, 0.1, 1)
	for _, text := range []string{"~ g", "~ onehot(o1,o2,o3)", "~ g:h", "~ s(x, bs='ps')", "~ s(x, z)", "~ te(x, z)", "~ te(x, g, bs=c('cr','re'))", "~ s(g, bs='re')"} {
		specs := specsOf(t, o.schema, text)
		none := piece{o, 50, 50, 1}
		_, want := decompose.Prepare(t.Context(), none, specs, nil)
		if want == nil {
			t.Fatalf("%s: terms of no rows", text)
		}
		name, raw := look(t, specs, nil, none)
		total, err := decompose.DecodeScanned(sumstest.MergeScanned(t, [][]byte{raw, raw, raw}, DecodeSums, rand.New(rand.NewPCG(1, 1))), DecodeSums)
		must(t, err)
		if _, err := decompose.PrepareFrom(t.Context(), decompose.Recorded{name: total}, "terms", specs, nil); err == nil || err.Error() != want.Error() {
			t.Errorf("%s: %v, want %v", text, err, want)
		}
	}
}

// TestForeignSums: what cannot be added up says so.
func TestForeignSums(t *testing.T) {
	o := observed(9000, 0, 0.1, 1)
	first, again, inside := piece{o, 0, 4096, 1}, piece{o, 0, 9000, 1}, piece{o, 5000, 9000, 1}
	sums := func(text string, totals decompose.Recorded, src data.Source) *decompose.Scanned {
		_, raw := look(t, specsOf(t, o.schema, text), totals, src)
		s, err := decompose.DecodeScanned(raw, DecodeSums)
		must(t, err)
		return s
	}
	fs := "~ s(x, g, bs='fs', k=5)"
	whole := decompose.Recorded{"terms": sums(fs, nil, again)}
	for _, c := range []struct {
		a, b *decompose.Scanned
		want string
	}{
		{sums("~ g", nil, first), sums("~ g + factor(h)", nil, first), "scans of 1 and 2 terms do not merge"},
		{sums("~ g", nil, first), sums("~ factor(h)", nil, first), "sums of the terms g (1) and factor(h) (1)"},
		{sums("~ s(x, bs='ps')", nil, first), sums("~ s(x, bs='cr')", nil, first), "collected differently"},
		{sums("~ s(x, z)", nil, first), sums("~ s(x, z, bs='rbf')", nil, first), ""},
		{sums(fs, whole, first), sums(fs, whole, again), "the rows 1 to 4096, or some of them, were seen twice"},
		{sums(fs, whole, piece{o, 0, 5000, 1}), sums(fs, whole, inside), "shards begin at multiples of 4096 rows"},
		{sums(fs, nil, first), sums(fs, whole, first), "do not add up"},
	} {
		err := c.a.Merge(c.b)
		if c.want == "" {
			must(t, err)
		} else if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v, want %s", err, c.want)
		}
	}
}

// TestStrays: rows whose numbers do not increase are added up in one process, and refused as a shard.
func TestStrays(t *testing.T) {
	s := newChunkSums(1)
	for _, row := range []int64{5000, 5001, 1, 2, 9000, 5002} {
		s.of(row)[0] += float64(row)
	}
	if got := s.total(); got[0] != 24006 || s.rows != 6 {
		t.Errorf("the sum is %v over %d rows", got, s.rows)
	}
	if _, err := sumsOf("s", []part{s}); err == nil || !strings.Contains(err.Error(), "numbers do not increase") {
		t.Error(err)
	}
}

// unsummed is a scanner of somebody else, that cannot be shared.
type unsummed struct{ decompose.Spec }

func (u unsummed) Scanner() decompose.Scanner {
	return struct{ decompose.Scanner }{u.Spec.Scanner()}
}

func TestUnsummedScanner(t *testing.T) {
	o := observed(100, 0, 0.1, 1)
	specs := []decompose.Spec{unsummed{Factor("g", nil)}}
	if _, err := decompose.Prepare(t.Context(), piece{o, 0, 100, 1}, specs, nil); err != nil {
		t.Error(err)
	}
	if _, err := decompose.PrepareFrom(t.Context(), decompose.Recorded{}, "terms", specs, nil); err == nil || !strings.Contains(err.Error(), "must be a decompose.SummingScanner") {
		t.Error(err)
	}
}

// FuzzDecodeSums: damaged sums are errors; what is read is written again as it was.
func FuzzDecodeSums(f *testing.F) {
	o := observed(300, 0, 0.1, 1)
	for _, s := range specsOf(f, o.schema, everyTerm...) {
		own, ok := s.Scanner().(decompose.SummingScanner)
		if !ok || !own.NeedsScan() {
			continue
		}
		for b := range (piece{o, 0, 300, 1}).Batches(context.Background(), nil) {
			must(f, own.Scan(b))
		}
		for range 2 {
			sums, err := own.Sums()
			must(f, err)
			raw, err := sums.MarshalBinary()
			must(f, err)
			f.Add(raw)
			if r, ok := own.(decompose.Rescanner); ok {
				_, _ = r.Again()
			}
		}
	}
	f.Fuzz(func(t *testing.T, raw []byte) { sumstest.Read(t, sumsKind, raw, DecodeSums) })
}
