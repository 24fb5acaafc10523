// Command gate holds the speed of the cases that count: it compares our own variants in
// one run, not times, so that it means the same on every machine. Variants are the
// same program without assembly (built with the tag purego), one worker next to two, and Go's
// own readers. A ratio below half of what it usually is fails.
//
//	gate -plain FILE [-rounds N] [-case TEXT]   compares; FILE is this program built with -tags purego
//	gate -once CASE                             prints the seconds of one turn of one case
package main

import (
	"errors"
	"flag"
	"fmt"
	"log"
	"math"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
)

func main() {
	log.SetFlags(0)
	log.SetPrefix("gate: ")
	plain := flag.String("plain", "", "this program without assembly")
	rounds := flag.Int("rounds", 2, "turns, of which the best counts; up to four times as many of a case that seems too slow")
	only := flag.String("case", "", "the cases whose names hold this text")
	once := flag.String("once", "", "the one case to time")
	flag.Parse()
	if err := run(*plain, *rounds, *only, *once); err != nil {
		log.Fatal(err)
	}
}

func run(plain string, rounds int, only, once string) error {
	if once != "" {
		seconds, err := timed(once)
		if err == nil {
			fmt.Println(seconds)
		}
		return err
	}
	if plain == "" {
		return errors.New("-plain is missing: build this program with -tags purego, and name it")
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	slow := 0
	for _, c := range cases {
		if !strings.Contains(c.name, only) {
			continue
		}
		if reason := c.skipped(); reason != "" {
			fmt.Printf("%-52s skipped: %s\n", c.name, reason)
			continue
		}
		ratio, err := compare(c, self, plain, rounds)
		if err != nil {
			return fmt.Errorf("%s: %w", c.name, err)
		}
		verdict := ""
		least := c.bound()
		if ratio < least {
			slow++
			verdict = "  TOO SLOW"
		}
		fmt.Printf("%-52s %6.2f times %s, at least %.4g%s\n", c.name, ratio, c.against.what(), least, verdict)
	}
	if slow > 0 {
		return fmt.Errorf("%d cases are slower than they were: look at a profile of the case (go test -bench), or, if that is meant, change its bound with the reason", slow)
	}
	return nil
}

// skipped says why a case means nothing here.
func (c gated) skipped() string {
	switch {
	case c.against == withoutAssembly && runtime.GOARCH != "amd64":
		return "bounds are known for amd64 alone"
	case c.against == oneWorker && runtime.NumCPU() < 2:
		return "there is one processor"
	}
	return ""
}

// patience is how many times as many turns a case gets before it counts as too slow: where others work
// on the machine, a process may have a slower processor than the next for as long as it runs.
const patience = 4

// compare is how many times faster the case is than its variant: the best of several turns of
// each, taken alternately in processes of their own.
func compare(c gated, self, plain string, rounds int) (float64, error) {
	ours, other := math.Inf(1), math.Inf(1)
	for i := 0; i < rounds || i < patience*rounds && other/ours < c.bound(); i++ {
		took, err := turn(self, c.name)
		if err != nil {
			return 0, err
		}
		ours = math.Min(ours, took)
		program, name := self, c.name+variant
		if c.against == withoutAssembly {
			program, name = plain, c.name
		}
		if took, err = turn(program, name); err != nil {
			return 0, err
		}
		other = math.Min(other, took)
	}
	return other / ours, nil
}

func turn(program, name string) (float64, error) {
	c := exec.Command(program, "-once", name)
	c.Stderr = os.Stderr
	out, err := c.Output()
	if err != nil {
		return 0, err
	}
	return strconv.ParseFloat(strings.TrimSpace(string(out)), 64)
}
