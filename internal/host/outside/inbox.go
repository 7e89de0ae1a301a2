package outside

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/channel"
	"github.com/Molecule-AI/molecule-codex-runtime/channel/desk"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/brief"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/sleep"
	"github.com/Molecule-AI/molecule-codex-runtime/toolset"
)

// Keeps implements [toolset.Inbox].
func (a *Agent) Keeps() bool { return !a.aside.Load() }

// Wait implements [toolset.Inbox].
func (a *Agent) Wait(ctx context.Context, limit time.Duration) (string, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(a.gone, cancel)()
	d, why := a.current(ctx)
	if d == nil {
		return a.notHere(why), nil
	}
	seen, err := d.Wait(ctx, limit)
	switch {
	case err == nil:
		return a.show(seen, 0)
	case errors.Is(err, desk.ErrNone):
		none := map[string]any{"timeout": true, "timeout_secs": limit.Seconds(), "note": "No message has come. Call wait_for_message again to go on waiting."}
		if trouble := a.trouble(); trouble != "" {
			none["warning"] = trouble
		}
		return brief.Pretty(none)
	case errors.Is(err, desk.ErrClosed):
		_, why := a.current(ctx)
		return a.notHere(why), nil
	}
	return "", err
}

// Peek implements [toolset.Inbox].
func (a *Agent) Peek(ctx context.Context, p toolset.Peek) (string, error) {
	d, why := a.current(ctx)
	if d == nil {
		return a.notHere(why), nil
	}
	if p.ID != "" {
		seen, err := d.Look(ctx, desk.Name{Workspace: p.Workspace, ID: p.ID})
		if errors.Is(err, desk.ErrNotThere) {
			return "", fmt.Errorf("no message %s waits in the inbox", p.ID)
		}
		if err != nil {
			return "", named(err)
		}
		return a.show(seen, p.From)
	}
	all, _ := d.Peek(p.Offset, p.Limit, func(m channel.Message) bool { return p.Kind == "" || kindOf(m) == p.Kind })
	for {
		text, err := fitting(mostText/max(len(all), 1), func(most int) (string, error) {
			letters := make([]letter, 0, len(all))
			for _, seen := range all {
				letters = append(letters, a.letter(seen, most, 0))
			}
			return brief.Pretty(letters)
		})
		if err != nil || len(text) <= mostBytes || len(all) <= 1 {
			return text, err
		}
		all = all[:len(all)/2]
	}
}

// Pop implements [toolset.Inbox].
func (a *Agent) Pop(ctx context.Context, workspace, id string) (string, error) {
	out := map[string]any{"removed": false, "activity_id": id}
	d, why := a.current(ctx)
	if d == nil {
		out["note"] = a.notHere(why)
		return brief.Pretty(out)
	}
	ctx, cancel := context.WithTimeout(ctx, keptWithin)
	defer cancel()
	_, fate, err := d.Pop(ctx, desk.Name{Workspace: workspace, ID: id})
	switch {
	case err == nil:
		out["removed"] = true
	case errors.Is(err, desk.ErrNotThere):
		out["note"] = words(fate)
	default:
		return "", a.unkept(fate, err)
	}
	return brief.Pretty(out)
}

const (
	// keptWithin is how long it is waited for that the store has what becomes of a message.
	keptWithin = 30 * time.Second
	// sentWithin is how long it is waited for that an answer arrives, to say so.
	sentWithin = 3 * time.Second
	lookEvery  = 50 * time.Millisecond
)

// Reply implements [toolset.Inbox].
func (a *Agent) Reply(ctx context.Context, workspace, id, text string, paths []string) (string, error) {
	out := map[string]any{"replied": false, "activity_id": id}
	d, why := a.current(ctx)
	if d == nil {
		out["note"] = a.notHere(why)
		return brief.Pretty(out)
	}
	ctx, cancel := context.WithTimeout(ctx, keptWithin)
	defer cancel()
	m, fate, err := d.Reply(ctx, desk.Name{Workspace: workspace, ID: id}, text, a.attached(paths)...)
	switch {
	case errors.Is(err, desk.ErrNotThere):
		out["note"] = words(fate)
		return brief.Pretty(out)
	case err != nil:
		return "", a.unkept(fate, err)
	case m.Mute != "":
		out["note"] = "The message was taken off the inbox, and no answer is sent to it: " + m.Mute + "."
		return brief.Pretty(out)
	}
	out["replied"], out["sent"] = true, true
	if fate := a.arrives(ctx, d, desk.Name{Workspace: m.Workspace, ID: m.ID}); fate != desk.Answered {
		out["sent"], out["note"] = false, words(fate)
	}
	return brief.Pretty(out)
}

// arrives waits a while for a reply to arrive, and says what has become of it.
func (a *Agent) arrives(ctx context.Context, d *desk.Desk, of desk.Name) desk.Fate {
	for end := time.Now().Add(sentWithin); ; {
		fate, err := d.Fate(ctx, of)
		if err != nil || fate != desk.Kept || time.Now().After(end) || !sleep.For(ctx, lookEvery) {
			return fate
		}
	}
}

// attached are the files of a reply, which were looked at.
func (a *Agent) attached(paths []string) []channel.File {
	all := make([]channel.File, 0, len(paths))
	for _, path := range paths {
		if !filepath.IsAbs(path) {
			path = filepath.Join(a.options.Settings.WorkDir, path)
		}
		all = append(all, channel.File{URI: path, Name: filepath.Base(path)})
	}
	return all
}

// Telling implements [toolset.Inbox].
func (a *Agent) Telling(ctx context.Context, workspace, peer, text string) (func(error), error) {
	a.mu.Lock()
	k := a.keeper
	a.mu.Unlock()
	if k == nil {
		return func(error) {}, nil
	}
	return k.desk.Telling(ctx, workspace, peer, text)
}

// unkept is said where it is not known that what the model wants is in the store.
func (a *Agent) unkept(fate desk.Fate, err error) error {
	if errors.Is(err, desk.ErrClosed) {
		return errors.New("this process gives the inbox up now, and it is not known whether that was kept: the process that keeps the inbox next shows the message again if it was not")
	}
	if fate == desk.Leaving {
		return fmt.Errorf("it is not kept yet, which is tried again as long as this process lives: look with inbox_peek before you call again (%w)", err)
	}
	return named(err)
}

// named says of an id that several messages have what to do.
func named(err error) error {
	if errors.Is(err, desk.ErrSeveral) {
		return errors.New("messages of several workspaces have this activity_id: call again with the arrival_workspace_id of the one that you mean")
	}
	return err
}

// words say what has become of a message.
func words(fate desk.Fate) string {
	switch fate {
	case desk.Waiting:
		return "The message is on its way into the inbox: call again in a moment."
	case desk.Leaving:
		return "What is to become of this message was said already, and is being written to the disk."
	case desk.Kept:
		return "The answer to this message is kept on this machine and being sent; that goes on by itself, also after a restart. Do not answer again."
	case desk.Answered:
		return "This message is answered, and its sender has the answer. Do not answer again."
	case desk.Refused:
		return "This message is answered, but the platform has refused the answer for good. It is kept: runtime channel dead lists it."
	case desk.Closed:
		return "This message was taken off the inbox before, without an answer of reply_to_message."
	case desk.Gone:
		return "The platform has deleted the workspace of this message: it cannot be answered."
	}
	return "There is no message with this activity_id."
}
