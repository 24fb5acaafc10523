package command

import (
	"strconv"

	"github.com/pho-go/pho/internal/app/wiring"
)

func interactions(text string) (int, error) {
	switch text {
	case "":
		return wiring.MoreInteractions, nil
	case "auto":
		return wiring.AutoInteractions, nil
	case "none":
		return wiring.NoInteractions, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 {
		return 0, usagef("--interactions %q: it is a number of pairs, auto or none", text)
	}
	return n, nil
}
