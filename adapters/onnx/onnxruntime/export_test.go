package onnxruntime

import "time"

// Ended is closed when the helper's process has ended.
func Ended(h *Helper) <-chan struct{} {
	done, p := make(chan struct{}), h.process
	go func() {
		for {
			p.mu.Lock()
			fault := p.fault
			p.mu.Unlock()
			if fault != nil {
				close(done)
				return
			}
			time.Sleep(10 * time.Millisecond)
		}
	}()
	return done
}
