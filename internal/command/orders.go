package command

import (
	"fmt"
	"io"
	"strings"

	"github.com/pho-go/pho/decompose"
	"github.com/pho-go/pho/internal/app/wiring"
)

// writeOrders prints the shares of main effects, interactions of two columns, and so on,
// if they were asked for: a sentence, or a table of several predictors.
func writeOrders(w io.Writer, r *decompose.Result) {
	var asked []*decompose.Predictor
	var names []string // of the orders
	for i := range r.Predictors {
		p := &r.Predictors[i]
		if p.OrdersRemainder == nil {
			continue
		}
		asked = append(asked, p)
		for _, o := range p.Orders[min(len(names), len(p.Orders)):] {
			names = append(names, orderWords(o.Order))
		}
	}
	switch {
	case len(asked) == 0:
		return
	case len(r.Predictors) == 1:
		var parts []string
		for i, share := range orderShares(asked[0], len(names)) {
			parts = append(parts, append(names[:len(names):len(names)], "what no term expresses")[i]+" "+share)
		}
		writeProse(w, "  ", 4, "by order of interaction (unpenalised): "+strings.Join(parts, ", "))
		return
	}
	fmt.Fprintln(w, "  by order of interaction (unpenalised):")
	rows := [][]string{append(append([]string{"predictor"}, names...), "what no term expresses")}
	for _, p := range asked[:min(len(asked), summaryTerms)] {
		rows = append(rows, append([]string{wiring.Shorten(shown(p.Name), 16)}, orderShares(p, len(names))...))
	}
	writeTable(w, rows, 1)
}

// orderShares are the shares of so many orders, and of what no term expresses.
func orderShares(p *decompose.Predictor, n int) []string {
	var out []string
	for i := range n {
		share := "-"
		if i < len(p.Orders) {
			share = wiring.Percent(p.Orders[i].Share)
		}
		out = append(out, share)
	}
	return append(out, wiring.Percent(*p.OrdersRemainder))
}

func orderWords(order int) string {
	if order == 1 {
		return "main effects"
	}
	return fmt.Sprintf("interactions of %d columns", order)
}
