package doctor

import (
	"context"
	"fmt"
	"slices"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/settings"
	"github.com/Molecule-AI/molecule-codex-runtime/preflight"
	"github.com/Molecule-AI/molecule-codex-runtime/store"
)

// inboxCheck says whether runtime mcp would keep the inbox of its workspaces, which it can do without.
func inboxCheck(c Case) []preflight.Check {
	if !c.Settings.InWorkspace() && len(c.Settings.Spaces) == 0 {
		return nil
	}
	return []preflight.Check{{Name: "inbox", Run: func(context.Context) preflight.Result {
		s, err := settings.LoadInbox(c.Environ)
		if err != nil {
			problem := settings.Problems(err)[0]
			return preflight.Result{Status: preflight.Warn, Detail: "it is not kept by this: " + problem.What, Fix: problem.Hint}
		}
		if c.Settings.InContainer && c.Settings.InWorkspace() {
			return preflight.Result{Status: preflight.OK, Detail: "the runtime of this container has the messages"}
		}
		in, err := store.Inspect(s.StateDir)
		switch {
		case err != nil:
			return preflight.Result{Status: preflight.Warn, Detail: "it could not be kept: " + err.Error(), Fix: "set RUNTIME_STATE_DIR to a directory of this user's"}
		case in.Holder == nil:
			return preflight.Result{Status: preflight.OK, Detail: "this keeps it, in " + s.StateDir + ", unless the MCP host's entry has --inbox=beside"}
		}
		return heldInbox(s, in.Holder)
	}}}
}

// heldInbox is the result where another process has the state directory.
func heldInbox(s settings.Settings, by *store.LockedError) preflight.Result {
	detail := fmt.Sprintf("process %d on %s uses %s", by.PID, by.Host, s.StateDir)
	if by.What != "" {
		detail = fmt.Sprintf("process %d on %s, runtime %s, uses %s", by.PID, by.Host, by.What, s.StateDir)
	}
	shared := slices.ContainsFunc(s.WorkspaceIDs(), func(id string) bool { return slices.Contains(by.Holds, id) })
	if len(by.Holds) > 0 && !shared {
		return preflight.Result{
			Status: preflight.Warn, Detail: detail + " for other workspaces, so that this does not keep the inbox of its own",
			Fix: "set RUNTIME_STATE_DIR to a directory of this workspace's own, in the MCP host's entry",
		}
	}
	return preflight.Result{Status: preflight.OK, Detail: detail + "; this takes the inbox over when that ends"}
}
