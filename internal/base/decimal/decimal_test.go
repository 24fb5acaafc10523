package decimal

import (
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"

	"github.com/pho-go/pho/internal/base/kernel"
)

// padded is text with what Prefix wants to see behind it.
func padded(text string) []byte { return append([]byte(text), ",12345.5e7"...) }

// checkAppend compares with strconv.
func checkAppend(t *testing.T, v float64) {
	t.Helper()
	if got, want := string(Append([]byte("x"), v)), string(strconv.AppendFloat([]byte("x"), v, 'g', -1, 64)); got != want {
		t.Fatalf("%x is %s, want %s", math.Float64bits(v), got, want)
	}
}

// checkPrefix compares with strconv, and reports whether Prefix read the text.
func checkPrefix(t *testing.T, text string) bool {
	t.Helper()
	got, n := Prefix(padded(text))
	if n == 0 {
		return false
	}
	want, err := strconv.ParseFloat(text[:min(n, len(text))], 64)
	if n != len(text) || err != nil || math.Float64bits(got) != math.Float64bits(want) {
		t.Fatalf("%s is %v in %d bytes, want %v in %d (%v)", text, got, n, want, len(text), err)
	}
	return true
}

// both checks a number and its neighbours.
func both(t *testing.T, v float64) {
	t.Helper()
	for _, v := range []float64{v, -v, math.Nextafter(v, 0), math.Nextafter(v, math.Inf(1))} {
		checkAppend(t, v)
		checkPrefix(t, strconv.FormatFloat(v, 'g', -1, 64))
		checkPrefix(t, strconv.FormatFloat(v, 'e', 17, 64))
	}
}

func rounds(t *testing.T) int {
	if testing.Short() {
		return 1000
	}
	return 20_000
}

// TestAnyBits compares with strconv for numbers of any bits, and of the exponents that the
// table has, with few and many bits set.
func TestAnyBits(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range rounds(t) {
		checkAppend(t, math.Float64frombits(r.Uint64()))
		q := uint64(least - 3 + r.IntN(most-least+6))
		both(t, math.Float64frombits(q<<52|r.Uint64()>>12))
		both(t, math.Float64frombits(q<<52|(r.Uint64()&r.Uint64()&r.Uint64()&r.Uint64())>>12))
	}
	for e := -1074; e < 1024; e++ {
		both(t, math.Ldexp(1, e))
		both(t, math.Ldexp(1, e)*3)
	}
	for k := -330; k < 309; k++ {
		v, _ := strconv.ParseFloat("1e"+strconv.Itoa(k), 64)
		both(t, v)
		both(t, v*7)
	}
	for _, v := range []float64{0, math.Inf(1), math.NaN(), math.MaxFloat64, math.SmallestNonzeroFloat64} {
		both(t, v)
	}
}

// TestNumbersOfData: numbers as data hold them, rounded or not, are read and written without
// strconv, of whose time this package is to need a part only.
func TestNumbersOfData(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	slow := 0
	for i := range rounds(t) {
		v := r.NormFloat64() * math.Pow(10, float64(i%13-6))
		both(t, v)
		if !isShort(math.Float64bits(v)) {
			slow++
		}
		for places := range 8 {
			text := strconv.FormatFloat(v, 'f', places, 64)
			if !checkPrefix(t, text) {
				t.Fatalf("%s is not read", text)
			}
			x, _ := strconv.ParseFloat(text, 64)
			checkAppend(t, x)
		}
		if text := strconv.FormatFloat(v, 'g', -1, 64); !checkPrefix(t, text) {
			t.Fatalf("%s is not read", text)
		}
		both(t, float64(r.Int64N(1<<60)>>r.IntN(60)))
		both(t, float64(float32(v)))
	}
	if slow > 1 {
		t.Errorf("%d numbers were left to strconv", slow)
	}
}

// checkAll compares texts of numbers side by side with those of Append, one by one, with another byte behind each.
func checkAll(t *testing.T, v ...float64) {
	t.Helper()
	want, behind := []byte("x"), make([]byte, len(v))
	for i, v := range v {
		behind[i] = byte('A' + i%61)
		want = append(Append(want, v), behind[i])
	}
	if got := appendAll([]byte("x"), v, behind); string(got) != string(want) {
		t.Fatalf("%v: %s, want %s", v, got, want)
	}
}

