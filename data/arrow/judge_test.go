package arrow

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"github.com/pierrec/lz4/v4"

	"github.com/pho-go/pho/data/internal/columnar"
)

// slowColumn decodes a value at a time, as columns were decoded before they were in vectors: it
// judges them.
func slowColumn(c *column, row int64, n int, levels []string) columnar.Values {
	bit := func(b *buffer, i int) bool {
		k := int(row) + i
		return b.memory[k/8]>>(k%8)&1 == 1
	}
	valid := func(i int) bool { return c.valid == nil || bit(c.valid, i) }
	var v columnar.Values
	if c.index > 0 {
		v.Levels, v.Codes = levels, make([]int32, n)
		b := c.data.memory[row*int64(c.index)/8:]
		for i := range n {
			if !valid(i) {
				v.Codes[i] = -1
				continue
			}
			k := signed(b, i, c.index)
			if c.unsignedIndex {
				k = int64(unsigned(b, i, c.index))
			}
			if k < 0 || k >= int64(len(levels)) {
				v.Fault = &columnar.Fault{Row: i, Cell: strconv.FormatInt(k, 10), Reason: fmt.Sprintf("is a position outside the %d levels of the column: the file is damaged", len(levels))}
				for ; i < n; i++ {
					v.Codes[i] = -1
				}
				return v
			}
			v.Codes[i] = int32(k)
		}
		return v
	}
	v.Numbers = make([]float64, n)
	for i := range n {
		var cell string
		v.Numbers[i], cell = slowNumber(c, row, i, func(i int) bool { return bit(c.data, i) })
		if cell != "" && valid(i) && v.Fault == nil {
			v.Fault = &columnar.Fault{Row: i, Cell: cell, Reason: columnar.Inexact}
		}
		if !valid(i) {
			v.Numbers[i] = columnar.Null
		}
	}
	return v
}

func slowNumber(c *column, row int64, i int, set func(int) bool) (v float64, cell string) {
	const exact = 1 << 53
	le := binary.LittleEndian
	if c.kind == typeBool {
		if set(i) {
			return 1, ""
		}
		return 0, ""
	}
	b := c.data.memory[row*int64(c.bits)/8:]
	switch {
	case c.kind == typeFloat && c.bits == 64:
		return math.Float64frombits(le.Uint64(b[8*i:])), ""
	case c.kind == typeFloat && c.bits == 32:
		return float64(math.Float32frombits(le.Uint32(b[4*i:]))), ""
	case c.kind == typeFloat:
		return columnar.Half(le.Uint16(b[2*i:])), ""
	case c.unsigned:
		x := unsigned(b, i, c.bits)
		if x > exact {
			cell = strconv.FormatUint(x, 10)
		}
		return float64(x), cell
	}
	x := signed(b, i, c.bits)
	if x > exact || x < -exact {
		cell = strconv.FormatInt(x, 10)
	}
	return float64(x), cell
}

// TestColumnJudge: columns decoded in vectors are those decoded a value at a time, to the bit, with
// their faults, whatever their type, nulls and first row.
func TestColumnJudge(t *testing.T) {
	var nodes []node
	for _, bits := range []int{8, 16, 32, 64} {
		for _, unsigned := range []bool{false, true} {
			nodes = append(nodes, node{kind: typeInt, bits: bits, unsigned: unsigned}, node{kind: typeUtf8, index: bits, unsignedIndex: unsigned})
		}
		if bits > 8 {
			nodes = append(nodes, node{kind: typeFloat, bits: bits})
		}
	}
	nodes = append(nodes, node{kind: typeBool})
	levels := make([]string, 100)
	random := rand.New(rand.NewPCG(1, 2))
	faults := 0
	for _, n := range nodes {
		for round := range 60 {
			c := &column{node: &n, data: randomBuffer(random, 8*300, n.index, round)}
			if n.bits == 64 && n.kind == typeInt && round < 30 { // the edge of what float64 holds
				for i := range 300 {
					edge := int64(1)<<53 + random.Int64N(3) - 1
					binary.LittleEndian.PutUint64(c.data.memory[8*i:], uint64(edge*(1-2*int64(random.IntN(2)))))
				}
			}
			if round%3 > 0 {
				c.valid = randomBuffer(random, 300/8+1, 0, round)
			}
			row := random.Int64N(150)
			rows := 1 + random.IntN(150)
			var got columnar.Values
			if err := c.read(row, rows, map[int64]*dictionary{0: {levels: levels}}, &got); err != nil {
				t.Fatal(err)
			}
			want := slowColumn(c, row, rows, levels)
			if !sameBits(got.Numbers, want.Numbers) || !reflect.DeepEqual(got.Codes, want.Codes) || !reflect.DeepEqual(got.Fault, want.Fault) {
				t.Fatalf("%+v, rows %d to %d:\ngot  %v %v %+v\nwant %v %v %+v", n, row, row+int64(rows), got.Numbers, got.Codes, got.Fault, want.Numbers, want.Codes, want.Fault)
			}
			if want.Fault != nil {
				faults++
			}
		}
	}
	if faults < 100 {
		t.Errorf("only %d columns had faults", faults)
	}
}

