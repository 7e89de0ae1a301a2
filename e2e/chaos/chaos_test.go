package chaos

import (
	"flag"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/codextest"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/progtest"
)

// What make chaos sets. Without any of it the test is a short one.
var (
	seedFlag     = flag.Uint64("seed", 1, "the seed of the plan")
	cutsFlag     = flag.Int("cuts", 0, "how many strikes at the model TestCuts has; 0 is for three seconds each")
	killsFlag    = flag.Int("kills", 0, "how many processes are killed; 0 is until the duration is over")
	durationFlag = flag.Duration("duration", 10*time.Second, "how long it strikes; only without -kills")
	silenceFlag  = flag.Duration("silence", 15*time.Second, "how long a turn may say nothing; a machine that stalls for as long fails it, and a hanging turn under strikes needs it as a pause")
	contextsFlag = flag.Int("contexts", 5, "conversations at the same time")
	machinesFlag = flag.Int("machines", 3, "how many machines TestMachines has")
	calmFlag     = flag.Bool("calm", false, "kills of codex only")
	reportFlag   = flag.String("report", "", "a file to write the report into, between its markers")
	logFlag      = flag.String("log", "", "a file for the logs of the program")
)

var binary string

func TestMain(m *testing.M) {
	os.Exit(progtest.Main(func(built string) int {
		binary = built
		return m.Run()
	}))
}

// quiet keeps the logs of hundreds of programs out of the test's output.
type quiet struct{ testing.TB }

func (quiet) Failed() bool { return false }

func TestChaos(t *testing.T) {
	report := run(t, Plan{seed: *seedFlag, contexts: *contextsFlag, calm: *calmFlag}, func(f *field, took time.Duration) bool {
		if *killsFlag > 0 {
			return f.kills >= *killsFlag
		}
		return took > *durationFlag
	})
	report.keep(t, "chaos")
}

// TestMachines has commands run on machines, and strikes at these, too.
func TestMachines(t *testing.T) {
	report := run(t, Plan{seed: *seedFlag, contexts: *contextsFlag, machines: *machinesFlag}, func(f *field, took time.Duration) bool {
		if *killsFlag > 0 {
			return f.kills >= *killsFlag
		}
		return took > *durationFlag
	})
	report.keep(t, "chaos on machines")
}

// TestCuts strikes at the model only: no turn is lost for that, and none is run again.
func TestCuts(t *testing.T) {
	for _, deaf := range []bool{false, true} {
		t.Run(map[bool]string{false: "sockets", true: "http"}[deaf], func(t *testing.T) {
			run(t, Plan{seed: *seedFlag, contexts: *contextsFlag, cuts: true, deaf: deaf}, func(f *field, took time.Duration) bool {
				if *cutsFlag > 0 {
					return f.cuts() >= *cutsFlag
				}
				return took > 3*time.Second
			})
		})
	}
}

// run has a plan come about until there is enough of it, and reports what the books say.
func run(t *testing.T, plan Plan, enough func(*field, time.Duration) bool) Report {
	t.Helper()
	commit := codextest.Commit()
	f, l, mark := prepare(t, plan)
	began := time.Now()
	var load sync.WaitGroup
	for n := range plan.contexts {
		load.Go(func() { l.converse(t.Context(), plan.Messages(n)) })
	}
	for next := plan.Blows(); !enough(f, time.Since(began)); {
		f.strike(next())
		if t.Failed() {
			break
		}
	}
	f.there.heal()
	close(l.enough)
	load.Wait()
	a := newAuditor(l)
	a.cuts = plan.cuts
	a.tasks(t.Context())
	f.stop()
	a.order()
	a.lines()
	a.books(t.Context(), f.program.State)
	a.files(f.program.State, "state.db", "state.db-wal", "state.db-shm", "state.lock")
	a.files(f.program.Work, filepath.Base(l.file))
	a.machines(f.there, mark)
	a.processes(mark)
	report := Report{Plan: plan, Field: f, Tally: a.tally, Commit: commit, Began: began, Took: time.Since(began), Ledger: f.ledger}
	t.Log("\n" + report.String())
	for _, fault := range f.ledger.faults {
		t.Error(fault)
	}
	return report
}

// prepare starts the program, with the model behind it.
func prepare(t *testing.T, plan Plan) (f *field, l *load, mark string) {
	t.Helper()
	f = &field{tb: t, ledger: newLedger(), count: map[strike]int{}, logs: logFile(t)}
	f.model = startUpstream(t, f.ledger)
	f.model.deaf.Store(plan.deaf)
	state := codextest.Dir(t, "state")
	f.disk = mountDisk(t, state)
	mark = fmt.Sprintf("CHAOS_RUN=%d-%d", os.Getpid(), time.Now().UnixNano())
	work := codextest.Dir(t, "work")
	f.there = startMachines(t, plan.machines, work, mark, f.keepLog)
	f.runs(progtest.Start(quiet{t}, binary, append(append(f.model.environ(), "OPENAI_API_KEY=key-of-the-chaos-run", "RUNTIME_WORKDIR="+work,
		"RUNTIME_STATE_DIR="+state, "RUNTIME_LOG=info", "CODEX_IDLE_TIMEOUT="+silenceFlag.String(), mark), f.there.environ()...)...))
	f.program.Work = work
	f.file = filepath.Join(f.program.Work, "lines")
	web := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	t.Cleanup(web.CloseIdleConnections)
	l = &load{client: &client{url: f.where, later: f.ledger.later, http: web}, ledger: f.ledger, file: f.file, enough: make(chan struct{})}
	return f, l, mark
}

func logFile(t *testing.T) *os.File {
	t.Helper()
	name := *logFlag
	if name == "" {
		name = os.DevNull
	}
	file, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { file.Close() })
	return file
}
