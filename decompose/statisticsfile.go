package decompose

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"unicode/utf8"

	"github.com/pho-go/pho/decompose/internal/moments"
	"github.com/pho-go/pho/internal/base/wire"
)

// statisticsMagic begins encoded statistics; the number is the format's version.
const statisticsMagic = "pho.statistics/2\n"

// statisticsHeader describes what follows it: the sum over all rows, then that of
// each group, each behind its length.
type statisticsHeader struct {
	Features []featureHeader `json:"features"`
	Grouped  bool            `json:"grouped,omitempty"`
	Groups   []string        `json:"groups,omitempty"` // sorted
	Network  networkIdentity `json:"network"`
}

type featureHeader struct {
	Name        string   `json:"name"`
	Categorical bool     `json:"categorical,omitempty"`
	Min         *float64 `json:"min,omitempty"` // nil: no numbers
	Max         *float64 `json:"max,omitempty"`
	Levels      []string `json:"levels,omitempty"`
}

// MarshalBinary encodes s, so that shards of rows can be accumulated by several
// processes and merged by another; equal statistics have equal bytes.
//
// Of the terms they hold hashes of all that a term's JSON holds (knots, levels,
// coefficients of a basis). Whoever merges and solves needs the very terms of those
// who accumulated: one process builds them (from a scan of all rows, say), the others
// decode its JSON (EncodeBlocks, DecodeBlocks). Merge and Solve refuse other terms. They
// cannot tell terms that do not implement json.Marshaler, nor networks that differ in
// nothing but weights: see to those yourself.
func (s *Statistics) MarshalBinary() ([]byte, error) {
	h := statisticsHeader{Network: s.network}
	for _, text := range s.network.texts() {
		if !utf8.ValidString(text) {
			return nil, fmt.Errorf("decompose: statistics of a network with the name %q, which is not valid UTF-8 and would not be read back", text)
		}
	}
	for _, f := range s.features {
		for _, text := range append([]string{f.name}, f.levels...) {
			if !utf8.ValidString(text) {
				return nil, fmt.Errorf("decompose: statistics of feature %q: %q is not valid UTF-8 and would not be read back", f.name, text)
			}
		}
		e := featureHeader{Name: f.name, Categorical: f.categorical, Levels: f.levels}
		if f.min <= f.max {
			e.Min, e.Max = &f.min, &f.max
		}
		h.Features = append(h.Features, e)
	}
	sums := []*moments.Sum{s.sum}
	if s.groups != nil {
		h.Grouped = true
		h.Groups = slices.Sorted(maps.Keys(s.groups.sums))
		for _, name := range h.Groups {
			if !utf8.ValidString(name) {
				return nil, fmt.Errorf("decompose: statistics of group %q: the name is not valid UTF-8 and would not be read back", name)
			}
			sums = append(sums, s.groups.sums[name])
		}
	}
	header, err := json.Marshal(h)
	if err != nil {
		return nil, fmt.Errorf("decompose: statistics: %w", err)
	}
	out := wire.AppendText([]byte(statisticsMagic), header)
	for _, sum := range sums {
		b, err := sum.MarshalBinary()
		if err != nil {
			return nil, err
		}
		out = wire.AppendText(out, b)
	}
	return out, nil
}

// UnmarshalBinary replaces s by what MarshalBinary encoded. It allocates no more than
// a small multiple of len(data); data is not kept. After an error s is unchanged.
func (s *Statistics) UnmarshalBinary(data []byte) error {
	rest, ok := bytes.CutPrefix(data, []byte(statisticsMagic))
	if !ok {
		return fmt.Errorf("decompose: the data begin with %q, not %q: these are no statistics, or of another version", data[:min(len(data), len(statisticsMagic))], statisticsMagic)
	}
	r := wire.NewReader(rest)
	header, err := readSized(r)
	if err != nil {
		return err
	}
	var h statisticsHeader
	if err := json.Unmarshal(header, &h); err != nil {
		return fmt.Errorf("decompose: the header of the statistics: %w", err)
	}
	if err := h.Network.check(); err != nil {
		return fmt.Errorf("decompose: the header of the statistics: %w", err)
	}
	t := &Statistics{network: h.Network}
	for _, e := range h.Features {
		f := newRange(e.Name)
		f.categorical, f.levels = e.Categorical, e.Levels
		if (e.Min == nil) != (e.Max == nil) || e.Min != nil && *e.Min > *e.Max {
			return fmt.Errorf("decompose: the header of the statistics: feature %q has no valid range", e.Name)
		}
		if e.Min != nil {
			f.min, f.max = *e.Min, *e.Max
		}
		if !slices.IsSorted(f.levels) {
			return fmt.Errorf("decompose: the header of the statistics: the levels of feature %q are not sorted", e.Name)
		}
		t.features = append(t.features, f)
	}
	if t.sum, err = readSum(r); err != nil {
		return err
	}
	bases, own := t.sum.Layout().Bases, extraBases(len(t.features))
	if n := len(bases) - len(own); n < 0 || !slices.Equal(bases[n:], own) {
		return fmt.Errorf("decompose: the statistics name %d features, their moments hold others", len(t.features))
	}
	if h.Grouped {
		if t.groups, err = readGroups(r, t.sum, h.Groups); err != nil {
			return err
		}
	} else if len(h.Groups) > 0 {
		return errors.New("decompose: the header of the statistics names groups but has none")
	}
	if r.Left() > 0 {
		return fmt.Errorf("decompose: %d bytes follow the statistics: the file is damaged", r.Left())
	}
	*s = *t
	return nil
}

func readSized(r *wire.Reader) ([]byte, error) {
	part := r.Bytes()
	if r.Err() != nil {
		return nil, errors.New("decompose: the statistics end too early: the file is damaged")
	}
	return part, nil
}

func readSum(r *wire.Reader) (*moments.Sum, error) {
	part, err := readSized(r)
	if err != nil {
		return nil, err
	}
	s := &moments.Sum{}
	return s, s.UnmarshalBinary(part)
}

// readGroups reads the sums of the named groups over the chunks of all.
func readGroups(r *wire.Reader, all *moments.Sum, names []string) (*groupSums, error) {
	if len(names) > maxGroups {
		return nil, fmt.Errorf("decompose: the header of the statistics names %d groups; %d are the most", len(names), maxGroups)
	}
	g := newGroupSums(all.Layout())
	for _, name := range names {
		sum, err := readSum(r)
		if err != nil {
			return nil, err
		}
		if g.sums[name] != nil || !slices.Equal(sum.Runs(), all.Runs()) || !sum.Layout().Equal(g.layout) {
			return nil, fmt.Errorf("decompose: the statistics of group %q do not belong to those of all rows", name)
		}
		g.sums[name] = sum
	}
	return g, nil
}
