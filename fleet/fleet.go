package fleet

import (
	"context"
	"log/slog"
	"maps"
	"regexp"
	"slices"
	"sync"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/fleet/link"
	"github.com/Molecule-AI/molecule-codex-runtime/fleet/placement"
	"github.com/Molecule-AI/molecule-codex-runtime/fleet/roster"
	"github.com/Molecule-AI/molecule-codex-runtime/machine/wire"
)

// Config says which machines there are, and what is done on them.
type Config struct {
	Source roster.Source
	// Connect returns the client of a machine. Each of its requests is of the epoch that is said then.
	Connect  func(e roster.Entry, epoch func() int64) (Machine, error)
	Files    string           // what places are: [wire.FilesShared] or [wire.FilesGit]
	Dir      string           // the working directory of this machine
	Incoming string           // the folder of this machine that has the files of messages
	Labels   placement.Labels // that each machine must have which is used
	Wait     time.Duration    // for how long a turn waits for one
	Journal  Journal
	Trees    Trees   // of [wire.FilesGit]
	Metrics  Metrics // nil counts nothing
	Logger   *slog.Logger

	listen func(Machine, link.Keeper) (way, error) // for codex; nil is package link
}

// A way is how codex gets to a machine.
type way interface {
	URL() string
	Token() string
	Refuse(why string)
	Allow()
	Close()
}

// A Journal keeps which conversation is on which machine, and the last epoch that these were told.
type Journal interface {
	Epoch(ctx context.Context) (int64, error)
	RecordEpoch(ctx context.Context, epoch int64) error
	Placements(ctx context.Context) (map[string]string, error)
	RecordPlacement(ctx context.Context, conversation, machine string) error
}

// Metrics count what becomes of machines. They must not block.
type Metrics interface {
	MachineLost(machine string)
	// Placed hears how long a turn has waited for its place.
	Placed(waited time.Duration)
}

// A Fleet is the machines. It implements [place.Machines]. Create it with [New].
type Fleet struct {
	cfg      Config
	log      *slog.Logger
	epochs   *epochs
	placer   *placement.Placer
	files    files
	incoming *regexp.Regexp
	ctx      context.Context // ends with Close
	stop     context.CancelFunc
	wg       sync.WaitGroup

	mu       sync.Mutex // guards the fields below
	members  map[roster.Entry]*member
	joined   int                 // so many, with those that are gone
	names    map[string]*member  // that were heard last by their names
	trouble  error               // of the roster
	waiting  map[string]*waiting // conversations that ask for a turn
	recorded map[string]string   // as the journal has it
	untold   map[string]string   // what models are to be told of conversations' files yet
	news     chan struct{}       // closed, and made anew, at each change
	none     time.Time           // since when no machine takes turns; zero while one does
	ever     bool                // one has
}

// settleTime is what machines have to report after a start, until those that the journal alone knows are taken for gone.
const settleTime = 5 * time.Second

// New returns the fleet of a config, and begins to watch its machines.
func New(ctx context.Context, cfg Config) (*Fleet, error) {
	if cfg.Metrics == nil {
		cfg.Metrics = noMetrics{}
	}
	if cfg.listen == nil {
		cfg.listen = func(to Machine, keeper link.Keeper) (way, error) {
			return link.Listen(to, keeper, "/v1/exec", cfg.Logger)
		}
	}
	known, err := cfg.Journal.Placements(ctx)
	if err != nil {
		return nil, err
	}
	epochs, err := openEpochs(ctx, cfg.Journal)
	if err != nil {
		return nil, err
	}
	f := &Fleet{
		cfg: cfg, log: cfg.Logger, epochs: epochs, placer: placement.New(),
		recorded: known, untold: map[string]string{}, members: map[roster.Entry]*member{}, names: map[string]*member{}, waiting: map[string]*waiting{}, news: make(chan struct{}), none: time.Now(),
	}
	f.incoming = incoming(cfg.Incoming)
	for conversation, machine := range known {
		f.placer.Load(conversation, machine)
	}
	f.ctx, f.stop = context.WithCancel(context.Background())
	f.wg.Go(func() { cfg.Source.Run(f.ctx, f.list) })
	settled := time.AfterFunc(settleTime, f.placer.Settle)
	f.wg.Go(func() {
		<-f.ctx.Done()
		settled.Stop()
	})
	return f, nil
}

type noMetrics struct{}

func (noMetrics) MachineLost(string)   {}
func (noMetrics) Placed(time.Duration) {}

// Close lets go of all machines, which then end what runs there.
func (f *Fleet) Close() error {
	f.stop()
	f.wg.Wait()
	return nil
}

