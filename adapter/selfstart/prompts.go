package selfstart

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"time"

	"github.com/cenkalti/backoff/v5"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/sleep"
)

// Marker is the file that says that the initial prompt was sent.
const Marker = ".initial_prompt_done"

const (
	firstIdle  = time.Minute // at most, before the first idle prompt
	mostTries  = 5
	firstRetry = time.Second
)

// initial sends the initial prompt, if it was never sent. The marker is written first:
// a prompt that kills the runtime must not be sent at each of its starts.
func initial(ctx context.Context, cfg *Config) {
	marker, err := mark(cfg.MarkerDirs)
	switch {
	case err != nil:
		cfg.Logger.Error("the initial prompt is not sent: it could not be noted that it was, and would be sent at each start", "err", err)
		return
	case marker != "":
		cfg.Logger.Info("the initial prompt is not sent: its marker says that it was", "marker", marker)
		return
	}
	m := Message{ID: newID("initial"), Kind: KindInitial, Text: cfg.InitialPrompt}
	if err := send(ctx, cfg, m); err != nil {
		cfg.Logger.Error("the initial prompt was not sent; remove the marker to have it sent at the next start", "marker", Marker, "err", err)
		return
	}
	cfg.Logger.Info("the initial prompt was sent", "message_id", m.ID)
}

// mark notes that the initial prompt is sent, and returns the marker that said so before, in
// any of the folders; empty if there is none.
func mark(dirs []string) (marker string, err error) {
	for _, dir := range dirs {
		if _, err := os.Lstat(filepath.Join(dir, Marker)); err == nil {
			return filepath.Join(dir, Marker), nil
		}
	}
	err = errors.New("there is no folder for the marker")
	for _, dir := range dirs {
		path := filepath.Join(dir, Marker)
		switch err = create(path); {
		case err == nil:
			return "", nil
		case errors.Is(err, os.ErrExist):
			return path, nil
		}
	}
	return "", err
}

// create makes an empty file that is not there, on the disk too. One that it has failed
// to make is not left behind: it would say at the next start that the prompt was sent.
func create(path string) error {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	if err = errors.Join(f.Sync(), f.Close()); err != nil {
		_ = os.Remove(path)
	}
	return err
}

// send has a message taken, trying again for a while.
func send(ctx context.Context, cfg *Config, m Message) error {
	waits := &backoff.ExponentialBackOff{InitialInterval: firstRetry, Multiplier: 2, MaxInterval: time.Minute}
	_, err := backoff.Retry(ctx, func() (struct{}, error) { return struct{}{}, cfg.Send(ctx, m) },
		backoff.WithBackOff(waits), backoff.WithMaxTries(mostTries), backoff.WithMaxElapsedTime(0)) // what a try takes does not count
	return err
}

// idle sends the idle prompt from time to time while nothing is to be done.
func idle(ctx context.Context, cfg *Config) {
	for pause := min(cfg.IdleInterval, firstIdle); sleep.For(ctx, pause); pause = cfg.IdleInterval {
		if cfg.Rest() || cfg.Work.Active() > 0 {
			continue
		}
		m := Message{ID: newID("idle"), Kind: KindIdle, Text: cfg.IdlePrompt}
		if err := cfg.Send(ctx, m); err != nil && ctx.Err() == nil {
			cfg.Logger.Warn("the idle prompt was not sent; it is sent again later", "err", err)
		}
	}
}
