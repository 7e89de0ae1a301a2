// Package takeover gives the conversations of the channel the codex sessions of the
// bridge that people have run before, codex-channel-molecule, so that nobody has to
// begin anew. It does that once.
//
// [Run] must have returned before the first message is dispatched. It can be cut off
// anywhere: what it has not noted as done it does again, and a conversation that has a
// thread by then keeps it.
package takeover

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/regular"
)

// Config is what [Run] needs.
type Config struct {
	// Sessions is the old bridge's file: a JSON object of chats and their sessions.
	Sessions string
	// Marker is the file that says, from then on, that it has been done.
	Marker string
	// Conversation names that of a chat of the old bridge: "canvas:<workspace>" or
	// "peer:<workspace>". "" says that there is none here.
	Conversation func(chat string) string
	// Resumable reports whether codex has a session.
	Resumable func(session string) (bool, error)
	// Adopt gives sessions to conversations that have none, and returns how many it has
	// given. What it has returned nil for survives the end of the process.
	Adopt  func(ctx context.Context, sessions map[string]string) (int, error)
	Logger *slog.Logger
}

// A file of sessions has a hundred bytes for each chat.
const mostBytes = 16 << 20

// Run takes the sessions over, unless that has been done, or there are none. A file that
// cannot be read is warned about and left as it is; an error means that nothing is done
// for a reason that may pass.
func Run(ctx context.Context, cfg Config) error {
	if _, err := os.Lstat(cfg.Marker); err == nil {
		return nil
	}
	chats, err := read(cfg.Sessions)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		cfg.Logger.Warn("the sessions of codex-channel-molecule cannot be read; conversations begin anew. Repair or delete the file",
			"file", cfg.Sessions, "err", err)
		return nil
	}
	wanted, left, err := cfg.choose(chats)
	if err != nil {
		return fmt.Errorf("take over %s: %w", cfg.Sessions, err)
	}
	taken, err := cfg.Adopt(ctx, wanted)
	if err != nil {
		return fmt.Errorf("take over %s: %w", cfg.Sessions, err)
	}
	if err := mark(cfg.Marker, cfg.Sessions); err != nil {
		return fmt.Errorf("note that %s is taken over: %w", cfg.Sessions, err)
	}
	cfg.Logger.Info("sessions of codex-channel-molecule are taken over", "file", cfg.Sessions, "taken", taken, "left", left+len(wanted)-taken)
	return nil
}

// choose returns the sessions that can be taken over, by conversation, and how many cannot.
func (cfg Config) choose(chats map[string]string) (wanted map[string]string, left int, err error) {
	wanted = map[string]string{}
	for chat, session := range chats {
		conversation := cfg.Conversation(chat)
		if conversation == "" {
			left++
			continue
		}
		ok, err := cfg.Resumable(session)
		if err != nil {
			return nil, 0, err
		}
		if !ok {
			left++
			cfg.Logger.Warn("codex does not have a session of codex-channel-molecule; its conversation begins anew", "chat", chat)
			continue
		}
		wanted[conversation] = session
	}
	return wanted, left, nil
}

// read returns the session of each chat. What is no session is left out.
func read(name string) (map[string]string, error) {
	text, err := regular.Read(name, mostBytes+1)
	if err == nil && len(text) > mostBytes {
		err = fmt.Errorf("it has more than %d bytes", mostBytes)
	}
	var all map[string]any
	if err == nil {
		err = json.Unmarshal(text, &all)
	}
	if err == nil && all == nil {
		err = errors.New("it is no JSON object")
	}
	if err != nil {
		return nil, err
	}
	chats := make(map[string]string, len(all))
	for chat, value := range all {
		if session, ok := value.(string); ok && session != "" {
			chats[chat] = session
		}
	}
	return chats, nil
}

// mark writes the marker. That it is there is what counts, so a torn one is as good.
func mark(name, sessions string) error {
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(f, "taken over:", sessions)
	return errors.Join(err, f.Sync(), f.Close())
}
