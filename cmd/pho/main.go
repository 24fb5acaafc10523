// Command pho opens trained networks: it splits an additive predictor into an
// identifiable structured part and an orthogonal deep remainder.
package main

import "github.com/pho-go/pho/internal/command"

func main() { command.Main() }