// TestSideBySide: numbers of all kinds have the same texts among any others, and typical data is formatted side by
// side rather than by Append, in a fraction of its time.
func TestSideBySide(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	normal := func() float64 { return r.NormFloat64() * math.Pow(10, float64(r.IntN(24)-12)) }
	short := func() float64 {
		v, _ := strconv.ParseFloat(strconv.FormatFloat(normal(), 'g', 1+r.IntN(16), 64), 64)
		return v
	}
	seldom := []func() float64{
		func() float64 { return math.Float64frombits(r.Uint64()) },
		func() float64 { return math.Float64frombits(uint64(least-3+r.IntN(most-least+6))<<52 | r.Uint64()>>12) },
		func() float64 { return math.Float64frombits(r.Uint64() >> 12) },
		func() float64 { return math.Ldexp(float64(1-2*r.IntN(2)), r.IntN(2100)-1075) },
		func() float64 { return math.Nextafter(math.Ldexp(1, r.IntN(2046)-1022), float64(r.IntN(2))) },
		func() float64 { return math.Ldexp(float64(r.Int64N(1<<54)), -r.IntN(60)) }, // exact halves
		func() float64 { return float64(r.Int64N(1<<62) >> r.IntN(62)) },
		func() float64 { return float64(float32(normal())) },
		func() float64 {
			return []float64{math.NaN(), math.Inf(1), math.Inf(-1), math.Copysign(0, -1)}[r.IntN(4)]
		},
	}
	often := []func() float64{
		normal, short, func() float64 { return float64(r.IntN(100)) },
		func() float64 { return math.Copysign(0, normal()) }, func() float64 { return float64(r.IntN(1000)) / 8 },
	}
	left := 0
	for i := range rounds(t) {
		v := make([]float64, r.IntN(40))
		for j := range v {
			v[j] = often[r.IntN(len(often))]()
		}
		checkAll(t, v...)
		if done, _ := kernel.WriteDecimals(make([]byte, len(v)*kernel.DecimalRoom), v, make([]byte, len(v)), &powers); done < len(v) {
			left++
		}
		for j := range v {
			if r.IntN(3) == 0 {
				v[j] = seldom[i%len(seldom)]()
			}
		}
		checkAll(t, v...)
	}
	if left > rounds(t)/1000 && kernel.WritesDecimals() {
		t.Errorf("%d rows have numbers that were left to Append", left)
	}
	for k := -330; k < 309; k++ {
		v, _ := strconv.ParseFloat("1e"+strconv.Itoa(k), 64)
		checkAll(t, v, -v, 7*v, math.Nextafter(v, 0), math.Nextafter(v, math.Inf(1)), 1.5*v, 12345678*v, 0.25*v)
	}
}

// TestCells: lines of numbers, with and without cells of text among them, are those that come of one number after the other.
func TestCells(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 10))
	var c Cells
	for range rounds(t) / 50 {
		var want, got []byte
		for range r.IntN(80) {
			for range 1 + r.IntN(12) {
				if r.IntN(9) == 0 {
					want, got = append(want, "text,"...), append(c.AppendTo(got), "text,"...)
					continue
				}
				v := []float64{r.NormFloat64(), float64(r.IntN(9)), math.NaN()}[r.IntN(3)]
				want = append(Append(want, v), ',')
				c.Add(v)
			}
			want[len(want)-1] = '\n'
			got = c.EndLine(got)
			if waiting := len(c.values); waiting >= enough {
				t.Fatalf("%d numbers wait", waiting)
			}
		}
		if got = c.AppendTo(got); string(got) != string(want) {
			t.Fatalf("%q, want %q", got, want)
		}
		if got = c.AppendTo(got); len(got) != len(want) {
			t.Fatal("numbers came twice")
		}
	}
}

// isShort reports whether shortest answers for a number's bits.
func isShort(u uint64) bool {
	_, _, ok := shortest(u&(1<<52-1), int(u>>52&0x7ff))
	return ok
}

// TestTies reads decimals that lie half way between two numbers, and right beside that.
func TestTies(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	read := 0
	for range rounds(t) {
		m, e := r.Uint64()>>11|1<<52, r.IntN(60)-59
		half := new(big.Float).SetPrec(200).SetInt(new(big.Int).SetUint64(2*m + 1))
		half.SetMantExp(half, e)
		text := half.Text('f', 20)
		for end := len(text) - 1; end > len(text)-20; end-- {
			if checkPrefix(t, text[:end]) {
				read++
			}
		}
	}
	if read == 0 {
		t.Error("none was read")
	}
}

