package doctor

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/Molecule-AI/molecule-codex-runtime/fleet/client"
	"github.com/Molecule-AI/molecule-codex-runtime/fleet/placement"
	"github.com/Molecule-AI/molecule-codex-runtime/fleet/roster"
	"github.com/Molecule-AI/molecule-codex-runtime/fleet/tryout"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/launch"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/machines"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/settings"
	"github.com/Molecule-AI/molecule-codex-runtime/machine/wire"
	"github.com/Molecule-AI/molecule-codex-runtime/preflight"
)

const (
	listTime  = 5 * time.Second  // for the list of machines to be read
	trialTime = 25 * time.Second // for a machine: one that starts codex anew may take most of it
	mostTried = 50               // machines, some at a time
	atATime   = 8
)

// machineChecks try each machine that commands run on, and say whether one of them takes turns. They are made of a list that
// is read now.
func machineChecks(ctx context.Context, c Case) []preflight.Check {
	s := c.Settings
	if s.Machines == "" {
		return nil
	}
	entries, trouble, err := listed(ctx, s)
	if err != nil {
		return []preflight.Check{{Name: "machines", Run: func(context.Context) preflight.Result {
			return preflight.Result{Status: preflight.Fail, Detail: err.Error(), Fix: "correct that setting; runtime machine prints on each machine what joins it"}
		}}}
	}
	t := &machinesTrial{s: s, tried: entries[:min(len(entries), mostTried)], environ: c.Environ}
	results := sync.OnceValue(func() []machineResult { return t.run(ctx) })
	all := []preflight.Check{{Name: "machines", Run: func(context.Context) preflight.Result {
		return overall(results(), len(entries), trouble)
	}}}
	for i, e := range t.tried {
		all = append(all, preflight.Check{Name: "machine " + e.Name, Run: func(context.Context) preflight.Result { return results()[i].Result }})
	}
	return all
}

// listed is the list of machines as it is now, and what is wrong with it, if it can be used all the same.
func listed(ctx context.Context, s settings.Settings) (entries []roster.Entry, trouble, err error) {
	source, err := machines.Source(s)
	if err != nil {
		return nil, nil, err
	}
	if _, err := machines.Labels(s); err != nil {
		return nil, nil, err
	}
	if _, err := machines.Clients(s, ""); err != nil {
		return nil, nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, listTime)
	defer cancel()
	trouble = errors.New("it was not read in time")
	source.Run(ctx, func(all []roster.Entry, t error) {
		if entries, trouble = all, t; len(all) > 0 || t != nil {
			cancel()
		}
	})
	return entries, trouble, nil
}

// overall says whether one machine takes turns: that one does not is no reason why a turn would not run.
func overall(results []machineResult, listed int, trouble error) preflight.Result {
	take := 0
	for _, r := range results {
		if r.takes {
			take++
		}
	}
	detail := fmt.Sprintf("%d of %d take turns", take, listed)
	if listed > len(results) {
		detail = fmt.Sprintf("%d of %d that were tried take turns, of %d", take, len(results), listed)
	}
	if trouble != nil {
		detail += "; the list cannot be read as a whole: " + trouble.Error()
	}
	switch {
	case take == 0:
		return preflight.Result{Status: preflight.Fail, Detail: detail, Fix: "see the check of each; commands do not run on the runtime's own machine while RUNTIME_MACHINES is set"}
	case trouble != nil:
		return preflight.Result{Status: preflight.Warn, Detail: detail, Fix: "correct what RUNTIME_MACHINES names"}
	}
	return preflight.Result{Status: preflight.OK, Detail: detail}
}

// A machinesTrial tries machines.
type machinesTrial struct {
	s       settings.Settings
	tried   []roster.Entry
	environ []string
}

// A machineResult is what came out of one.
type machineResult struct {
	preflight.Result
	takes bool // turns
}

func (t *machinesTrial) run(ctx context.Context) []machineResult {
	codex, _ := launch.Program(t.s, t.environ).Version(ctx)
	results := make([]machineResult, len(t.tried))
	var group errgroup.Group
	group.SetLimit(atATime)
	for i, e := range t.tried {
		group.Go(func() error {
			results[i] = t.try(ctx, e, codex)
			return nil
		})
	}
	_ = group.Wait() // none returns an error
	return results
}

func (t *machinesTrial) try(ctx context.Context, e roster.Entry, codex string) machineResult {
	ctx, cancel := context.WithTimeout(ctx, trialTime)
	defer cancel()
	now := time.Now().UnixNano()
	connect, err := machines.Clients(t.s, tryout.NewRuntime())
	if err != nil {
		return machineResult{Result: preflight.Result{Status: preflight.Warn, Detail: err.Error(), Fix: "correct the settings of machines"}}
	}
	m := connect(e, func() int64 { return now })
	defer m.Close()
	labels, _ := machines.Labels(t.s)
	found, err := tryout.Try(ctx, m, tryout.Want{Files: t.s.MachinesFiles, Dir: t.s.WorkDir, Sandbox: t.s.Sandbox})
	return judged(found, err, wanted{files: t.s.MachinesFiles, labels: labels, sandbox: t.s.Sandbox, codex: codex})
}

