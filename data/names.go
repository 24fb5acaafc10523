package data

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/pho-go/pho/internal/spelling"
)

// LevelText is the name of the level that the number v stands for in a column
// held as categories: plain digits for whole numbers below 1e15, the shortest
// text that reads back as v otherwise. 1, 1.0 and 1e0 are one level, "1"; so
// are 0 and -0.
func LevelText(v float64) string {
	if v == math.Trunc(v) && math.Abs(v) < 1e15 {
		return strconv.FormatInt(int64(v), 10)
	}
	return strconv.FormatFloat(v, 'g', -1, 64)
}

// unknownColumn is the error for a requested name that the schema of where
// lacks.
func unknownColumn(name, where string, schema Schema) error {
	msg := fmt.Sprintf("data: no column %q in %s", clip(name), where)
	if near := spelling.Closest(name, schema.Names()); near != "" {
		msg += fmt.Sprintf("; the nearest name is %q", near)
	}
	if len(schema) == 1 && strings.ContainsAny(schema[0].Name, ";,|\t") {
		msg += fmt.Sprintf("; its header is the single name %q: is the delimiter right?", clip(schema[0].Name))
	}
	return fmt.Errorf("%s", msg)
}

// clip shortens text from a file for a message, copying it so that the message
// does not hold on to the text.
func clip(s string) string {
	const most = 80
	if len(s) <= most {
		return strings.Clone(s)
	}
	return strings.ToValidUTF8(s[:most], "") + "..."
}
