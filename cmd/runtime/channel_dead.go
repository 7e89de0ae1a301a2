package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/channel"
	"github.com/Molecule-AI/molecule-codex-runtime/channel/control"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/brief"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/settings"
	"github.com/Molecule-AI/molecule-codex-runtime/store"
)

type channelDead struct {
	List  deadList  `cmd:"" default:"withargs" hidden:"" help:"List them, the oldest first."`
	Retry deadRetry `cmd:"" help:"Have one sent again. Codex is not asked again."`
}

type deadList struct {
	JSON bool `name:"json" help:"Print JSON, for programs."`
}

type deadRetry struct {
	ID string `arg:"" help:"Of the reply, or of the message that it answers."`
}

// deadLetters lists what was refused for good.
func (p *program) deadLetters(ctx context.Context, asJSON bool) int {
	dir, ok := p.channelState()
	if !ok {
		return exitUsage
	}
	letters, err := readLetters(ctx, dir)
	if err != nil {
		return p.noLetters(err)
	}
	if asJSON {
		p.unsaid = json.NewEncoder(p.json()).Encode(letters)
		return exitOK
	}
	if len(letters) == 0 {
		p.print("There are no dead letters.\n")
	}
	for _, l := range letters {
		p.print(brief.Plain(fmt.Sprintf("%s  %s  %s\n  refused: %s\n  says:    %s\n", l.ID, l.At.Local().Format(time.DateTime), l.Chat,
			brief.Line(l.Why, 200), brief.Line(l.Text, 200))))
	}
	return exitOK
}

// retryLetter has one sent again: by the channel that runs, or else by the next.
func (p *program) retryLetter(ctx context.Context, id string) int {
	dir, ok := p.channelState()
	if !ok {
		return exitUsage
	}
	status, body, err := control.Ask(ctx, dir, http.MethodPost, "/dead/retry?id="+url.QueryEscape(id))
	switch {
	case errors.Is(err, control.ErrNoChannel):
		err = withStore(ctx, dir, func(st *store.Store) error { return st.RetryReply(ctx, id) })
		if err == nil {
			p.print("It will be sent when the channel runs again.\n")
		}
	case err == nil && status == http.StatusNotFound:
		err = store.ErrUnknown
	case err == nil && status != http.StatusOK:
		err = fmt.Errorf("the channel answers: %s", body)
	case err == nil:
		p.print("It is being sent again.\n")
	}
	if errors.Is(err, store.ErrUnknown) {
		p.complain("there is no dead letter "+id, "runtime channel dead lists them")
		return exitFailed
	}
	if err != nil {
		return p.noLetters(err)
	}
	return exitOK
}

// noLetters says why there are no letters to be had.
func (p *program) noLetters(err error) int {
	if errors.Is(err, errNeverRun) {
		p.complain(err.Error(), "set CODEX_CHANNEL_MOLECULE_STATE_DIR, or RUNTIME_STATE_DIR, as runtime channel has it")
		return exitFailed
	}
	return p.fail(err)
}

// errNeverRun says that a state directory is empty.
var errNeverRun = errors.New("no channel has run with this state directory")

// channelState is the state directory of the channel, whatever its other settings are.
func (p *program) channelState() (string, bool) {
	dir, err := settings.LoadChannelState(p.environ)
	return dir, p.usable(err)
}

func readLetters(ctx context.Context, dir string) (letters []channel.DeadLetter, err error) {
	status, body, err := control.Ask(ctx, dir, http.MethodGet, "/dead")
	switch {
	case err == nil && status != http.StatusOK:
		return nil, fmt.Errorf("the channel answers: %s", body)
	case err == nil:
		return letters, json.Unmarshal(body, &letters)
	}
	if !errors.Is(err, control.ErrNoChannel) {
		return nil, err
	}
	err = withStore(ctx, dir, func(st *store.Store) (err error) {
		letters, err = channel.Letters(ctx, st)
		return err
	})
	return letters, err
}

// withStore uses the state of a channel that does not run. There is nothing in it where
// none has ever run.
func withStore(ctx context.Context, dir string, use func(*store.Store) error) error {
	seen, err := store.Inspect(dir)
	if err != nil {
		return err
	}
	if seen.Bytes == 0 {
		return fmt.Errorf("%s: %w", dir, errNeverRun)
	}
	st, err := store.Open(ctx, store.Config{Dir: dir})
	if err != nil {
		return err
	}
	return errors.Join(use(st), st.Close())
}
