package report

import (
	"fmt"

	"github.com/pho-go/pho/decompose"
)

// orderRow is a line of the table of orders of interaction: a part of one bar.
type orderRow struct {
	Name, Share, Terms string
	X, W               string // of the bar, the shares behind one another
	Class              string
}

// orderRows are the orders and what no term expresses; nil: they were not asked for.
func orderRows(d *decompose.Predictor) []orderRow {
	if d.OrdersRemainder == nil || constant(d) {
		return nil
	}
	var rows []orderRow
	x, at := axis{span{0, 1}, 0, barWidth}, 0.0
	add := func(name, terms, class string, share float64) {
		rows = append(rows, orderRow{Name: name, Share: percent(share), Terms: terms, Class: class, X: px(x.at(at)), W: px(x.at(share) - x.at(0))})
		at += share
	}
	for _, o := range d.Orders {
		name := "main effects"
		if o.Order > 1 {
			name = fmt.Sprintf("interactions of %d columns", o.Order)
		}
		terms := list(o.Terms, 8)
		if len(o.Terms) == 0 {
			terms = "margins of other terms"
		}
		add(name, terms, "structured", o.Share)
	}
	add("what no term expresses", "", "unstructured", *d.OrdersRemainder)
	return rows
}