// list takes the roster as it is now.
func (f *Fleet) list(entries []roster.Entry, trouble error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if trouble != nil {
		f.log.Warn("the list of machines cannot be read as a whole", "from", f.cfg.Source.String(), "err", trouble)
	}
	f.trouble = trouble
	now := map[roster.Entry]bool{}
	for _, e := range entries {
		now[e] = true
		if m := f.members[e]; m == nil || m.retire(false) {
			f.joinLocked(e)
		}
	}
	for e, m := range f.members {
		if !now[e] {
			f.retireLocked(e, m)
		}
	}
	f.tellLocked()
}

// retireLocked has no new turn be placed on a machine that is not in the list any more. Those that run there go on.
func (f *Fleet) retireLocked(e roster.Entry, m *member) {
	for name, holder := range f.names {
		if holder == m {
			f.placer.Remove(name)
		}
	}
	if m.retire(true) {
		delete(f.members, e)
	}
}

// drop forgets a machine that is not used any more.
func (f *Fleet) drop(m *member) {
	f.mu.Lock()
	defer f.mu.Unlock()
	maps.DeleteFunc(f.members, func(_ roster.Entry, other *member) bool { return other == m })
	maps.DeleteFunc(f.names, func(_ string, other *member) bool { return other == m })
}

// claim has a machine be the one of a name. If another one is that, and up, its address is returned.
func (f *Fleet) claim(name string, m *member) (other string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if holder := f.names[name]; holder != nil && holder != m && holder.isThere() {
		return holder.address
	}
	for before, holder := range f.names {
		if holder == m && before != name {
			f.placer.Lose(before)
			delete(f.names, before)
		}
	}
	f.names[name] = m
	return ""
}

func (f *Fleet) joinLocked(e roster.Entry) {
	f.joined++
	m := &member{f: f, address: e.Name, number: f.joined, state: Unknown, epoch: f.epochs.atFirst()}
	var err error
	if m.machine, err = f.cfg.Connect(e, m.now); err != nil {
		f.log.Error("a machine of the list cannot be used", "machine", e.Name, "err", err)
		return
	}
	if m.link, err = f.cfg.listen(m.machine, m); err != nil {
		f.log.Error("a machine cannot be used", "machine", e.Name, "err", err)
		return
	}
	m.ctx, m.quit = context.WithCancel(f.ctx)
	f.members[e] = m
	f.wg.Go(m.follow)
}

// changed takes over how a machine stands.
func (f *Fleet) changed(m *member) {
	f.mu.Lock()
	defer f.mu.Unlock()
	m.mu.Lock()
	state, status, leaves := m.state, m.status, m.leaves
	m.mu.Unlock()
	switch {
	case status.Name == "" || f.names[status.Name] != m:
	case state == Up && !leaves:
		f.placer.Report(f.usable(status))
	case state == Up:
	case state == Doubted:
		f.placer.Doubt(status.Name)
	default:
		f.placer.Lose(status.Name)
	}
	f.tellLocked()
}

// usable has a machine be in trouble that does not have what is needed here.
func (f *Fleet) usable(s wire.Status) wire.Status {
	if !slices.Contains(s.Files, f.cfg.Files) {
		s.Trouble = f.unusable(s)
	}
	return s
}

// unusable is why a machine that is up takes no turns of ours; empty if it takes some, or only drains.
func (f *Fleet) unusable(s wire.Status) string {
	if !slices.Contains(s.Files, f.cfg.Files) {
		return "it has no files of the kind " + f.cfg.Files + " (RUNTIME_MACHINES_FILES)"
	}
	lacks := placement.Labels{}
	for key, value := range f.cfg.Labels {
		if s.Labels[key] != value {
			lacks[key] = value
		}
	}
	if s.Trouble == "" && len(lacks) > 0 {
		return "it is none with " + lacks.String() + " (RUNTIME_MACHINES_LABELS)"
	}
	return s.Trouble
}

func (f *Fleet) tellLocked() {
	f.standLocked()
	close(f.news)
	f.news = make(chan struct{})
}

// named is the machine of a name that is up; nil if none is.
func (f *Fleet) named(name string) *member {
	f.mu.Lock()
	defer f.mu.Unlock()
	if m := f.names[name]; m != nil && m.is(name) {
		return m
	}
	return nil
}

// Reset ends all that runs for us on all machines that are up, and returns when they say so, or ctx ends.
func (f *Fleet) Reset(ctx context.Context) {
	epoch := f.epochs.begin()
	f.mu.Lock()
	for _, m := range f.members {
		m.reset(epoch)
	}
	f.mu.Unlock()
	for {
		news, behind := f.behind()
		if !behind {
			return
		}
		select {
		case <-news:
		case <-ctx.Done():
			f.log.Warn("a machine has not said yet that nothing runs there any more", "err", context.Cause(ctx))
			return
		}
	}
}

// behind reports whether a machine is up that has not been heard since it was reset.
func (f *Fleet) behind() (news <-chan struct{}, is bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, m := range f.members {
		is = is || m.isBehind()
	}
	return f.news, is
}
