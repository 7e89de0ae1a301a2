package doctor

import (
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/Molecule-AI/molecule-codex-runtime/fleet/client"
	"github.com/Molecule-AI/molecule-codex-runtime/fleet/placement"
	"github.com/Molecule-AI/molecule-codex-runtime/fleet/roster"
	"github.com/Molecule-AI/molecule-codex-runtime/fleet/tryout"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/settings"
	"github.com/Molecule-AI/molecule-codex-runtime/machine/wire"
	"github.com/Molecule-AI/molecule-codex-runtime/preflight"
)

// TestMachineJudged: what came out of a machine, in words, with what to do, and whether it takes turns.
func TestMachineJudged(t *testing.T) {
	well := func() tryout.Found {
		return tryout.Found{
			Status: wire.Status{Name: "m1", Codex: "0.169.0", Files: []string{wire.FilesShared}, Labels: map[string]string{"gpu": "yes"}},
			Dir:    "/work", Ran: tryout.Ran{Sandbox: "linuxSeccomp", Output: tryout.Said},
		}
	}
	at := func(stage tryout.Stage, err error) error { return &tryout.Error{At: stage, Err: err} }
	token := &client.RefusedError{Refusal: wire.Refusal{Code: wire.CodeToken, Message: "no"}}
	form := &tryout.RefusedError{Code: -32602, Message: "invalid params"}
	for name, c := range map[string]struct {
		change func(*tryout.Found)
		want   wanted
		err    error
		takes  bool
		says   string
		fix    string
	}{
		"well":             {takes: true, says: "m1, codex 0.169.0: a command ran in its sandbox, in /work"},
		"no sandbox":       {change: func(f *tryout.Found) { f.Ran.Sandbox = "none" }, want: wanted{sandbox: "danger-full-access"}, takes: true, says: "without a sandbox"},
		"fell out":         {change: func(f *tryout.Found) { f.Ran.Sandbox = "none" }, says: "m1 ran a command outside of codex's sandbox", fix: "user namespaces"},
		"failed":           {change: func(f *tryout.Found) { f.Ran.Exit, f.Ran.Output = 1, "bwrap: no" }, says: `exit code 1, and it said "bwrap: no"`, fix: "log"},
		"silent":           {change: func(f *tryout.Found) { f.Ran.Output = "" }, says: "has failed", fix: "log"},
		"another codex":    {want: wanted{codex: "0.170.0"}, takes: true, says: "m1 has codex 0.169.0, and here is 0.170.0; a command ran", fix: "the same codex"},
		"another protocol": {err: at(tryout.Command, form), takes: true, says: "none was tried: invalid params", fix: "install the codex"},
		"drains":           {change: func(f *tryout.Found) { f.Status.Draining = true }, says: "m1 drains", fix: "runtime machines undrain m1"},
		"trouble":          {change: func(f *tryout.Found) { f.Status.Trouble = "codex is missing: install it" }, err: at(tryout.Command, errors.New("503")), says: "m1 takes no turns: codex is missing: install it", fix: "do what it says"},
		"other files":      {want: wanted{files: wire.FilesGit}, says: "has no files of the kind git, but shared", fix: "RUNTIME_MACHINES_FILES"},
		"other labels":     {want: wanted{labels: placement.Labels{"gpu": "no"}}, says: "does not have the labels gpu=no", fix: "RUNTIME_MACHINE_LABELS"},
		"has the labels":   {want: wanted{labels: placement.Labels{"gpu": "yes"}}, takes: true, says: "a command ran"},
		"no folder":        {err: at(tryout.Place, errors.New("/work is not there")), says: "has no place for conversations: /work is not there", fix: "RUNTIME_MACHINE_ROOT"},
		"no command":       {err: at(tryout.Command, errors.New("HTTP 503")), says: "ran no command: HTTP 503", fix: "log"},
		"token":            {change: func(f *tryout.Found) { f.Status = wire.Status{} }, err: at(tryout.Reach, token), says: "it does not take the token", fix: "RUNTIME_MACHINES_TOKEN_FILE"},
		"fingerprint":      {change: func(f *tryout.Found) { f.Status = wire.Status{} }, err: at(tryout.Reach, roster.ErrFingerprint), says: "another certificate", fix: "take the line that it prints"},
		"certificate":      {change: func(f *tryout.Found) { f.Status = wire.Status{} }, err: at(tryout.Reach, &tls.CertificateVerificationError{Err: errors.New("unknown")}), says: "not trusted", fix: "RUNTIME_MACHINES_CA"},
		"no TLS":           {change: func(f *tryout.Found) { f.Status = wire.Status{} }, err: at(tryout.Reach, tls.RecordHeaderError{Msg: "x"}), says: "no TLS", fix: "port"},
		"gone":             {change: func(f *tryout.Found) { f.Status = wire.Status{} }, err: at(tryout.Reach, fmt.Errorf("dial: %w", syscall.ECONNREFUSED)), says: "takes no connections", fix: "start runtime machine there"},
		"silent machine":   {change: func(f *tryout.Found) { f.Status = wire.Status{} }, err: at(tryout.Reach, client.ErrSilent), says: "it is not reached: it is silent", fix: "port is open"},
	} {
		found, want := well(), c.want
		if c.change != nil {
			c.change(&found)
		}
		if want.files == "" {
			want.files = wire.FilesShared
		}
		got := judged(found, c.err, want)
		if got.takes != c.takes || !strings.Contains(got.Detail, c.says) || !strings.Contains(got.Fix, c.fix) || (got.Status == preflight.OK) != (c.fix == "") || got.Status == preflight.Fail {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

// TestMachinesOverall: one machine that takes turns is enough.
func TestMachinesOverall(t *testing.T) {
	one, none := machineResult{takes: true}, machineResult{}
	for name, c := range map[string]struct {
		results []machineResult
		listed  int
		trouble error
		status  preflight.Status
		says    string
	}{
		"one":     {[]machineResult{none, one}, 2, nil, preflight.OK, "1 of 2 take turns"},
		"none":    {[]machineResult{none}, 1, nil, preflight.Fail, "0 of 1 take turns"},
		"empty":   {nil, 0, errors.New("no such name"), preflight.Fail, "cannot be read as a whole: no such name"},
		"many":    {[]machineResult{one}, 80, nil, preflight.OK, "1 of 1 that were tried take turns, of 80"},
		"trouble": {[]machineResult{one}, 1, errors.New("line 2"), preflight.Warn, "line 2"},
	} {
		if got := overall(c.results, c.listed, c.trouble); got.Status != c.status || !strings.Contains(got.Detail, c.says) || (got.Fix == "") != (c.status == preflight.OK) {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

// TestMachineChecks: there is one check for all, and one for each of the list, by what the settings say.
func TestMachineChecks(t *testing.T) {
	plain := httptest.NewServer(http.NotFoundHandler())
	defer plain.Close()
	other := httptest.NewTLSServer(http.NotFoundHandler())
	defer other.Close()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	gone := ln.Addr().String()
	if err := ln.Close(); err != nil {
		t.Fatal(err)
	}
	list := filepath.Join(t.TempDir(), "list")
	pinned := "#sha256:" + strings.Repeat("0", 64)
	text := "https://" + gone + "\nhttps://" + plain.Listener.Addr().String() + "\nhttps://" + other.Listener.Addr().String() + "\nhttps://" + strings.Replace(other.Listener.Addr().String(), "127.0.0.1", "localhost", 1) + pinned + "\nnonsense\n"
	if err := os.WriteFile(list, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	load := func(set ...string) Case {
		environ := append([]string{"HOME=" + t.TempDir(), "CODEX_BIN=/nonexistent"}, set...)
		s, _, err := settings.Load(environ)
		if err != nil {
			t.Fatal(err)
		}
		return Case{Settings: s, Environ: environ}
	}
	if all := machineChecks(t.Context(), load()); all != nil {
		t.Errorf("without machines there are %d checks", len(all))
	}
	for _, set := range [][]string{{"RUNTIME_MACHINES=file:" + list}, {"RUNTIME_MACHINES=http://x:1", "RUNTIME_MACHINES_TOKEN=0123456789abcdef"}} {
		all := machineChecks(t.Context(), load(set...))
		if len(all) != 1 {
			t.Fatalf("%v: %d checks", set, len(all))
		}
		if got := all[0].Do(t.Context()); got.Status != preflight.Fail || !strings.Contains(got.Detail, "RUNTIME_MACHINES") {
			t.Errorf("%v: %+v", set, got)
		}
	}
	report := preflight.Run(t.Context(), machineChecks(t.Context(), load("RUNTIME_MACHINES=file:"+list, "RUNTIME_MACHINES_TOKEN=0123456789abcdef"))...)
	var got []string
	for _, r := range report.Results {
		got = append(got, fmt.Sprintf("%s %s: %s", r.Status, r.Name, r.Detail))
	}
	wants := []string{"fail machines: 0 of 4 take turns; the list cannot be read as a whole: ", "takes no connections", "speaks no TLS", "certificate is not trusted", "another certificate"}
	if len(got) != len(wants) {
		t.Fatalf("%q", got)
	}
	for i, want := range wants {
		if !strings.Contains(got[i], want) || i > 0 && !strings.HasPrefix(got[i], "warn machine ") {
			t.Errorf("%s: want %q", got[i], want)
		}
	}
}
