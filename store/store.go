package store

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"
)

// Config says where a store is and what it keeps.
type Config struct {
	Dir       string   // of state.db and its lock; made if it is missing
	Also      []string // folders with what belongs to the work that is accepted: it needs room there, too
	What      string   // the command that opens it, for the words that another process gets; may be empty
	Holds     []string // the workspaces whose state it is, for the words that another process gets; may be empty
	Retention Retention
	Reserve   int64 // bytes of disk left to what runs when no more is accepted; 0 means 16 MiB, negative none
	Logger    *slog.Logger

	Timed func(commit time.Duration) // told how long each commit took, before its callers hear of it; nil is not told

	Now       func() time.Time                              // nil means time.Now
	Space     func(dir string) (free, all int64, err error) // for tests: of the disk, in bytes; nil asks the system
	MaxPages  int                                           // for tests: a database that is full at so many pages of 4 KiB
	Committed func(n int)                                   // for tests: called after the n-th commit, before its callers hear of it
}

// A Store is an open database. Create it with [Open] and end it with
// [Store.Close]. Its methods may be called concurrently.
//
// An operation whose context ends before it has begun does not happen. One that
// has begun is waited for, so that an error always means that it did not happen.
// When it is on the disk is another matter: see [Store.Sync].
type Store struct {
	dir       string
	path      string
	retention Retention
	disk      disk
	also      []string
	logger    *slog.Logger
	now       func() time.Time
	aged      func() time.Time // see Aged
	ageing    *ageing          // nil where the clock is a test's
	committed func(n int)
	timed     func(time.Duration)

	lock    *lock
	marks   []mark
	log     atomic.Pointer[mark] // of the database, once it was seen
	ballast *ballast
	syncer  *syncer
	queue   queue
	stopped chan struct{} // closed when the writer has ended
	closing sync.Once

	cataloged atomic.Bool // all of the catalog has been read

	turn sync.Mutex // whoever holds it uses the connection
	// Guarded by turn, until stopped is closed.
	conn    *conn
	commits int
	upkeep  upkeep
	ended   error // of closing the connection
}

// Open opens the database in cfg.Dir, or makes a new one if there is none. The
// directory then is this store's alone: until [Store.Close], or the end of the
// process, anybody else gets a [*LockedError].
func Open(ctx context.Context, cfg Config) (*Store, error) {
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("open the store: %w", err)
	}
	dir, err := filepath.Abs(cfg.Dir)
	if err != nil {
		return nil, fmt.Errorf("open the store: %w", err)
	}
	s := &Store{
		dir:       dir,
		path:      filepath.Join(dir, "state.db"),
		retention: cfg.Retention.orDefault(),
		disk:      disk{dir: dir, reserve: cmp.Or(cfg.Reserve, reserved), space: space},
		also:      cfg.Also,
		logger:    cmp.Or(cfg.Logger, slog.New(slog.DiscardHandler)),
		now:       cfg.Now,
		committed: cfg.Committed,
		timed:     cfg.Timed,
		queue:     newQueue(),
		stopped:   make(chan struct{}),
	}
	if s.now == nil {
		s.now = time.Now
	} else {
		s.aged = s.now
	}
	if cfg.Space != nil {
		s.disk.space = cfg.Space
	}
	if err := s.open(ctx, cfg.MaxPages, holder{What: cfg.What, Holds: cfg.Holds}); err != nil {
		return nil, fmt.Errorf("open the store: %w", err)
	}
	s.syncer = newSyncer(s.path+"-wal", s.logger)
	go s.syncer.run()
	go s.write()
	return s, nil
}

// Close ends the store: it finishes the operations that were asked for, moves
// the log into the database and gives the directory free. Closing twice is fine.
func (s *Store) Close() error {
	s.closing.Do(func() {
		s.queue.close()
		<-s.stopped
		s.syncer.close()
		s.lock.release()
	})
	return s.ended
}

// Path returns the path of the database.
func (s *Store) Path() string { return s.path }

// open takes the directory and connects to the database. It leaves nothing
// behind when it fails.
func (s *Store) open(ctx context.Context, maxPages int, who holder) (err error) {
	if err := makeDir(s.dir); err != nil {
		return err
	}
	if s.lock, err = acquire(ctx, s.dir, s.now(), who); err != nil {
		return err
	}
	defer func() {
		if err != nil {
			s.lock.release()
		}
	}()
	if err := private(s.dir, s.logger); err != nil {
		return err
	}
	if kind := networkFileSystem(s.dir); kind != "" {
		s.logger.Warn("state directory is on a file system that may lose or mix up writes; use a local disk",
			"dir", s.dir, "file_system", kind)
	}
	all, err := migrations(embedded)
	if err != nil {
		return err
	}
	if err := removeParts(s.path); err != nil {
		return err
	}
	u := upgrade{path: s.path, all: all, now: s.now(), disk: s.disk, logger: s.logger}
	if err := ensure(u); err != nil {
		return err
	}
	if s.conn, err = connect(u, maxPages); err != nil {
		return err
	}
	if s.marks, err = marks(s.dir, s.path); err == nil {
		s.ballast, err = newBallast(s.path)
	}
	if err == nil && s.aged == nil {
		var noted age
		noted, err = s.conn.age()
		s.ageing = newAgeing(time.Now(), noted)
		s.aged = s.ageing.now
	}
	if err != nil {
		_ = s.conn.close()
		return err
	}
	s.holdRoom()
	return nil
}

func makeDir(dir string) error {
	err := os.MkdirAll(dir, 0o700)
	if err == nil {
		return nil
	}
	if info, e := os.Stat(dir); e == nil && !info.IsDir() {
		return fmt.Errorf("%s is not a directory: remove it, or choose another state directory", dir)
	}
	return fileError(dir, err)
}