// randomBuffer is bytes of a buffer in memory: all of them random, or positions of so many bits that
// are seldom outside of 100 levels.
func randomBuffer(random *rand.Rand, size, index, round int) *buffer {
	b := &buffer{size: int64(size), codec: codecNone, memory: make([]byte, size)}
	for i := range b.memory {
		b.memory[i] = byte(random.Uint32())
	}
	if index > 0 && round%4 > 0 {
		clear(b.memory)
		for i := 0; i < size; i += index / 8 {
			b.memory[i] = byte(random.IntN(100))
			if random.IntN(200) == 0 {
				b.memory[i+index/8-1] = 200
			}
		}
	}
	return b
}

func sameBits(a, b []float64) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if math.Float64bits(a[i]) != math.Float64bits(b[i]) {
			return false
		}
	}
	return true
}

// frames are texts compressed in all the ways that the writer knows.
func frames(t testing.TB) (packed, plain [][]byte) {
	random := rand.New(rand.NewPCG(3, 4))
	for _, size := range []int{1, 13, 5000, 70_000, 300_000} {
		for _, kind := range []int{0, 1, 2} {
			text := make([]byte, size)
			for i := range text {
				text[i] = byte(random.Uint32() >> (8 * kind))
				if kind > 0 && i > 300 && random.IntN(4) > 0 {
					text[i] = text[i-300]
				}
			}
			for _, options := range [][]lz4.Option{
				{lz4.ChecksumOption(false)}, {}, {lz4.ChecksumOption(false), lz4.SizeOption(uint64(size))},
				{lz4.ChecksumOption(false), lz4.BlockSizeOption(lz4.Block64Kb)}, {lz4.BlockChecksumOption(true)},
			} {
				var b bytes.Buffer
				w := lz4.NewWriter(&b)
				if err := w.Apply(options...); err != nil {
					t.Fatal(err)
				}
				if _, err := w.Write(text); err != nil {
					t.Fatal(err)
				}
				if err := w.Close(); err != nil {
					t.Fatal(err)
				}
				packed, plain = append(packed, b.Bytes()), append(plain, text)
			}
		}
	}
	return packed, plain
}

// TestLZ4Judge: frames without checksums are read without the library's reader, and all as that
// reads them.
func TestLZ4Judge(t *testing.T) {
	packed, plain := frames(t)
	fast := 0
	for i := range packed {
		got := make([]byte, len(plain[i]))
		if inflateLZ4(got, packed[i]) {
			fast++
			if !bytes.Equal(got, plain[i]) {
				t.Fatalf("frame %d of %d bytes is another text", i, len(got))
			}
		}
		clear(got)
		if err := new(inflater).inflate(codecLZ4, got, packed[i]); err != nil || !bytes.Equal(got, plain[i]) {
			t.Fatalf("frame %d: %v", i, err)
		}
	}
	damaged := bytes.Clone(packed[0])
	damaged[6] ^= 1 // the sum of the frame's header
	if inflateLZ4(make([]byte, len(plain[0])), damaged) {
		t.Error("a frame with a damaged header is read")
	}
	if want := len(packed) * 3 / 5; fast != want {
		t.Errorf("%d frames read fast, want %d", fast, want)
	}
}

// TestLZ4Linked: blocks of a frame that pyarrow wrote (pyarrow.compress(text, codec="lz4")) go on
// from those before, which the writer above never does.
func TestLZ4Linked(t *testing.T) {
	packed, err := os.ReadFile("testdata/linked.lz4")
	if err != nil {
		t.Fatal(err)
	}
	want := make([]byte, 200_000)
	for i := range want {
		want[i] = byte(i%1000*7919>>3 ^ i/5000)
	}
	got := make([]byte, len(want))
	if packed[4]&0x20 != 0 || !inflateLZ4(got, packed) || !bytes.Equal(got, want) {
		t.Error("another text")
	}
}

// FuzzLZ4 holds what is read fast against the library's reader.
func FuzzLZ4(f *testing.F) {
	packed, plain := frames(f)
	for i := range packed {
		if len(packed[i]) < 10_000 {
			f.Add(packed[i], len(plain[i]))
		}
	}
	linked, err := os.ReadFile("testdata/linked.lz4")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(linked, 200_000)
	f.Fuzz(func(t *testing.T, src []byte, size int) {
		if size < 0 || size > 1<<20 {
			return
		}
		got, want := make([]byte, size), make([]byte, size)
		if !inflateLZ4(got, src) {
			return
		}
		if err := new(inflater).readLZ4(want, src); err != nil || !bytes.Equal(got, want) {
			t.Fatalf("read fast, where the reader says %v", err)
		}
	})
}

// TestMemory: the memory of record batches is given back after each, so a bound that one of them
// keeps to is enough for all.
func TestMemory(t *testing.T) {
	for memory, want := range map[int64]string{12_000: "", 9_000: "of which 9000 are allowed"} {
		s, err := Open([]string{"../files/testdata/golden/rows_zstd.arrow"}, &Options{Memory: memory})
		if err != nil {
			t.Fatal(err)
		}
		var got string
		for _, err := range s.Batches(t.Context(), s.Schema().Names()) {
			if err != nil {
				got = err.Error()
			}
		}
		if (got == "") != (want == "") || !strings.Contains(got, want) {
			t.Errorf("%d bytes: %q", memory, got)
		}
	}
}
