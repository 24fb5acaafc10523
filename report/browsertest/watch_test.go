package browsertest

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestWatch: what the other tests rely on is noticed: requests, errors, messages, violations.
func TestWatch(t *testing.T) {
	const policy = `<meta http-equiv="Content-Security-Policy" content="default-src 'none'">`
	for want, body := range map[string]string{
		"asks for http://example.invalid/a.png": `<img src="http://example.invalid/a.png" alt="">`,
		"error of a script":                     `<script>missing()</script>`,
		"message on the console":                `<script>console.error("x")</script>`,
		"violates its policy":                   policy + `<script>1</script>`,
	} {
		page := filepath.Join(t.TempDir(), "page.html")
		if err := os.WriteFile(page, []byte("<!DOCTYPE html><title>t</title>"+body), 0o644); err != nil {
			t.Fatal(err)
		}
		b := open(t, page, look{})
		value[int](b, "new Promise(done => setTimeout(() => done(1), 200))")
		b.mu.Lock()
		said := strings.Join(b.said, "\n")
		b.said = nil // they are no fault here
		b.mu.Unlock()
		if !strings.Contains(said, want) {
			t.Errorf("%q is not among what was noticed: %q", want, said)
		}
	}
}
