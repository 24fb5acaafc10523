package main

import (
	"bufio"
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
)

// table has numbers x0, x1, ..., texts g0, g1, ... of as many levels, and what a model predicts: p, or the
// probabilities p0, p1, ... of classes.
type table struct{ rows, numbers, texts, levels, classes int }

func (t table) String() string {
	return fmt.Sprintf("%dx%d-%dof%d-%d", t.rows, t.numbers, t.texts, t.levels, t.classes)
}

// write draws rows: numbers standard normal, of which every fourth has a curved effect; effects of levels are normal, and
// one product of two columns belongs to nobody.
func (t table) write(w *bufio.Writer) {
	random := rand.New(rand.NewPCG(5, 6))
	effects := make([][]float64, t.texts)
	for g := range effects {
		effects[g] = make([]float64, t.levels)
		for l := range effects[g] {
			effects[g][l] = random.NormFloat64()
		}
	}
	var names []string
	for j := range t.numbers {
		names = append(names, "x"+strconv.Itoa(j))
	}
	for g := range t.texts {
		names = append(names, "g"+strconv.Itoa(g))
	}
	if t.classes == 0 {
		names = append(names, "p")
	}
	for c := range t.classes {
		names = append(names, "p"+strconv.Itoa(c))
	}
	w.WriteString(strings.Join(names, ",") + "\n")
	x, eta := make([]float64, t.numbers), make([]float64, max(t.classes, 1))
	var line []byte
	for range t.rows {
		line = line[:0]
		for j := range x {
			x[j] = random.NormFloat64()
			line = append(strconv.AppendFloat(line, x[j], 'g', 8, 64), ',')
		}
		for k := range eta {
			if t.numbers > 1 {
				eta[k] = x[0] * x[1] / 5
			} else {
				eta[k] = 0
			}
			for j, v := range x {
				if j%4 == k%4 {
					eta[k] += math.Sin(v * (1 + float64(k)/10))
				} else {
					eta[k] += v * float64((j+k)%3) / 5
				}
			}
		}
		for g := range t.texts {
			l := random.IntN(t.levels)
			for k := range eta {
				eta[k] += effects[g][l]
			}
			line = append(strconv.AppendInt(append(line, 'l'), int64(l), 10), ',')
		}
		if t.classes > 0 {
			sum := 0.0
			for k, v := range eta {
				eta[k] = math.Exp(v / 2)
				sum += eta[k]
			}
			for k := range eta {
				eta[k] /= sum
			}
		}
		for _, v := range eta {
			line = append(strconv.AppendFloat(line, v, 'g', -1, 64), ',')
		}
		line[len(line)-1] = '\n'
		w.Write(line)
	}
}

// call is pho decompose of a table, or what reads its result.
type call struct {
	table     table
	arguments []string
	reads     []string // the command that reads; nil: decompose
}

func (c call) String() string {
	return strings.Join(append(append([]string{c.table.String()}, c.arguments...), c.reads...), " ")
}

// comparison is a large case next to a small one.
type comparison struct {
	name         string
	large, small call
}

func of(t table, formula string, more ...string) call {
	return call{table: t, arguments: append([]string{"--predictions", "p", "--formula", formula}, more...)}
}

// smooths are s(x0) + s(x1) + ..., n of them.
func smooths(n int) string {
	var s []string
	for j := range n {
		s = append(s, fmt.Sprintf(`s(x%d, bs="ps", k=20)`, j))
	}
	return strings.Join(s, " + ")
}

// crossed is the sum of ten terms of texts, each written as form.
func crossed(form string) string {
	var s []string
	for g := range 10 {
		s = append(s, fmt.Sprintf(form, g))
	}
	return "~ " + strings.Join(s, " + ")
}

func cases() (all []comparison) {
	add := func(name string, large, small call) { all = append(all, comparison{name, large, small}) }
	for _, form := range []struct{ name, term string }{{"factor", "g0"}, {"random effect", `s(g0, bs="re")`}} {
		formula := "~ " + form.term + " + " + smooths(3)
		for _, levels := range []int{1000, 2000, 5000, 10000} {
			add(fmt.Sprintf("%s of %d levels, 200000 rows, next to 10 levels", form.name, levels),
				of(table{200_000, 3, 1, levels, 0}, formula), of(table{200_000, 3, 1, 10, 0}, formula))
		}
		formula = "~ " + form.term + " + " + smooths(9)
		add(fmt.Sprintf("%s of 100000 levels, nine smooths, 1000000 rows, next to 10 levels", form.name),
			of(table{1_000_000, 9, 1, 100_000, 0}, formula), of(table{1_000_000, 9, 1, 10, 0}, formula))
	}
	for _, form := range []struct{ name, term string }{{"factors", "g%d"}, {"random effects", `s(g%d, bs="re")`}} {
		for _, levels := range []int{200, 1000} {
			add(fmt.Sprintf("ten %s of %d levels, 300000 rows, next to 10 levels", form.name, levels),
				of(table{300_000, 2, 10, levels, 0}, crossed(form.term)), of(table{300_000, 2, 10, 10, 0}, crossed(form.term)))
		}
	}
	for _, columns := range []int{50, 100, 200} {
		add(fmt.Sprintf("%d columns, ~ ., 20000 rows, next to 10", columns), of(table{20_000, columns, 0, 0, 0}, "~ ."), of(table{20_000, 10, 0, 0, 0}, "~ ."))
	}
	add("200 columns, ~ ., 200000 rows, next to 10", of(table{200_000, 200, 0, 0, 0}, "~ ."), of(table{200_000, 10, 0, 0, 0}, "~ ."))
	add("5000 columns, ~ ., 60 rows, next to 10", of(table{60, 5000, 0, 0, 0}, "~ ."), of(table{60, 10, 0, 0, 0}, "~ ."))
	classes := func(n int) call {
		var names []string
		for c := range n {
			names = append(names, "p"+strconv.Itoa(c))
		}
		return call{table: table{20_000, 10, 0, 0, n}, arguments: []string{"--predictions", strings.Join(names, ","), "--link", "softmax", "--formula", "~ ."}}
	}
	add("50 classes, 20000 rows, next to 2", classes(50), classes(2))
	for _, command := range []string{"summary", "explain --row 17 --data ROWS", "report"} {
		read := func(columns int) call {
			c := of(table{20_000, columns, 0, 0, 0}, "~ .")
			c.reads = strings.Fields(command)
			return c
		}
		add(command+" of 200 terms, next to 10", read(200), read(10))
	}
	return all
}
