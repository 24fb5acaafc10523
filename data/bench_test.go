package data

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// BenchmarkCSV reads ten columns of 100,000 rows, as numbers or as categories.
func BenchmarkCSV(b *testing.B) {
	const rows, columns = 100_000, 10
	r := rand.New(rand.NewPCG(1, 2))
	var s strings.Builder
	var names []string
	for j := range columns {
		names = append(names, fmt.Sprint("x", j))
	}
	fmt.Fprintln(&s, strings.Join(names, ","))
	for range rows {
		for j := range columns {
			if j > 0 {
				s.WriteByte(',')
			}
			fmt.Fprintf(&s, "%.6g", r.NormFloat64()*100)
		}
		s.WriteByte('\n')
	}
	small := strings.NewReplacer("0", "", "5", "") // text with few levels
	text := &strings.Builder{}
	fmt.Fprintln(text, strings.Join(names, ","))
	for i := range rows {
		for j := range columns {
			if j > 0 {
				text.WriteByte(',')
			}
			text.WriteString("level " + small.Replace(fmt.Sprint(i*j%97)))
		}
		text.WriteByte('\n')
	}
	for _, c := range []struct{ name, text string }{
		{"numbers", s.String()}, {"numbers.gz", zip(b, s.String())}, {"text", text.String()},
	} {
		b.Run(c.name, func(b *testing.B) {
			path := filepath.Join(b.TempDir(), "a")
			if err := os.WriteFile(path, []byte(c.text), 0o600); err != nil {
				b.Fatal(err)
			}
			source, err := OpenCSV([]string{path}, nil)
			if err != nil {
				b.Fatal(err)
			}
			b.SetBytes(int64(len(c.text)))
			b.ReportAllocs()
			n := 0
			for b.Loop() {
				for batch, err := range source.Batches(b.Context(), names) {
					if err != nil {
						b.Fatal(err)
					}
					n += batch.Rows()
				}
			}
			b.ReportMetric(float64(n)/b.Elapsed().Seconds(), "rows/s")
		})
	}
}
