package command

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"

	"github.com/pho-go/pho/internal/base/durable"
)

// patience is how long an interrupted command may take to end by itself: less than
// the second after which people think that they were not heard.
const patience = 700 * time.Millisecond

// interrupted is said when a command was interrupted.
const interrupted = "interrupted; unfinished results were removed"

// interruptible is a context that SIGINT, SIGTERM and SIGHUP end. A second signal
// ends the process at once. Signals that were ignored when the process began, by
// nohup or a shell's &, stay ignored.
func interruptible() context.Context {
	var signals []os.Signal
	for _, s := range []os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGHUP} {
		if !signal.Ignored(s) {
			signals = append(signals, s)
		}
	}
	if len(signals) == 0 { // none would mean all to NotifyContext
		return context.Background()
	}
	ctx, stop := signal.NotifyContext(context.Background(), signals...)
	context.AfterFunc(ctx, stop)
	return ctx
}

// ending is the end of a command that was interrupted in a step that does not look
// at its context, such as one large factorisation: what is unfinished is removed and
// the process ends.
type ending struct {
	durable.Unfinished
	mu   sync.Mutex
	tell func() // says on the terminal or in the log that the process ends; nil: the usual words

	drain time.Duration // how long the command may take to end; 0: patience
}

// drainFor lets the command take longer to end, as it has clients who wait for answers. A
// second signal ends the process all the same.
func (e *ending) drainFor(d time.Duration) {
	if e == nil {
		return
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.drain = d
}

// onEnd sets what is said when the process ends.
func (e *ending) onEnd(tell func()) {
	if e == nil {
		return
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.tell = tell
}

// after ends the process some time after ctx has ended, unless it has ended before.
func (e *ending) after(ctx context.Context, patience time.Duration, exit func(code int)) {
	context.AfterFunc(ctx, func() {
		e.mu.Lock()
		wait := max(patience, e.drain)
		e.mu.Unlock()
		time.Sleep(wait)
		e.Discard()
		e.mu.Lock()
		defer e.mu.Unlock()
		if e.tell != nil {
			e.tell()
		} else {
			fmt.Fprintln(os.Stderr, "pho: "+interrupted)
		}
		exit(exitInterrupted)
	})
}
