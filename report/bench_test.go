package report_test

import (
	"bytes"
	"context"
	"io"
	"testing"

	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/decompose"
	"github.com/pho-go/pho/report"
)

// BenchmarkPage is the effects and the page of ten terms of all kinds.
func BenchmarkPage(b *testing.B) {
	r, a := everything(b)
	var size bytes.Buffer
	for b.Loop() {
		effects, err := report.Effects(context.Background(), r, a)
		must(b, err)
		size.Reset()
		must(b, report.Write(&size, r, effects))
	}
	b.ReportMetric(float64(size.Len()), "B/page")
}

// BenchmarkContributions formats the lines of a block of 4096 rows.
func BenchmarkContributions(b *testing.B) {
	src := rows(b, 4096)
	var parts *decompose.Parts
	r, a := decomposed(b, structured(b, &network{heads: []string{"eta"}}, src, "~ dow + group"), src, nil)
	for p, err := range a.All(context.Background(), data.Source(src)) {
		must(b, err)
		parts = p
	}
	c := report.NewContributions(io.Discard, nil)
	must(b, c.Begin(r))
	for b.Loop() {
		_, err := c.Map(parts)
		must(b, err)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/4096, "ns/row")
}

// BenchmarkExamples looks for the rows to keep in a block of 4096 rows.
func BenchmarkExamples(b *testing.B) {
	src := rows(b, 4096)
	var parts *decompose.Parts
	m := structured(b, &network{heads: []string{"eta"}}, src, "~ dow + group")
	r, a := decomposed(b, m, src, nil)
	for p, err := range a.All(context.Background(), data.Source(src)) {
		must(b, err)
		parts = p
	}
	r.Rows = 1_000_000 // of which this is a block
	e := report.NewExamples(m.Columns())
	must(b, e.Begin(r))
	for b.Loop() {
		part, err := e.Map(parts)
		must(b, err)
		must(b, e.Reduce(part))
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/4096, "ns/row")
}
