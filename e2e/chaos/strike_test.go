package chaos

import (
	"context"
	"os"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/progtest"
)

// A field is the program under strikes.
type field struct {
	tb      testing.TB
	ledger  *Ledger
	file    string // that commands append to
	disk    *disk
	model   *upstream
	there   *machines
	program *progtest.Program
	url     atomic.Value

	kills   int
	count   map[strike]int
	skipped int           // strikes that found nothing to hit
	worst   time.Duration // from a kill to the next answer of the model
	slow    int           // recoveries of more than 5 s
	logs    *os.File
}

// restless is how long a recovery may take before the run is said to be stuck.
const restless = 90 * time.Second

func (f *field) where() string { s, _ := f.url.Load().(string); return s }

// cuts is how many strikes at the model there were.
func (f *field) cuts() (n int) {
	for s := finModel; s <= modelDeaf; s++ {
		n += f.count[s]
	}
	return n
}

func (f *field) runs(p *progtest.Program) {
	f.program = p
	f.url.Store(p.URL)
}

// strike carries out one blow and waits for the recovery.
func (f *field) strike(b Blow) {
	if finModel <= b.Strike && b.Strike <= modelDeaf {
		f.spare()
	}
	f.there.tend()
	f.await(b)
	pause(context.Background(), b.After)
	said := f.ledger.said.next()
	began := time.Now()
	if !f.hit(b) {
		f.skipped++
		return
	}
	f.kills += b.Strike.kills()
	f.count[b.Strike]++
	if b.Hasty {
		return
	}
	if !f.there.tendUntil(said, restless) {
		f.ledger.fault("nothing was answered within %s of this strike: %s", restless, b.Strike)
	}
	took := time.Since(began)
	f.worst = max(f.worst, took)
	if took > 5*time.Second {
		f.slow++
	}
}

// spare waits until no turn would be lost by another cut, for a few seconds at most: what has ended
// meanwhile, for another reason, is not asked again.
func (f *field) spare() {
	limit := time.After(2 * codexWaits)
	for f.ledger.worn() {
		select {
		case <-limit:
			return
		case <-time.After(10 * time.Millisecond):
		}
	}
}

// await waits for the moment of a blow, for a second at most: it may not come.
func (f *field) await(b Blow) {
	limit := time.After(time.Second)
	var moment <-chan struct{}
	switch b.When {
	case atModel:
		moment = f.ledger.asked.next()
	case atAccept:
		moment = f.ledger.sending.next()
	case atCommand:
		f.awaitLine(limit)
		return
	default:
		return
	}
	select {
	case <-moment:
	case <-limit:
	}
}

// awaitLine waits until a command has appended to the file.
func (f *field) awaitLine(limit <-chan time.Time) {
	before := size(f.file)
	for size(f.file) == before {
		select {
		case <-limit:
			return
		case <-time.After(time.Millisecond):
		}
	}
}

func size(file string) int64 {
	info, err := os.Stat(file)
	if err != nil {
		return 0
	}
	return info.Size()
}

// hit reports whether there was something to hit.
func (f *field) hit(b Blow) bool {
	switch b.Strike {
	case killChild:
		return f.killChild()
	case killUs:
		f.killUs()
	case killBoth:
		if !f.killChild() {
			return false
		}
		f.killUs()
	case killInStart:
		f.program.Kill()
		f.keepLog(f.program)
		next := f.program.Relaunch()
		pause(context.Background(), b.Hold/2)
		next.Kill()
		f.keepLog(next)
		f.runs(next.Restart())
	case stopUs:
		f.stop()
		f.runs(f.program.Restart())
	case fillDisk:
		return f.disk.fill(b.Hold)
	case finModel, rstModel, modelAway, modelDeaf:
		return f.model.hit(b)
	case killMachine, killExec, freezeMachine, drainMachine:
		return f.there.hit(b)
	case lull:
		pause(context.Background(), *silenceFlag+time.Second)
	}
	return true
}

func (f *field) killChild() bool {
	pid := f.program.Codex()
	return pid != 0 && syscall.Kill(pid, syscall.SIGKILL) == nil
}

func (f *field) killUs() {
	f.program.Kill()
	f.keepLog(f.program)
	f.runs(f.program.Restart())
}

func (f *field) stop() {
	f.program.Stop()
	f.keepLog(f.program)
}

func (f *field) keepLog(p *progtest.Program) {
	if _, err := f.logs.WriteString(p.Log()); err != nil {
		f.tb.Error(err)
	}
	p.Forget()
}