// TestPrefixOf: what is no number, or has more than one, or ends too early.
func TestPrefixOf(t *testing.T) {
	for text, want := range map[string]int{
		"1": 1, "-1": 2, "1.": 2, "1.5": 3, "-0": 2, "1e5": 3, "1E+05": 5, "1e-5": 4, "0012.50": 7, "1.5.2": 3, "1,2": 1, "1-2": 1,
		"0.000012345678901234567": 23, "0.00000000000000000000001234567890123456": 0,
		"": 0, "-": 0, ".5": 0, "+1": 0, "e5": 0, "1e": 0, "1e+": 0, "1e1234": 0, "nan": 0, "Inf": 0, "x": 0, "--1": 0, "\x801": 0, ":.5": 0, "/.5": 0, "-.5": 0, "7.5": 3, "07.5": 4,
		"12345678901234567890123": 0, "1e99": 0,
	} {
		if _, n := Prefix(append([]byte(text), ",       "...)); n != want {
			t.Errorf("%q: %d bytes, want %d", text, n, want)
		}
	}
	for n := range 3 + Padding {
		if _, got := Prefix([]byte("1.5,,,,,,,,")[:n]); got != 0 && got != 3 {
			t.Errorf("%d bytes read of %d", got, n)
		}
	}
	if v, n := Prefix(padded("-0")); n != 2 || !math.Signbit(v) {
		t.Errorf("-0 is %v", v)
	}
}

// TestPowers compares the table with whole numbers.
func TestPowers(t *testing.T) {
	for k := leastPower; k <= mostPower; k++ {
		ten := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(max(k, -k))), nil)
		want := new(big.Int).Lsh(ten, 300)
		if k < 0 {
			want.Quo(new(big.Int).Lsh(big.NewInt(1), 600), ten)
		}
		shift := uint(want.BitLen() - 128)
		rest := new(big.Int).Lsh(new(big.Int).Rsh(want, shift), shift)
		if exact := rest.Cmp(want) == 0; exact != (k >= 0 && k <= 55) {
			t.Errorf("10^%d fits into 128 bits: %v", k, exact)
		}
		want.Rsh(want, shift)
		p := powers[k-leastPower]
		got := new(big.Int).Lsh(new(big.Int).SetUint64(p[0]), 64)
		if got.Add(got, new(big.Int).SetUint64(p[1])); got.Cmp(want) != 0 {
			t.Errorf("10^%d is %x, want %x", k, got, want)
		}
		log := ten.BitLen() - 1
		if k < 0 {
			log = -ten.BitLen()
		}
		if got := log2Pow10(k); got != log {
			t.Errorf("log2(10^%d) is %d, want %d", k, got, log)
		}
	}
}

// FuzzPrefix compares with strconv.
func FuzzPrefix(f *testing.F) {
	for _, text := range []string{"1", "-0.5", "123456789012345678", "9007199254740993", "1e22", "0.1e-7", "4.35", "1.7976931348623157e308"} {
		f.Add(text, 0.1)
	}
	f.Fuzz(func(t *testing.T, text string, v float64) {
		checkAppend(t, v)
		checkAll(t, v, -v, 1.5, v, 10*v, v/3, 1/v, math.Nextafter(v, 0), math.Trunc(v))
		if _, n := Prefix(padded(text)); n > 0 && n <= len(text) {
			checkPrefix(t, text[:n])
		}
	})
}

func numbers() (v []float64, texts [][]byte) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 4096 {
		x := r.NormFloat64()
		v, texts = append(v, x), append(texts, padded(strconv.FormatFloat(x, 'g', -1, 64)))
	}
	return v, texts
}

func perNumber(b *testing.B) {
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/4096, "ns/number")
}

// BenchmarkPrefix takes turns with strconv's.
func BenchmarkPrefix(b *testing.B) {
	_, texts := numbers()
	sum := 0.0
	b.Run("ours", func(b *testing.B) {
		for b.Loop() {
			for _, text := range texts {
				v, _ := Prefix(text)
				sum += v
			}
		}
		perNumber(b)
	})
	b.Run("strconv", func(b *testing.B) {
		for b.Loop() {
			for _, text := range texts {
				v, _ := strconv.ParseFloat(string(text[:len(text)-10]), 64)
				sum += v
			}
		}
		perNumber(b)
	})
}

// BenchmarkAppend takes turns with strconv's.
func BenchmarkAppend(b *testing.B) {
	values, _ := numbers()
	var text []byte
	var cells Cells
	b.Run("ours", func(b *testing.B) {
		for b.Loop() {
			text = text[:0]
			for _, v := range values {
				text = Append(text, v)
			}
		}
		perNumber(b)
	})
	for _, n := range []int{4, 13, 23, 4096} {
		b.Run("rows of "+strconv.Itoa(n), func(b *testing.B) {
			for b.Loop() {
				text = text[:0]
				for row := range slices.Chunk(values, n) {
					for _, v := range row {
						cells.Add(v)
					}
					text = cells.EndLine(text)
				}
				text = cells.AppendTo(text)
			}
			perNumber(b)
		})
	}
	b.Run("strconv", func(b *testing.B) {
		for b.Loop() {
			text = text[:0]
			for _, v := range values {
				text = strconv.AppendFloat(text, v, 'g', -1, 64)
			}
		}
		perNumber(b)
	})
}