// wanted is what machines are held to.
type wanted struct {
	files   string
	labels  placement.Labels
	sandbox string
	codex   string // our version; empty where it is not known
}

// judged says what a trial comes to. What keeps one machine from taking turns is a warning: see [overall].
func judged(found tryout.Found, err error, want wanted) machineResult {
	s := found.Status
	warn := func(takes bool, detail, fix string) machineResult {
		if s.Name != "" {
			detail = s.Name + " " + detail
		}
		return machineResult{preflight.Result{Status: preflight.Warn, Detail: detail, Fix: fix}, takes}
	}
	failed, _ := errors.AsType[*tryout.Error](err)
	another := want.codex != "" && s.Codex != "" && s.Codex != want.codex
	switch {
	case failed != nil && failed.At == tryout.Reach:
		detail, fix := unreached(err)
		return warn(false, detail, fix)
	case s.Trouble != "":
		return warn(false, "takes no turns: "+s.Trouble, "do what it says, on the machine")
	case !slices.Contains(s.Files, want.files):
		return warn(false, "has no files of the kind "+want.files+", but "+strings.Join(s.Files, ", "), "set RUNTIME_MACHINES_FILES to a kind that all machines have")
	case !carries(s.Labels, want.labels):
		return warn(false, "does not have the labels "+want.labels.String()+" (RUNTIME_MACHINES_LABELS)", "set RUNTIME_MACHINE_LABELS there, or ask for others here")
	case failed != nil && failed.At == tryout.Place:
		return warn(false, "has no place for conversations: "+err.Error(), "have it see RUNTIME_WORKDIR under the same name, below its RUNTIME_MACHINE_ROOT, or set RUNTIME_MACHINES_FILES=git")
	case tryout.NotUnderstood(err): // which says nothing of how another codex would ask it
		return warn(true, fmt.Sprintf("has codex %s, which is not asked for commands as this runtime knows it, so that none was tried: %v", s.Codex, err), "install the codex that this runtime was tried with")
	case err != nil:
		return warn(false, "ran no command: "+err.Error(), "look into the log of runtime machine there")
	}
	return ranWell(found, want, another, warn)
}

// ranWell says what came out of the command of a trial.
func ranWell(found tryout.Found, want wanted, another bool, warn func(takes bool, detail, fix string) machineResult) machineResult {
	s, ran := found.Status, found.Ran
	boxed := ran.Sandbox != "" && ran.Sandbox != "none"
	switch {
	case ran.Exit != 0 || ran.Output != tryout.Said:
		return warn(false, fmt.Sprintf("ran a command in %s that has failed: exit code %d, and it said %q", found.Dir, ran.Exit, ran.Output), "look into the log of runtime machine there; codex sandbox -- true tries its sandbox")
	case want.sandbox != "danger-full-access" && !boxed:
		return warn(false, "ran a command outside of codex's sandbox", "install codex "+want.codex+" there, and have it make user namespaces")
	case another:
		return warn(true, fmt.Sprintf("has codex %s, and here is %s; a command ran", s.Codex, want.codex), "install the same codex on both: what one asks the other may not know")
	case s.Draining:
		return warn(false, "drains: it takes no new turns", "runtime machines undrain "+s.Name+" has it take them again")
	}
	in := "in its sandbox"
	if want.sandbox == "danger-full-access" {
		in = "without a sandbox (danger-full-access)"
	}
	return machineResult{preflight.Result{
		Status: preflight.OK, Detail: fmt.Sprintf("%s, codex %s: a command ran %s, in %s", s.Name, s.Codex, in, found.Dir),
	}, true}
}

// unreached says why a machine does not say how it stands, and what to do.
func unreached(err error) (detail, fix string) {
	code := client.Code(err)
	untrusted, isUntrusted := errors.AsType[*tls.CertificateVerificationError](err)
	_, plain := errors.AsType[tls.RecordHeaderError](err)
	switch {
	case errors.Is(err, roster.ErrFingerprint):
		return err.Error(), "if it has made a new one, take the line that it prints at its start; else something stands in between"
	case isUntrusted:
		return "its certificate is not trusted: " + untrusted.Err.Error(), "put its fingerprint behind its address, as runtime machine fingerprint prints it there, or name in RUNTIME_MACHINES_CA who has signed it"
	case plain, errors.Is(err, http.ErrSchemeMismatch):
		return "what listens there speaks no TLS", "correct its port in RUNTIME_MACHINES"
	case code == wire.CodeToken:
		return "it does not take the token", "put what runtime machine token prints there into the file that RUNTIME_MACHINES_TOKEN_FILE names"
	case code != "":
		return "it refuses: " + err.Error(), "look into the log of runtime machine there"
	case errors.Is(err, syscall.ECONNREFUSED):
		return "it takes no connections", "start runtime machine there, on an address that is reached from here (RUNTIME_MACHINE_ADDR), or correct RUNTIME_MACHINES"
	}
	if of, is := errors.AsType[*url.Error](err); is {
		err = of.Err
	}
	return "it is not reached: " + err.Error(), "look whether it runs, and whether its port is open to this machine"
}

// carries reports whether a machine has labels.
func carries(has map[string]string, labels placement.Labels) bool {
	for key, value := range labels {
		if has[key] != value {
			return false
		}
	}
	return true
}
