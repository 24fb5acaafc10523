package browsertest

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/audits"
	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/fetch"
	cdplog "github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// chromium is the browser's path; the test is skipped where there is none.
func chromium(t *testing.T) string {
	t.Helper()
	if path := os.Getenv("PHO_CHROMIUM"); path != "" {
		return path
	}
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	t.Skip("no Chromium in PATH: PHO_CHROMIUM names one")
	return ""
}

// shared is the browser of all tests, started by the first that needs it.
type shared struct {
	once sync.Once
	ctx  context.Context
	stop context.CancelFunc
}

var browser shared // TestMain ends it

func (b *shared) start(t *testing.T) context.Context {
	t.Helper()
	path := chromium(t)
	b.once.Do(func() {
		options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path), chromedp.DisableGPU,
			chromedp.NoSandbox,                         // of a container's root; the pages are ours
			chromedp.ProxyServer("http://127.0.0.1:9"), // nobody is there
			chromedp.Flag("hide-scrollbars", true))
		ctx, stopAllocator := chromedp.NewExecAllocator(context.Background(), options...)
		ctx, stopBrowser := chromedp.NewContext(ctx)
		b.ctx, b.stop = ctx, func() { stopBrowser(); stopAllocator() }
		if err := chromedp.Do(ctx, chromedp.Navigate("about:blank")); err != nil {
			fmt.Fprintln(os.Stderr, "the browser does not start:", err)
		}
	})
	return b.ctx
}

func TestMain(m *testing.M) {
	status := m.Run()
	if browser.stop != nil {
		browser.stop()
	}
	written.remove()
	os.Exit(status)
}

// tab is a page that was opened.
type tab struct {
	t    *testing.T
	ctx  context.Context
	mu   sync.Mutex
	said []string // what no page may: errors, violations of its policy, requests
}

// look is how a page is shown. The zero value is a light screen of 1200 x 900.
type look struct {
	width int64
	dark  bool
	print bool
	still bool // prefers-reduced-motion
	noJS  bool
	zoom  int // size of text in percent; 0: 100
}

// open shows a file. Every request but the one for it fails and is an error of the test, as
// are errors of scripts, messages on the console and violations of the page's own policy:
// they are asked for when the test ends.
func open(t *testing.T, file string, l look) *tab {
	t.Helper()
	parent := browser.start(t)
	b := &tab{t: t}
	address := (&url.URL{Scheme: "file", Path: filepath.ToSlash(file)}).String()
	ctx, cancel := chromedp.NewContext(parent, chromedp.WithListener(func(ev any) { b.hear(ev, address) }))
	ctx, cancelTime := context.WithTimeout(ctx, 2*time.Minute)
	b.ctx = ctx
	t.Cleanup(func() {
		_, _ = chromedp.Run(ctx, chromedp.Evaluate[int]("0")) // what was said before is heard now
		b.mu.Lock()
		defer b.mu.Unlock()
		for _, s := range b.said {
			t.Errorf("%s: %s", filepath.Base(file), s)
		}
		cancelTime()
		cancel()
	})
	call(b, fetch.Enable, fetch.EnableParams{})
	call(b, audits.Enable, cdp.Empty{})
	call(b, cdplog.Enable, cdp.Empty{})
	call(b, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: l.noJS})
	b.do(chromedp.Navigate(address))
	b.show(l)
	return b
}

// show sets size and preferences of a page that is open.
func (b *tab) show(l look) {
	b.t.Helper()
	if l.width == 0 {
		l.width = 1200
	}
	scheme, motion, media := "light", "no-preference", ""
	if l.dark {
		scheme = "dark"
	}
	if l.still {
		motion = "reduce"
	}
	if l.print {
		media = "print"
	}
	b.do(chromedp.EmulateViewport(l.width, 900))
	call(b, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Media: media, Features: []*emulation.MediaFeature{
		{Name: "prefers-color-scheme", Value: scheme}, {Name: "prefers-reduced-motion", Value: motion}}})
	zoom := ""
	if l.zoom != 0 {
		zoom = fmt.Sprintf("%d%%", l.zoom)
	}
	b.eval(fmt.Sprintf("document.documentElement.style.fontSize = '%s'", zoom))
}

// hear notes what no page may do, and lets no request through but the one for the page.
func (b *tab) hear(ev any, address string) {
	switch ev := ev.(type) {
	case *fetch.EventRequestPaused:
		asked, _, _ := strings.Cut(ev.Request.URL, "#")
		if asked == address || strings.HasPrefix(asked, "data:image/") {
			go func() {
				_, _ = chromedp.Call(b.ctx, fetch.ContinueRequest, fetch.ContinueRequestParams{RequestID: ev.RequestID})
			}()
			return
		}
		b.note("asks for %s", asked)
		go func() {
			_, _ = chromedp.Call(b.ctx, fetch.FailRequest, fetch.FailRequestParams{RequestID: ev.RequestID, ErrorReason: network.ErrorReasonBlockedByClient})
		}()
	case *runtime.EventExceptionThrown:
		text := ev.ExceptionDetails.Text
		if e := ev.ExceptionDetails.Exception; e != nil {
			text = e.Description
		}
		b.note("error of a script: %s", text)
	case *runtime.EventConsoleAPICalled:
		b.note("message on the console: %s", ev.Type)
	case *cdplog.EventEntryAdded:
		b.note("%s %s: %s", ev.Entry.Source, ev.Entry.Level, ev.Entry.Text)
	case *audits.EventIssueAdded:
		if d := ev.Issue.Details; d != nil && d.ContentSecurityPolicyIssueDetails != nil {
			b.note("violates its policy: %s", d.ContentSecurityPolicyIssueDetails.ContentSecurityPolicyViolationType)
		}
	}
}

func (b *tab) note(format string, args ...any) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.said = append(b.said, fmt.Sprintf(format, args...))
}

func (b *tab) do(steps ...chromedp.Action[chromedp.Void]) {
	b.t.Helper()
	if err := chromedp.Do(b.ctx, steps...); err != nil {
		b.t.Fatal(err)
	}
}

// eval runs an expression for what it does.
func (b *tab) eval(expression string) {
	b.t.Helper()
	if _, err := chromedp.Run(b.ctx, chromedp.Evaluate[chromedp.Void](expression)); err != nil {
		b.t.Fatalf("%s: %v", expression, err)
	}
}

// value is what an expression gives in the page.
func value[T any](b *tab, expression string) T {
	b.t.Helper()
	v, err := chromedp.Run(b.ctx, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
	if err != nil {
		b.t.Fatalf("%s: %v", expression, err)
	}
	return v
}

// picture is the whole page as it is shown now.
func (b *tab) picture() []byte {
	b.t.Helper()
	raw, err := chromedp.Run(b.ctx, chromedp.FullScreenshot(100))
	if err != nil {
		b.t.Fatal(err)
	}
	return raw
}

// pdf is the page as it is printed on A4.
func (b *tab) pdf() []byte {
	b.t.Helper()
	raw, err := chromedp.Run(b.ctx, chromedp.PrintToPDF(chromedp.PDFPaper(chromedp.PaperA4), chromedp.PDFPrintBackground()))
	if err != nil {
		b.t.Fatal(err)
	}
	return raw
}
