package codex

// background runs f on a goroutine of its own, unless nothing more is to be started.
func (d *Driver) background(f func()) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if !d.closed { // rest waits for d.wg after it has set closed
		d.wg.Go(f)
	}
}

// rest starts nothing more by itself, and waits until what it has started has ended.
func (d *Driver) rest() {
	d.mu.Lock()
	d.closed = true
	d.mu.Unlock()
	d.wg.Wait()
}
