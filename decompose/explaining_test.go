package decompose_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"iter"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/pho-go/pho/basis"
	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/decompose"
)

// someRows are rows [from, to) of a table with their numbers in it, without those that are
// left out.
type someRows struct {
	*data.Table
	from, to int
	out      func(row int) bool // nil: none
}

func (s someRows) Batches(ctx context.Context, columns []string) iter.Seq2[*data.Batch, error] {
	return func(yield func(*data.Batch, error) bool) {
		for b, err := range s.Table.Batches(ctx, columns) {
			if err != nil {
				yield(nil, err)
				return
			}
			for i := 0; i < b.Rows(); i++ {
				first := i
				for ; i < b.Rows() && s.has(int(b.Row(i))); i++ {
				}
				if first < i && !yield(b.Slice(first, i), nil) {
					return
				}
			}
		}
	}
}

func (s someRows) has(row int) bool {
	return row >= s.from && row < s.to && (s.out == nil || !s.out(row))
}

// adding is a visitor whose outcomes are Sums: of the deep part.
type adding struct{ sums deepSums }

// deepSums are sums that depend on the order in which they are added up.
type deepSums struct{ N, Sum, First float64 }

func (s *deepSums) Kind() string { return "deep/1" }

func (s *deepSums) Add(next decompose.Sums) error {
	o, ok := next.(*deepSums)
	if !ok {
		return fmt.Errorf("%T is added to sums of the deep part", next)
	}
	s.N, s.Sum = s.N+o.N, s.Sum+o.Sum
	o.N = math.NaN() // is not used afterwards
	return nil
}

func (s *deepSums) MarshalBinary() ([]byte, error) {
	return binary.Append(nil, binary.LittleEndian, []float64{s.N, s.Sum, s.First})
}

func decodeDeep(kind string, raw []byte) (decompose.Sums, error) {
	s := &deepSums{}
	if kind != s.Kind() || len(raw) != 24 {
		return nil, fmt.Errorf("%d bytes of kind %q are no sums of the deep part", len(raw), kind)
	}
	_, err := binary.Decode(raw, binary.LittleEndian, s)
	return s, err
}

func (v *adding) Begin(*decompose.Result) error { v.sums = deepSums{}; return nil }
func (v *adding) Columns() []string             { return nil }

func (v *adding) Map(p *decompose.Parts) (any, error) {
	s := &deepSums{First: float64(p.Batch.Row(0))}
	for i, u := range p.Predictors[0].Unstructured {
		s.N++
		s.Sum += u * (1 + float64(p.Batch.Row(i)%7))
	}
	return s, nil
}

func (v *adding) Reduce(part any) error {
	s, ok := part.(*deepSums)
	if !ok || v.sums.N > 0 {
		return fmt.Errorf("%T is no total, or not the first one", part)
	}
	v.sums = *s
	return nil
}

func (v *adding) End(r *decompose.Result) (err error) {
	r.Diagnostics, err = json.Marshal(v.sums)
	return err
}

// shardRun is a decomposition of shards: the work of each process on its rows, and the
// messages between them.
type shardRun struct {
	t      *testing.T
	random *rand.Rand
	m      decompose.Model
	tab    *data.Table
	o      decompose.Options
	out    func(row int) bool
	decode func(decompose.Kind, json.RawMessage) (decompose.Term, error)

	chunk int
	cuts  []int // rows at which shards begin, and the end
}

func (s *shardRun) cut() {
	s.t.Helper()
	var err error
	s.chunk, err = decompose.ChunkRows(s.m)
	must(s.t, err)
	n := s.tab.Rows()
	s.cuts = []int{0}
	for range 1 + s.random.IntN(5) {
		s.cuts = append(s.cuts, s.random.IntN(n/s.chunk+1)*s.chunk)
	}
	s.cuts = append(s.cuts, n)
	slices.Sort(s.cuts)
}

func (s *shardRun) shards() int { return len(s.cuts) - 1 }

