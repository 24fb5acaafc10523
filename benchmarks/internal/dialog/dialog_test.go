package dialog

import (
	"strings"
	"testing"
	"time"
)

// cat answers with what it is told, and with nothing as long as it is told nothing.
func TestLimit(t *testing.T) {
	p, err := Start([]string{"cat"})
	if err != nil {
		t.Skipf("cat: %v", err)
	}
	defer p.Close()
	p.Limit = time.Minute
	if l, err := p.Ask("a %d", 1); err != nil || l != "a 1" {
		t.Fatalf("cat answers %q, %v", l, err)
	}
	p.Limit = 50 * time.Millisecond
	if l, err := p.Line(); err == nil || !strings.Contains(err.Error(), "killed") {
		t.Fatalf("a program that is silent: %q, %v", l, err)
	}
	gone, err := Start([]string{"sh", "-c", "sleep 2 & exit"})
	if err != nil {
		t.Skipf("sh: %v", err)
	}
	defer gone.Close()
	gone.Limit = 50 * time.Millisecond
	if l, err := gone.Line(); err == nil || !strings.Contains(err.Error(), "killed") {
		t.Fatalf("a program that is gone, and one that it began is not: %q, %v", l, err)
	}
}
