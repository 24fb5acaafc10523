package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/pho-go/pho/decompose"
	"github.com/pho-go/pho/internal/wiring"
)

// writeOrders prints the shares of main effects, interactions of two columns, and so on,
// if they were asked for.
func writeOrders(w io.Writer, p *decompose.Predictor) {
	if p.OrdersRemainder == nil {
		return
	}
	var parts []string
	for _, o := range p.Orders {
		parts = append(parts, fmt.Sprintf("%s %s", orderWords(o.Order), wiring.Percent(o.Share)))
	}
	parts = append(parts, "what no term expresses "+wiring.Percent(*p.OrdersRemainder))
	fmt.Fprintf(w, "  by order of interaction (unpenalised): %s\n", strings.Join(parts, ", "))
}

func orderWords(order int) string {
	if order == 1 {
		return "main effects"
	}
	return fmt.Sprintf("interactions of %d columns", order)
}