// shard is the rows of one, and where they lie.
func (s *shardRun) shard(i int) (data.Source, *decompose.Options) {
	from, to := s.cuts[i], s.cuts[i+1]
	o := s.o
	o.FirstChunk, o.FirstRow, o.Chunks = from/s.chunk, int64(from), (to-from+s.chunk-1)/s.chunk
	o.Workers = 1 + s.random.IntN(3)
	o.Visitors = []decompose.Visitor{&adding{}}
	return someRows{s.tab, from, to, s.out}, &o
}

// added adds up what shards have sent, in any order and grouping.
func added[T any](s *shardRun, sent [][]byte, read func([]byte) T, write func(T) []byte, merge func(to, next T) error) T {
	s.t.Helper()
	for len(sent) > 1 {
		i := s.random.IntN(len(sent))
		next := read(sent[i])
		sent = slices.Delete(sent, i, i+1)
		j := s.random.IntN(len(sent))
		to := read(sent[j])
		must(s.t, merge(to, next))
		sent[j] = write(to)
	}
	return read(sent[0])
}

func (s *shardRun) statistics(o *decompose.Options) *decompose.Statistics {
	s.t.Helper()
	var sent [][]byte
	for i := range s.shards() {
		src, own := s.shard(i)
		own.Route = o.Route
		stats, err := decompose.Accumulate(s.t.Context(), s.m, src, own)
		must(s.t, err)
		sent = append(sent, bytesOf(s.t, stats))
	}
	return added(s, sent, func(raw []byte) *decompose.Statistics {
		stats := new(decompose.Statistics)
		must(s.t, stats.UnmarshalBinary(raw))
		return stats
	}, func(stats *decompose.Statistics) []byte { return bytesOf(s.t, stats) }, (*decompose.Statistics).Merge)
}

func (s *shardRun) solved() *decompose.Result {
	s.t.Helper()
	o := s.o
	r, err := decompose.Solve(s.t.Context(), s.m, s.statistics(&o), &o)
	if decompose.NeedsFactor(r, err, &o) {
		o.Route = decompose.QR
		r, err = decompose.Solve(s.t.Context(), s.m, s.statistics(&o), &o)
		must(s.t, err)
		r.NoteFactor()
	}
	must(s.t, err)
	return r
}

func readExplanation(t *testing.T, raw []byte) *decompose.Explanation {
	t.Helper()
	e, err := decompose.DecodeExplanation(raw, decodeDeep)
	must(t, err)
	return e
}

// explained completes r by the last pass of processes that have read it.
func (s *shardRun) explained(r *decompose.Result) {
	s.t.Helper()
	t := s.t
	doc, moments := encode(t, r)
	var sent [][]byte
	for i := range s.shards() {
		src, o := s.shard(i)
		sums := func(r *decompose.Result) []byte {
			o.Visitors = []decompose.Visitor{&adding{}}
			e, err := decompose.NewExplaining(s.m, r, o)
			must(t, err)
			part, err := e.Accumulate(t.Context(), src)
			must(t, err)
			return bytesOf(t, part)
		}
		read, err := decompose.Read(bytes.NewReader(doc), bytes.NewReader(moments), s.decode)
		must(t, err)
		raw := sums(read)
		if again := bytesOf(t, readExplanation(t, raw)); !bytes.Equal(again, raw) {
			t.Fatal("sums that were read are written as other bytes")
		}
		if i == 0 && !bytes.Equal(sums(r), raw) {
			t.Error("the result that was read gives other sums than the one that was solved")
		}
		sent = append(sent, raw)
	}
	total := added(s, sent, func(raw []byte) *decompose.Explanation { return readExplanation(t, raw) },
		func(e *decompose.Explanation) []byte { return bytesOf(t, e) }, (*decompose.Explanation).Merge)
	own := s.o
	own.Visitors = []decompose.Visitor{&adding{}}
	whole, err := decompose.NewExplaining(s.m, r, &own)
	must(t, err)
	must(t, whole.Take(t.Context(), total))
}

