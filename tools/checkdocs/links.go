package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"unicode"
)

// tracked are the files of the repository that git does not ignore, by their paths with slashes.
func tracked(root string) ([]string, error) {
	out, err := exec.Command("git", "-C", root, "ls-files", "-co", "--exclude-standard").Output()
	if err != nil {
		return nil, fmt.Errorf("git ls-files: %w", err)
	}
	var files []string
	for name := range strings.Lines(string(out)) {
		name = strings.TrimSpace(name)
		if _, err := os.Stat(filepath.Join(root, name)); err == nil {
			files = append(files, name)
		}
	}
	return files, nil
}

var (
	link     = regexp.MustCompile(`\]\(([^)\s]+)(?: "[^"]*")?\)`)
	codeSpan = regexp.MustCompile("`[^`]*`")
	heading  = regexp.MustCompile(`^#{1,6} +(.*?) *$`)
	shown    = regexp.MustCompile(`!?\[([^\]]*)\]\([^)]*\)`)
	docsPath = regexp.MustCompile(`\bdocs/[a-z0-9_/-]+\.md\b`)
)

// checkLinks follows every link between the Markdown files, to files, folders and headings,
// and every page that is mentioned by its path. It returns how many there are.
func checkLinks(root string, files []string) (count int, err error) {
	known := map[string]bool{".": true}
	anchors := map[string]map[string]bool{}
	texts := map[string][]string{}
	for _, name := range files {
		for dir := name; dir != "."; dir = path.Dir(dir) {
			known[dir] = true
		}
		if path.Ext(name) == ".md" {
			text, err := os.ReadFile(filepath.Join(root, name))
			if err != nil {
				return 0, err
			}
			texts[name] = prose(string(text))
			anchors[name] = headings(texts[name])
		}
	}
	var bad bytes.Buffer
	for _, name := range files {
		for i, line := range texts[name] {
			for _, page := range docsPath.FindAllString(line, -1) {
				if !known[page] && !known[path.Join(path.Dir(name), page)] {
					fmt.Fprintf(&bad, "\n%s:%d: %s is no page", name, i+1, page)
				}
			}
			for _, m := range link.FindAllStringSubmatch(codeSpan.ReplaceAllString(line, "code"), -1) {
				count++
				if why := broken(name, m[1], known, anchors); why != "" {
					fmt.Fprintf(&bad, "\n%s:%d: %s: %s", name, i+1, m[1], why)
				}
			}
		}
	}
	if bad.Len() > 0 {
		return count, fmt.Errorf("links that lead nowhere:%s", &bad)
	}
	return count, nil
}

// broken says why a link on a page leads nowhere; "": it leads somewhere, or out of the
// repository.
func broken(page, target string, known map[string]bool, anchors map[string]map[string]bool) string {
	if strings.Contains(target, "://") || strings.HasPrefix(target, "mailto:") {
		return ""
	}
	file, anchor, hasAnchor := strings.Cut(target, "#")
	if strings.HasPrefix(file, "/") {
		return "links are relative to the page"
	}
	to := page
	if file != "" {
		to = path.Join(path.Dir(page), file)
	}
	if !known[to] {
		return "no such file in the repository"
	}
	if hasAnchor && path.Ext(to) == ".md" && !anchors[to][anchor] {
		return "no such heading on " + to
	}
	return ""
}

// prose are the lines of a page, those of fenced blocks emptied.
func prose(text string) []string {
	lines := strings.Split(text, "\n")
	inside := false
	for i, line := range lines {
		if strings.HasPrefix(strings.TrimSpace(line), "```") {
			inside = !inside
			lines[i] = ""
		} else if inside {
			lines[i] = ""
		}
	}
	return lines
}

// headings are the anchors of a page as forges name them: lower case, spaces as hyphens, no
// punctuation, and a number for those that repeat.
func headings(lines []string) map[string]bool {
	out := map[string]bool{}
	seen := map[string]int{}
	for _, line := range lines {
		m := heading.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		anchor := slug(shown.ReplaceAllString(m[1], "$1"))
		if n := seen[anchor]; n > 0 {
			out[fmt.Sprintf("%s-%d", anchor, n)] = true
		} else {
			out[anchor] = true
		}
		seen[anchor]++
	}
	return out
}

func slug(title string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == ' ':
			return '-'
		case r == '-' || r == '_' || unicode.IsLetter(r) || unicode.IsNumber(r):
			return unicode.ToLower(r)
		}
		return -1
	}, title)
}
