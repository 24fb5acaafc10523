package main

import (
	"fmt"
	"os"
	"regexp"
	"strings"
)

// block is a fenced block with a mark above it.
type block struct {
	line     int    // of the fence, from 1
	end      int    // of the closing fence
	language string // the fence's first word
	mark     string // check, file or output
	name     string // of a file
	text     string // with a newline at its end
}

var marks = regexp.MustCompile(`^<!-- (check|file|output)(?: ([^ ]+))? -->$`)

// blocks are the marked blocks of a page, in its order.
func blocks(page string) (out []block, err error) {
	var mark []string // of the line before; nil: none
	var open *block   // nil outside of a fence
	var marked bool
	var body strings.Builder
	for i, line := range strings.Split(page, "\n") {
		fence := strings.HasPrefix(line, "```")
		switch {
		case open != nil && fence:
			if open.end, open.text = i+1, body.String(); marked {
				out = append(out, *open)
			}
			open, mark = nil, nil
			body.Reset()
		case open != nil:
			body.WriteString(line + "\n")
		case fence:
			language, _, _ := strings.Cut(strings.TrimPrefix(line, "```"), " ")
			open, marked = &block{line: i + 1, language: language}, mark != nil
			if marked {
				open.mark, open.name = mark[1], mark[2]
			}
		case mark != nil:
			return nil, fmt.Errorf("line %d: no block below the mark %s", i, mark[0])
		case strings.HasPrefix(line, "<!-- check") || strings.HasPrefix(line, "<!-- file") || strings.HasPrefix(line, "<!-- output"):
			if mark = marks.FindStringSubmatch(line); mark == nil || (mark[1] == "file") != (mark[2] != "") {
				return nil, fmt.Errorf("line %d: %s is no mark: <!-- check -->, <!-- file NAME --> or <!-- output -->", i+1, line)
			}
		}
	}
	if open != nil {
		return nil, fmt.Errorf("line %d: the block is not closed", open.line)
	}
	return out, nil
}

// read returns a page's marked blocks.
func read(path string) ([]block, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	all, err := blocks(string(text))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return all, nil
}

// rewrite puts printed in place of the lines between a block's fences.
func rewrite(path string, printed map[int]string) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	all, err := blocks(string(text))
	if err != nil {
		return err
	}
	lines := strings.Split(string(text), "\n")
	var out []string
	from := 0
	for _, b := range all {
		if now, ok := printed[b.line]; ok {
			out = append(out, lines[from:b.line]...)
			out = append(out, strings.Split(strings.TrimRight(now, "\n"), "\n")...)
			from = b.end - 1
		}
	}
	return os.WriteFile(path, []byte(strings.Join(append(out, lines[from:]...), "\n")), 0o644)
}
