package executor

import (
	"context"
	"fmt"
	"log/slog"
	"slices"

	"github.com/Molecule-AI/molecule-codex-runtime/agent"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/insist"
)

// mostVanished is how many attempts at a job may come to nothing, over all processes. What
// ends the agent before the model is asked may be what the message holds: codex unfolds pictures,
// and a kernel that is short of memory kills it for that. A text has never done so; then
// others have ended the agent, which is borne as often as [killedTries].
func (j *job) mostVanished() int {
	if slices.ContainsFunc(j.input(), func(in agent.Input) bool { return in.Type != agent.InputText }) {
		return startTries
	}
	return killedTries
}

// vanished counts an attempt that is in no history. It returns the job's end if that has
// happened too often, or nil if another attempt is to be made. The journal counts, for the
// runtime may be killed together with the agent, each time.
func (e *Executor) vanished(j *job, t Turn, log *slog.Logger) *agent.Ended {
	n := 0
	err := insist.Until(j.ctx, e.log, "note an attempt that came to nothing", func(ctx context.Context) (err error) {
		n, err = e.cfg.Journal.Vanished(ctx, j.attempt)
		return err
	}, j.journalFull)
	if err != nil {
		return e.cutShort(j, t)
	}
	if n < j.mostVanished() {
		log.Info("a message whose attempt was cut off never reached the model", "times", n)
		return nil
	}
	log.Warn("a message is not given to codex again, which has ended over it each time", "times", n)
	end := interrupted(soFar(t), false, "")
	end.Failure = &agent.Failure{Kind: agent.FailUnreachable, Message: fmt.Sprintf("codex, or all of the runtime, has ended %d times "+
		"before the model had this message, which may be the reason: it takes more memory than there is, as large pictures do. "+
		"It is not tried again by itself. Leave out what is large; the message runs again if it is sent again with metadata.retry=true", n)}
	return end
}
