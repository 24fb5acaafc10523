package moments_test

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"hash/crc32"
	"math"
	"runtime"
	"testing"

	"github.com/pho-go/pho/decompose/internal/moments"
)

func sealed(data []byte) []byte {
	return binary.LittleEndian.AppendUint32(data, crc32.Checksum(data, crc32.MakeTable(crc32.Castagnoli)))
}

func TestRoundTrip(t *testing.T) {
	s := awkward(300, true, 31)
	leaves := s.leaves(t, 30)
	for _, next := range []int{0, 1, 3, 8, 10} {
		a := sum(t, s.layout, leaves, 0, next)
		data := marshal(t, a)
		var b moments.Sum
		if err := b.UnmarshalBinary(data); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(marshal(t, &b), data) {
			t.Errorf("sum of %d chunks: other bytes", next)
		}
		// Sums that were read go on like the sums that were written.
		if next < 10 {
			for _, s := range []*moments.Sum{a, &b} {
				if err := s.Append(leaves[next].Clone()); err != nil {
					t.Fatal(err)
				}
			}
			if !bytes.Equal(marshal(t, &b), marshal(t, a)) {
				t.Errorf("sum of %d chunks goes on with other bytes", next)
			}
		}
		var m moments.Moments
		data = marshal(t, a.Total())
		if err := m.UnmarshalBinary(data); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(marshal(t, &m), data) || !m.Layout.Equal(s.layout) {
			t.Error("moments: other bytes")
		}
		if err := m.Merge(leaves[0]); err != nil {
			t.Error(err)
		}
	}
}

// A file of version 1, written before there were factors: two chunks of two rows.
// It stays readable, and products are still written so.
func TestVersion1(t *testing.T) {
	const file = "50484f4d010002000100000001000000780200000001000000010000000000000001000000000000000000000002000000000000000400000000000000040000000000000000000000000020400a03ad7aea9301400000000000002040000000000000144000000000000010400000000000000440000000000000ec3f00000000000000000000000000000000000000000000fa3f0000000000000000000000000000184000000000000012c000000000008013400000000000002bc000000000004027400000000000e03f40d3b58225"
	data, err := hex.DecodeString(file)
	if err != nil {
		t.Fatal(err)
	}
	var s moments.Sum
	if err := s.UnmarshalBinary(data); err != nil {
		t.Fatal(err)
	}
	if m := s.Total(); m.Layout.Factor || m.Rows != 4 || m.SumW != 8 || m.Mean[0] != 2.5 || m.XX.At(0, 0) != 6 {
		t.Errorf("read as %+v", m)
	}
	if !bytes.Equal(marshal(t, &s), data) {
		t.Error("written again: other bytes")
	}
	l := s.Layout()
	l.Factor = true
	if v := marshal(t, moments.NewSum(l, 0))[4]; v != 2 {
		t.Errorf("a factor is written as version %d", v)
	}
	for _, factor := range []bool{false, true} {
		l.Factor = factor
		l.Bases[0].ID = "knots"
		data := marshal(t, moments.NewSum(l, 0))
		if v := data[4]; v != map[bool]byte{false: 3, true: 4}[factor] {
			t.Errorf("IDs are written as version %d", v)
		}
		var read moments.Sum
		if err := read.UnmarshalBinary(data); err != nil {
			t.Fatal(err)
		}
		if !read.Layout().Equal(l) || !bytes.Equal(marshal(t, &read), data) {
			t.Errorf("read back as %+v", read.Layout())
		}
		l.Bases[0].ID = "other knots"
		if err := read.Merge(moments.NewSum(l, 0)); err == nil {
			t.Error("sums of bases of different IDs merge")
		}
	}
}

