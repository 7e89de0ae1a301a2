package child

import (
	"context"
	"errors"
	"sync"

	"github.com/Molecule-AI/molecule-codex-runtime/appserver"
)

// A Verdict is what was found of a codex by looking at it.
type Verdict struct {
	Version string // which one it is about; empty where it is about none
	Unfit   string // why it is not to be used, for the sender of a message; empty if it is
	Note    string // what is to be known of one that is used, for the log
}

// fit has the codex looked at meanwhile; what it returns waits for the verdict.
func (l Launch) fit(ctx context.Context) func() Verdict {
	if l.Fit == nil {
		return func() Verdict { return Verdict{} }
	}
	said := make(chan Verdict, 1)
	go func() { said <- l.Fit(ctx) }()
	return sync.OnceValue(func() Verdict { return <-said })
}

// startFit starts a codex that is looked at meanwhile, and ends it again if it is not to be used. The next one is
// looked at before it starts, for codex changes its home when it does.
func (s *Supervisor) startFit(launch Launch, cfg appserver.Config) (*appserver.Client, error) {
	verdict := launch.fit(s.quit)
	if s.wary && verdict().Unfit != "" {
		return nil, Unready(verdict().Unfit)
	}
	client, err := appserver.Start(s.quit, cfg)
	is := verdict() // one that is unfit may well not start either
	if err == nil && is.Version != "" && is.Version != client.Info().Version() {
		s.log.Warn("the codex that was looked at is not the one that has started: CODEX_BIN is a launcher that starts one or the other", "looked_at", is.Version, "version", client.Info().Version())
		is = Verdict{}
	}
	if s.wary = is.Unfit != ""; s.wary {
		if err == nil {
			err = client.Close()
		}
		return nil, errors.Join(Unready(is.Unfit), err)
	}
	if err == nil && is.Note != "" {
		s.log.Warn("this codex may do some things otherwise", "version", client.Info().Version(), "why", is.Note)
	}
	return client, err
}
