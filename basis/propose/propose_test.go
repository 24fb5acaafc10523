package propose_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/pho-go/pho/basis"
	"github.com/pho-go/pho/basis/formula"
	"github.com/pho-go/pho/basis/propose"
	"github.com/pho-go/pho/data"
)

// rows are a table with a column of every sort.
func rows(t testing.TB, n int) *data.Table {
	t.Helper()
	rng := rand.New(rand.NewPCG(1, 2))
	table := data.NewTable(n)
	number := func(name string, f func(i int) float64) {
		x := make([]float64, n)
		for i := range x {
			x[i] = f(i)
		}
		if err := table.AddNumeric(name, x); err != nil {
			t.Fatal(err)
		}
	}
	text := func(name string, f func(i int) string) {
		x := make([]string, n)
		for i := range x {
			x[i] = f(i)
		}
		if err := table.AddTexts(name, x); err != nil {
			t.Fatal(err)
		}
	}
	colour := make([]int, n)
	for i := range colour {
		colour[i] = rng.IntN(3)
	}
	is := func(level int) func(int) float64 {
		return func(i int) float64 {
			if colour[i] == level {
				return 1
			}
			return 0
		}
	}
	number("row", func(i int) float64 { return float64(i + 1) })
	number("temp", func(int) float64 { return rng.NormFloat64() })
	number("income", func(int) float64 { return math.Exp(4 * rng.NormFloat64()) })
	number("month", func(int) float64 { return float64(1 + rng.IntN(12)) })
	number("rooms", func(int) float64 { return float64(1 + rng.IntN(6)) })
	number("open", func(int) float64 { return float64(rng.IntN(2)) })
	number("color_red", is(0))
	number("color_green", is(1))
	number("color_blue", is(2))
	number("urban", func(int) float64 { return float64(rng.IntN(2)) })
	number("scale", func(int) float64 { return 7 })
	number("customer_id", func(i int) float64 { return float64((i * 7919) % 1_000_003) })
	text("town", func(int) string { return string(rune('a' + rng.IntN(8))) })
	text("street", func(int) string { return fmt.Sprint("street ", rng.IntN(200)) })
	text("name", func(i int) string { return fmt.Sprint("person ", i) })
	return table
}

func propose1(t testing.TB, src data.Source, columns []string) (string, *propose.Proposal) {
	t.Helper()
	p, err := propose.Terms(context.Background(), src, columns, nil)
	if err != nil {
		t.Fatal(err)
	}
	dots, err := formula.Parse("~ .")
	if err != nil {
		t.Fatal(err)
	}
	f, err := dots.Expand(p.Terms)
	if err != nil {
		t.Fatal(err)
	}
	return f.String(), p
}

func TestTerms(t *testing.T) {
	table := rows(t, 5000)
	text, p := propose1(t, table, table.Schema().Names())
	want := `~ s(temp, bs = "bs", k = 20, knots = "quantiles") + s(income, bs = "bs", k = 20, knots = "quantiles") + s(month, bs = "bs", k = 8, knots = "quantiles") + factor(rooms) + open` +
		` + onehot(color_red, color_green, color_blue) + urban + town + s(street, bs = "re")`
	if text != want {
		t.Errorf("%s\nwant\n%s", text, want)
	}
	left := "row (it counts the rows); scale (constant); customer_id (a whole number of its own on each row); name (a text of its own on most rows)"
	if p.String() != left {
		t.Errorf("left out: %s\nwant %s", p, left)
	}
	if _, err := basis.Parse(text, &basis.Options{Schema: table.Schema()}); err != nil {
		t.Error(err)
	}
}

// TestOrder: the order of the columns changes the order of the terms and nothing else.
func TestOrder(t *testing.T) {
	table := rows(t, 2000)
	names := table.Schema().Names()
	sorted := func(columns []string) []string {
		text, _ := propose1(t, table, columns)
		terms := strings.Split(strings.TrimPrefix(text, "~ "), " + ")
		slices.Sort(terms)
		return terms
	}
	one := sorted(names)
	backwards := slices.Clone(names)
	slices.Reverse(backwards)
	two := sorted(backwards)
	for i := range one {
		if strings.HasPrefix(one[i], "onehot") {
			one[i], two[i] = "onehot", "onehot" // its levels are in the order of the columns
		}
	}
	if !slices.Equal(one, two) {
		t.Errorf("%q\nbackwards\n%q", one, two)
	}
}

// TestFewRows: the columns are at most a tenth of the rows, as far as linear terms allow.
func TestFewRows(t *testing.T) {
	for _, c := range []struct {
		n    int
		want string
	}{
		{700, `~ s(temp, bs = "bs", k = 20, knots = "quantiles") + s(income, bs = "bs", k = 20, knots = "quantiles") + s(month, bs = "bs", k = 8, knots = "quantiles")`},
		{400, `~ s(temp, bs = "bs", k = 15, knots = "quantiles") + s(income, bs = "bs", k = 15, knots = "quantiles") + s(month, bs = "bs", k = 8, knots = "quantiles")`},
		{220, `~ s(temp, bs = "bs", k = 7, knots = "quantiles") + s(income, bs = "bs", k = 7, knots = "quantiles") + s(month, bs = "bs", k = 7, knots = "quantiles")`},
		{40, "~ temp + income + month"},
		{3, "~ ridge(temp, income, month)"},
	} {
		if text, _ := propose1(t, rows(t, c.n), []string{"temp", "income", "month"}); text != c.want {
			t.Errorf("%d rows: %s, want %s", c.n, text, c.want)
		}
	}
}

// TestManyLevelsBesides: smooths stay what they are beside a random effect of more levels than a tenth of the rows.
func TestManyLevelsBesides(t *testing.T) {
	want := `~ s(temp, bs = "bs", k = 20, knots = "quantiles") + s(street, bs = "re")`
	if text, _ := propose1(t, rows(t, 700), []string{"temp", "street"}); text != want {
		t.Errorf("%s, want %s", text, want)
	}
}

func TestBad(t *testing.T) {
	table := rows(t, 10)
	if _, err := propose.Terms(context.Background(), table, []string{"nope"}, nil); err == nil || !strings.Contains(err.Error(), `"nope"`) {
		t.Errorf("a column that is not there: %v", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := propose.Terms(ctx, table, []string{"temp"}, nil); err == nil {
		t.Error("cancelled: no error")
	}
}
