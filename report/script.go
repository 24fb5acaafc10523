package report

import (
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"strings"
)

//go:embed script/*.js
var scripts embed.FS

// scriptElement is the page's script, its files in the order of their names inside one
// function, and what the page's policy allows it by: the hash of its text.
func scriptElement() (element template.HTML, hash string, err error) {
	files, err := scripts.ReadDir("script")
	if err != nil {
		return "", "", err
	}
	var b strings.Builder
	b.WriteString("(function () {\n\"use strict\";\n")
	for _, f := range files {
		text, err := scripts.ReadFile("script/" + f.Name())
		if err != nil {
			return "", "", err
		}
		b.Write(text)
	}
	b.WriteString("start();\n})();\n")
	if strings.Contains(strings.ToLower(b.String()), "</script") {
		return "", "", fmt.Errorf("the script holds the end of its own element")
	}
	sum := sha256.Sum256([]byte(b.String()))
	return template.HTML("<script>" + b.String() + "</script>"), "sha256-" + base64.StdEncoding.EncodeToString(sum[:]), nil
}
