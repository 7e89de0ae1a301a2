package doctor

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/Molecule-AI/molecule-codex-runtime/preflight"
	"github.com/Molecule-AI/molecule-codex-runtime/store"
)

// stateCheck looks into the state directory, and leaves it as it is.
func stateCheck(dir string) preflight.Check {
	return preflight.Check{Name: "state", Run: func(context.Context) preflight.Result {
		in, err := store.Inspect(dir)
		if room := store.RoomIn(dir); err == nil && !errors.Is(room, os.ErrNotExist) { // it is made at the start
			err = room
		}
		switch {
		case err != nil:
			return preflight.Result{Status: preflight.Fail, Detail: err.Error()}
		case in.Holder != nil:
			return preflight.Result{Status: preflight.OK, Detail: fmt.Sprintf("%s is in use by process %d on %s", dir, in.Holder.PID, in.Holder.Host)}
		case in.Bytes == 0:
			return preflight.Result{Status: preflight.OK, Detail: dir + " has nothing in it yet"}
		case in.Schema < in.Ours:
			return preflight.Result{Status: preflight.OK, Detail: fmt.Sprintf(
				"%s, %d KiB; the next start copies it and brings it from version %d to %d", in.Path, in.Bytes>>10, in.Schema, in.Ours)}
		}
		return preflight.Result{Status: preflight.OK, Detail: fmt.Sprintf("%s, %d KiB", in.Path, in.Bytes>>10)}
	}}
}