// check compares with one Decompose of all rows.
func (s *shardRun) check() {
	s.t.Helper()
	o := s.o
	o.Visitors = []decompose.Visitor{&adding{}}
	one, err := decompose.Decompose(s.t.Context(), s.m, someRows{s.tab, 0, s.tab.Rows(), s.out}, &o)
	must(s.t, err)
	doc, moments := encode(s.t, one)
	for range 2 {
		s.cut()
		r := s.solved()
		s.explained(r)
		gotDoc, gotMoments := encode(s.t, r)
		if !bytes.Equal(gotMoments, moments) {
			s.t.Errorf("cuts %v: other moments", s.cuts)
		}
		if !bytes.Equal(gotDoc, doc) {
			s.t.Errorf("cuts %v: another decomposition: %s", s.cuts, firstDifference(gotDoc, doc))
		}
	}
}

func firstDifference(a, b []byte) string {
	x, y := strings.Split(string(a), "\n"), strings.Split(string(b), "\n")
	for i := range min(len(x), len(y)) {
		if x[i] != y[i] {
			return fmt.Sprintf("line %d: %.200s, want %.200s", i+1, x[i], y[i])
		}
	}
	return "lengths"
}

// TestLastPassOfShards: fit and last pass of shards, in any order and grouping, give the
// bytes of one Decompose, and so do shards that have no rows or have left some out.
func TestLastPassOfShards(t *testing.T) {
	tab := sandwichTable(t, 21000)
	some := func(row int) bool { return row%5 == 3 || row > 9000 && row < 17000 }
	last := func(row int) bool { return row > 8500 }
	for _, c := range []struct {
		name, formula string
		k             int
		change        func(*decompose.Options)
		out           func(int) bool
	}{
		{"plain", `~ s(x0,bs="ps",k=9) + x1 + g`, 1, nil, nil}, // with a level of one row, which it pins
		{"rows left out", `~ s(x0,bs="ps",k=9) + x1 + day`, 2, func(o *decompose.Options) { o.Weights = "w" }, some},
		{"none at the end", `~ s(x0,bs="ps",k=9) + x1`, 1, nil, last},
		{"clusters", `~ s(x0,bs="ps",k=9) + day`, 2, func(o *decompose.Options) { o.Cluster, o.Weights = "g", "w" }, some},
		{"groups", `~ s(x0,bs="ps",k=9)`, 1, func(o *decompose.Options) { o.Groups = "day" }, some},
		{"hierarchy", `~ x0 + day + day:x0 + te(x0,x2,k=4) + s(x0,k=5) + s(x2,k=5)`, 1, nil, some},
		{"hierarchy, clusters", `~ x0 + x1 + x0:x1`, 2, func(o *decompose.Options) { o.Cluster, o.Weights = "g", "w" }, some},
		{"no bands", `~ x1`, 1, func(o *decompose.Options) { o.Bands = decompose.NoBands }, some},
		{"factor", `~ x0 + x1`, 1, func(o *decompose.Options) { o.Route = decompose.QR }, some},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := &shardRun{t: t, random: rand.New(rand.NewPCG(7, uint64(len(c.name)))), m: formulaModel(t, c.formula, tab, c.k), tab: tab, out: c.out, decode: basis.Decode}
			if c.change != nil {
				c.change(&s.o)
			}
			s.check()
		})
	}
	t.Run("learned", func(t *testing.T) {
		s := &shardRun{t: t, random: rand.New(rand.NewPCG(8, 1)), m: newFake(2).withTap(), tab: tab, out: some, decode: decodeFake}
		s.check()
	})
	for name, formula := range map[string]string{"networks": `~ s(x0, bs="ps")`, "networks, hierarchy": `~ x0 + x1 + x0:x1`} {
		t.Run(name, func(t *testing.T) {
			s := &shardRun{t: t, random: rand.New(rand.NewPCG(8, 2)), m: join(t, withTerms(t, tab, networks(3, 1, nil), formula)), tab: tab, out: some, decode: decodeEither}
			s.check()
		})
	}
}

// decodeEither decodes a network's own terms and those of formulas.
func decodeEither(kind decompose.Kind, spec json.RawMessage) (decompose.Term, error) {
	if t, err := decodeFake(kind, spec); err == nil && (kind == decompose.Learned || t.(*decompose.LinearTerm).Column != "") {
		return t, nil
	}
	return basis.Decode(kind, spec)
}
