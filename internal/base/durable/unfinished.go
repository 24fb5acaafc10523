package durable

import (
	"errors"
	"sync"
)

// Unfinished lists the files and directories that a process has begun and not put in
// place, so that another goroutine can remove them when the process has to end. The
// zero value is empty; a nil *Unfinished lists nothing.
type Unfinished struct {
	mu    sync.Mutex
	paths map[string]func() // what removes each
	over  bool              // Discard was called
}

// ErrDiscarded is what Place returns after Discard.
var ErrDiscarded = errors.New("the process is ending")

// Add lists path, which remove removes with all that was made for it.
func (u *Unfinished) Add(path string, remove func()) {
	if u == nil {
		return
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.paths == nil {
		u.paths = map[string]func(){}
	}
	u.paths[path] = remove
}

// Drop takes path, which is gone, from the list.
func (u *Unfinished) Drop(path string) {
	if u == nil {
		return
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	delete(u.paths, path)
}

// Place calls rename, which puts path in its place, and takes path from the list; or
// returns ErrDiscarded. It is either done or not begun when Discard goes on.
func (u *Unfinished) Place(path string, rename func() error) error {
	if u == nil {
		return rename()
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.over {
		return ErrDiscarded
	}
	err := rename()
	if err == nil {
		delete(u.paths, path)
	}
	return err
}

// Discard removes all that is listed; nothing is put in place any more.
func (u *Unfinished) Discard() {
	if u == nil {
		return
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	u.over = true
	for _, remove := range u.paths {
		remove()
	}
}
