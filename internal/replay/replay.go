package replay

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/wirelog"
)

// A Config says how to play. Relay must be set.
type Config struct {
	Relay    string        // a program that is [Relay] when it is called with "app-server"
	RelayEnv []string      // what that needs beside the socket's name
	Wait     time.Duration // for the program to do what the record has next; 0 is 12 s
	Settle   time.Duration // for the program to do at the end what the record has not; 0 is 150 ms
	Logger   *slog.Logger  // of the program that is played to; nil discards
}

func (cfg Config) withDefaults() Config {
	if cfg.Wait <= 0 {
		cfg.Wait = 12 * time.Second
	}
	if cfg.Settle <= 0 {
		cfg.Settle = 150 * time.Millisecond
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	return cfg
}

// errHeadless says that a record has grown over two files.
var errHeadless = errors.New("the beginning of this record is gone, and there is nothing to play without it: it stood in FILE.1, or the record has grown past two files")

// File plays the record in a file, with what stands before it in FILE.1.
func File(ctx context.Context, path string, cfg Config) (*Report, error) {
	report, err := playFile(ctx, path, cfg)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	report.File = path
	return report, nil
}

func playFile(ctx context.Context, path string, cfg Config) (*Report, error) {
	f, err := open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close() // it was only read
	rec, err := load(f)
	if err != nil {
		return nil, err
	}
	if rec.runs[0].Continues {
		before, err := open(path + wirelog.OldSuffix)
		if err == nil {
			defer before.Close()
			if rec, err = loadBoth(before, f); err != nil {
				return nil, err
			}
		}
	}
	return play(ctx, rec, cfg)
}

// open opens what is to be read: no pipe, which would wait for a writer.
func open(path string) (*os.File, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, errors.Unwrap(err)
	}
	if !info.Mode().IsRegular() {
		return nil, errors.New("it is no regular file")
	}
	return os.Open(path)
}

// loadBoth loads a record that was rotated. The lines of the second file are counted
// on from those of the first.
func loadBoth(first, second *os.File) (*record, error) {
	if _, err := second.Seek(0, io.SeekStart); err != nil {
		return nil, err
	}
	rec, err := load(io.MultiReader(first, second))
	if err != nil {
		return nil, fmt.Errorf("with %s before it: %w", first.Name(), err)
	}
	return rec, nil
}

// Play plays a record.
func Play(ctx context.Context, from io.Reader, cfg Config) (*Report, error) {
	rec, err := load(from)
	if err != nil {
		return nil, err
	}
	return play(ctx, rec, cfg)
}

func play(ctx context.Context, rec *record, cfg Config) (*Report, error) {
	cfg = cfg.withDefaults()
	report := &Report{Cut: rec.cut, OK: rec.cut == 0}
	for len(rec.runs) > 0 && rec.runs[0].Continues {
		rec.runs = rec.runs[1:]
		report.Headless = true
	}
	if len(rec.runs) == 0 {
		return nil, errHeadless
	}
	for _, r := range rec.runs {
		played, err := playRun(ctx, r, cfg)
		if err != nil {
			return nil, err
		}
		report.Runs = append(report.Runs, played)
		report.OK = report.OK && played.OK
	}
	return report, nil
}

func playRun(ctx context.Context, r *run, cfg Config) (_ *Run, err error) {
	in := newInbox()
	s, err := build(ctx, cfg, r, in)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, s.close()) }()
	p := newPlayer(s, r, in, cfg)
	if r.starts() {
		s.executor.Warm()
	}
	p.play()
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	return p.report()
}

// lost counts the entries that a run's record lacks.
func (r *run) lost() (entries int) {
	for _, e := range r.entries {
		if e.Event == wirelog.EventLost {
			if l, err := decode[wirelog.Lost](e); err == nil {
				entries += l.Entries
			}
		}
	}
	return entries
}
