package slowlock

import (
	"testing"
	"testing/synctest"
	"time"
)

// TestWaitingIsWaiting: time goes on in a bubble while a lock is held and waited for.
func TestWaitingIsWaiting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var one Lock
		var shared Shared
		var alone, together time.Time
		begun := time.Now()
		one.Lock()
		shared.RLock()
		shared.RLock()
		go func() {
			one.Lock()
			defer one.Unlock()
			alone = time.Now()
		}()
		go func() {
			shared.Lock()
			defer shared.Unlock()
			together = time.Now()
		}()
		time.Sleep(time.Second)
		shared.RUnlock()
		one.Unlock()
		time.Sleep(time.Second)
		shared.RUnlock()
		synctest.Wait()
		if alone.Sub(begun) != time.Second || together.Sub(begun) != 2*time.Second {
			t.Errorf("taken after %v and %v", alone.Sub(begun), together.Sub(begun))
		}
	})
}

// TestOrder: what waits to have the lock alone comes before what asks for it later together with others.
func TestOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var shared Shared
		var order []string
		shared.RLock()
		go func() {
			shared.Lock()
			defer shared.Unlock()
			order = append(order, "alone")
		}()
		synctest.Wait()
		go func() {
			shared.RLock()
			defer shared.RUnlock()
			order = append(order, "together")
		}()
		synctest.Wait()
		shared.RUnlock()
		synctest.Wait()
		if len(order) != 2 || order[0] != "alone" {
			t.Errorf("order = %v", order)
		}
	})
}