// Every truncation and every changed byte is an error, with a valid checksum
// too unless the changed byte is a number that could be true.
func TestDamage(t *testing.T) {
	s := awkward(40, true, 32)
	a := sum(t, s.layout, s.leaves(t, 10), 0, 3)
	s.layout.Factor = true
	factor := sum(t, s.layout, s.leaves(t, 10), 0, 3)
	s.layout.Factor, s.layout.Bases[1].ID = false, "knots"
	named := sum(t, s.layout, s.leaves(t, 10), 0, 3)
	for _, c := range []struct {
		data []byte
		read func([]byte) error
	}{
		{marshal(t, a), func(d []byte) error { return new(moments.Sum).UnmarshalBinary(d) }},
		{marshal(t, a.Total()), func(d []byte) error { return new(moments.Moments).UnmarshalBinary(d) }},
		{marshal(t, factor), func(d []byte) error { return new(moments.Sum).UnmarshalBinary(d) }},
		{marshal(t, factor.Total()), func(d []byte) error { return new(moments.Moments).UnmarshalBinary(d) }},
		{marshal(t, named), func(d []byte) error { return new(moments.Sum).UnmarshalBinary(d) }},
	} {
		if err := c.read(c.data); err != nil {
			t.Fatal(err)
		}
		for n := range c.data {
			if c.read(c.data[:n]) == nil {
				t.Fatalf("%d of %d bytes are read without error", n, len(c.data))
			}
			if n >= 4 && c.read(sealed(bytes.Clone(c.data[:n-4]))) == nil {
				t.Fatalf("%d bytes with a checksum are read without error", n)
			}
			changed := bytes.Clone(c.data)
			changed[n] ^= 0x55
			if c.read(changed) == nil {
				t.Fatalf("byte %d changed: no error", n)
			}
		}
		if c.read(append(bytes.Clone(c.data), 0)) == nil {
			t.Error("a byte too many: no error")
		}
		version := bytes.Clone(c.data)
		version[4] = 6
		if err := c.read(version); err == nil || err.Error() != "moments: format version 6; this program reads versions 1 to 5" {
			t.Error(err)
		}
		version[0] = 'X'
		if err := c.read(version); err == nil || err.Error() != `moments: the data begin with "XHOM", not "PHOM": this is no moments file` {
			t.Error(err)
		}
	}
	if err := new(moments.Moments).UnmarshalBinary(marshal(t, a)); err == nil || err.Error() != "moments: the data hold kind 2 where kind 1 is needed (1: moments, 2: a sum of chunks, 3: one with gaps)" {
		t.Error(err)
	}
}

// Numbers that no rows have are damage even under a right checksum.
func TestImpossibleSums(t *testing.T) {
	s := awkward(40, true, 34)
	for _, c := range []struct {
		change func(*moments.Moments)
		want   string
	}{
		{func(m *moments.Moments) { m.XR.Set(0, 1, math.NaN()) }, "moments: 1 sums are not finite: the file is damaged"},
		{func(m *moments.Moments) { m.XX.SetSym(0, 1, math.Inf(1)) }, "moments: 1 sums are not finite: the file is damaged"},
		{func(m *moments.Moments) { m.SumW = -1 }, "moments: weights of 30 rows sum to -1: the file is damaged"},
		{func(m *moments.Moments) { m.SumW = 0 }, "moments: weights of 30 rows sum to 0: the file is damaged"},
		{func(m *moments.Moments) { m.Positive = 41 }, "moments: 41 of 40 rows have positive weight: the file is damaged"},
		{func(m *moments.Moments) { m.Rows = -1 }, "moments: 30 of 18446744073709551615 rows have positive weight: the file is damaged"},
		{func(m *moments.Moments) { m.XX.SetSym(4, 4, -1) }, "moments: column 4 has the sum of squares -1: the file is damaged"},
		{func(m *moments.Moments) { m.RR.SetSym(1, 1, -2) }, "moments: response 1 has the sum of squares -2: the file is damaged"},
		{func(m *moments.Moments) { m.XX.SetSym(0, 16, 1e-9) }, "moments: 1 products of columns that never meet: the file is damaged"},
	} {
		m := s.moments(t, 0, 40, 40)
		m.Positive = 30
		c.change(m)
		var back moments.Moments
		if err := back.UnmarshalBinary(marshal(t, m)); err == nil || err.Error() != c.want {
			t.Errorf("%v, want %s", err, c.want)
		}
	}
	m := s.moments(t, 0, 40, 40)
	m.Mean[1] = math.Inf(1)
	if _, err := m.MarshalBinary(); err == nil || err.Error() != `moments: basis "year": the squares of column 1 overflow; rescale it` {
		t.Errorf("infinite sums were written: %v", err)
	}
}

