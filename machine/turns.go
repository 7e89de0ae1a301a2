package machine

import (
	"context"
	"net/http"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/commands"
	"github.com/Molecule-AI/molecule-codex-runtime/machine/tenancy"
	"github.com/Molecule-AI/molecule-codex-runtime/machine/wire"
)

func (f *front) beginTurn(w http.ResponseWriter, r *http.Request, stay *tenancy.Stay) error {
	var turn wire.Turn
	if err := read(w, r, &turn); err != nil {
		return err
	}
	if err := stay.Begin(r.PathValue("turn")); err != nil {
		return err
	}
	f.metrics.turnsBegun.Inc()
	w.WriteHeader(http.StatusNoContent)
	return nil
}

func (f *front) endTurn(w http.ResponseWriter, r *http.Request, stay *tenancy.Stay) error {
	stay.End(r.PathValue("turn"))
	w.WriteHeader(http.StatusNoContent)
	return nil
}

// lookTime bounds a look at the processes of the machine, endTime the wait for the end of some.
const (
	lookTime = 5 * time.Second
	endTime  = 10 * time.Second
)

func (f *front) commands(w http.ResponseWriter, r *http.Request, stay *tenancy.Stay) error {
	ctx, cancel := context.WithTimeout(r.Context(), lookTime)
	defer cancel()
	answer(w, http.StatusOK, said(f.servers.Commands(ctx, stay.Runtime())))
	return nil
}

func (f *front) endCommands(w http.ResponseWriter, r *http.Request, stay *tenancy.Stay) error {
	var which wire.Commands
	if err := read(w, r, &which); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(r.Context(), endTime)
	defer cancel()
	wanted := make([]commands.Command, 0, len(which.Commands))
	for _, c := range which.Commands {
		wanted = append(wanted, commands.Command{Pid: c.Pid, ThreadID: c.ThreadID, SessionID: c.SessionID, CallID: c.CallID})
	}
	left, err := f.servers.EndCommands(ctx, stay.Runtime(), wanted)
	if err != nil {
		f.log.Warn("commands could not be ended", "runtime_id", stay.Runtime(), "err", err)
	}
	answer(w, http.StatusOK, said(left))
	return nil
}

// said puts commands into the words of the wire.
func said(found []commands.Command) wire.Commands {
	all := wire.Commands{Commands: make([]wire.Command, 0, len(found))}
	for _, c := range found {
		all.Commands = append(all.Commands, wire.Command{Pid: c.Pid, ThreadID: c.ThreadID, SessionID: c.SessionID, CallID: c.CallID})
	}
	return all
}