// crafted is a well-sealed layout of absurd size.
func crafted(version, kind byte, words ...uint32) []byte {
	data := []byte{'P', 'H', 'O', 'M', version, 0, kind, 0}
	for _, w := range words {
		data = binary.LittleEndian.AppendUint32(data, w)
	}
	return sealed(data)
}

func TestClaimsAllocateNothing(t *testing.T) {
	const most = 1<<31 - 1
	for _, data := range [][]byte{
		crafted(1, 1, most),
		crafted(1, 1, 1, 0, most, 1, 1, 0, most),
		crafted(1, 2, 1, 0, most, 1, 1, 0, 1, 0, 0, 0, 0),
		crafted(1, 2, 0, 0, 0, 0, 0, most, most),
		crafted(1, 1, 0, most),
		crafted(1, 1, 0, 1, most),
		crafted(1, 1, 0, 0, most),
		crafted(1, 1, 1, most),
		crafted(2, 1, 1, 0, most, 1, 1, 0, 1, 1),
		crafted(2, 2, 1, 0, most, 1, 1, 0, 1, 1, 0, 0, 0, 0),
		crafted(2, 1, 0, 0, most, 1),
		crafted(2, 1, 0, 0, 0, 2),
		crafted(3, 1, 1, 0, 1, most, 1, 1, 0, 1, 1),
		crafted(3, 1, 1, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0),
		crafted(4, 2, 1, 0, 1, most, 1, 1, 0, 1, 1, 0, 0, 0, 0),
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		err := new(moments.Moments).UnmarshalBinary(data)
		if data[6] == 2 {
			err = new(moments.Sum).UnmarshalBinary(data)
		}
		runtime.ReadMemStats(&after)
		if err == nil {
			t.Error("no error")
		}
		if grown := after.TotalAlloc - before.TotalAlloc; grown > 1<<16 {
			t.Errorf("%d bytes allocated for %d: %v", grown, len(data), err)
		}
	}
}

func seeds(f *testing.F, sums bool) {
	s := awkward(30, true, 33)
	small := s
	small.layout = moments.Layout{Bases: s.layout.Bases[2:3], Predictors: [][]int{{0}}, Responses: 3}
	small.x = s.x[2:3]
	for range 2 {
		small.seeds(f, sums)
		small.layout.Factor = true
	}
	data := crafted(1, 1, 1, 0, 2, 1, 1, 0, 1)
	f.Add(data[:len(data)-4], true)
}

func (small rowset) seeds(f *testing.F, sums bool) {
	leaves := small.leaves(f, 10)
	a := sum(f, small.layout, leaves, 0, 3)
	if sums {
		f.Add(marshal(f, a), false)
		f.Add(marshal(f, moments.NewSum(small.layout, 0)), false)
		if err := errors.Join(a.Add(5, leaves[0].Clone()), a.Skip(8, 9), a.Add(12, moments.New(small.layout)), a.Skip(14, 16)); err != nil {
			f.Fatal(err)
		}
		f.Add(marshal(f, a), false)
	} else {
		f.Add(marshal(f, a.Total()), false)
	}
}

// Whatever is read without error is written as it was read.
func fuzz(f *testing.F, read func([]byte) (marshaler, error)) {
	f.Fuzz(func(t *testing.T, data []byte, seal bool) {
		if seal {
			data = sealed(bytes.Clone(data))
		}
		m, err := read(data)
		if err != nil {
			return
		}
		if !bytes.Equal(marshal(t, m), data) {
			t.Error("read and written again: other bytes")
		}
	})
}

func FuzzUnmarshalMoments(f *testing.F) {
	seeds(f, false)
	fuzz(f, func(data []byte) (marshaler, error) {
		m := new(moments.Moments)
		if err := m.UnmarshalBinary(data); err != nil {
			return nil, err
		}
		_ = m.Merge(m.Clone())
		if err := m.UnmarshalBinary(data); err != nil {
			return nil, err
		}
		_ = m.Predictor(0)
		return m, nil
	})
}

func FuzzUnmarshalSum(f *testing.F) {
	seeds(f, true)
	fuzz(f, func(data []byte) (marshaler, error) {
		s := new(moments.Sum)
		if err := s.UnmarshalBinary(data); err != nil {
			return nil, err
		}
		_ = s.Total()
		return s, nil
	})
}
