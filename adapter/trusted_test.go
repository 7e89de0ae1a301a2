package adapter

import (
	"bytes"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// trusting is a work directory that the operator trusts, and what is kept of that over restarts.
type trusting struct {
	t                          *testing.T
	home, work, codex, noted   string
	brought, another, settings string
	danger                     bool
}

func trust(t *testing.T) *trusting {
	t.Helper()
	dir := t.TempDir()
	w := &trusting{t: t, home: filepath.Join(dir, "home"), work: filepath.Join(dir, "work"), noted: filepath.Join(dir, "trusted-codex")}
	w.codex, w.brought, w.another = filepath.Join(w.work, ".codex"), filepath.Join(dir, "brought"), filepath.Join(dir, "another")
	w.settings = "project_doc_fallback_filenames = ['X.md']\n[sandbox_workspace_write]\nwritable_roots = ['" + dir + "/extra']\n"
	w.must(os.Mkdir(w.home, 0o700), os.Mkdir(w.work, 0o700))
	for _, at := range []string{w.codex, w.another} {
		w.must(os.Mkdir(at, 0o700), os.WriteFile(filepath.Join(at, "config.toml"), []byte(w.settings), 0o600))
	}
	w.says("trusted")
	return w
}

func (w *trusting) must(errs ...error) {
	w.t.Helper()
	if err := errors.Join(errs...); err != nil {
		w.t.Fatal(err)
	}
}

// says has the operator's configuration say something of the work directory; empty is nothing.
func (w *trusting) says(level string) {
	w.t.Helper()
	text := ""
	if level != "" {
		text = "[projects.'" + w.work + "']\ntrust_level = '" + level + "'\n"
	}
	w.must(os.WriteFile(filepath.Join(w.home, "config.toml"), []byte(text), 0o600))
}

// starts has a runtime start codex that knows nothing of those before it, as after a kill.
func (w *trusting) starts() (s *Setup, l Launch, log string) {
	w.t.Helper()
	var out bytes.Buffer
	cfg := SetupConfig{
		Trusted: w.noted, Logger: slog.New(slog.NewTextHandler(&out, nil)),
		Launch: Launch{Home: w.home, WorkDir: w.work, Sandboxed: !w.danger},
	}
	before, _ := os.ReadFile(w.noted)
	seen, _, _, errLook := Look(cfg)
	if after, _ := os.ReadFile(w.noted); !bytes.Equal(after, before) {
		w.t.Error("a look writes")
	}
	s = NewSetup(cfg)
	l, err := s.Prepare(w.t.Context())
	w.must(errLook, err)
	if (seen.Distrusted() == nil) != (l.Distrusted() == nil) {
		w.t.Errorf("a look says %v, and a start %v", seen.Distrusted(), l.Distrusted())
	}
	return s, l, out.String()
}

// counts holds how codex is started to whether what .codex brings counts.
func (w *trusting) counts(when string, want bool) {
	w.t.Helper()
	_, l, log := w.starts()
	args := strings.Join(l.Args(), " ")
	if got := strings.Contains(args, `trust_level="trusted"`); got != want {
		w.t.Errorf("%s: trusted: %v", when, got)
	}
	if got := len(l.Written()) > 0; got != want {
		w.t.Errorf("%s: its writable_roots count: %v", when, got)
	}
	if got := slices.Contains(l.documents(), "X.md"); got != want {
		w.t.Errorf("%s: its documents count: %v", when, got)
	}
	if warned := strings.Contains(log, "remove "+w.noted) && strings.Contains(log, w.codex); warned == want || (l.Distrusted() == nil) != want {
		w.t.Errorf("%s: %v; the log says %q", when, l.Distrusted(), log)
	}
}

// TestTrustIsForOneFolder: what the operator has said of the work directory is for the .codex that
// stood there then, and not for one that a command may have put there since, however often codex and
// the runtime are started again, until the operator says so.
func TestTrustIsForOneFolder(t *testing.T) {
	t.Parallel()
	w := trust(t)
	w.counts("at first", true)
	w.counts("the same", true)
	w.must(os.Rename(w.codex, w.brought), os.Rename(w.another, w.codex))
	w.counts("another", false)
	w.counts("another, after a kill", false)
	w.must(os.Rename(w.codex, w.another), os.Rename(w.brought, w.codex))
	w.counts("the first again", true)
	w.must(os.Rename(w.codex, w.brought), os.Symlink(w.brought, w.codex))
	w.counts("a link to it", false)
	w.must(os.Remove(w.codex), os.Rename(w.another, w.codex))
	w.counts("another again", false)
	w.must(os.Remove(w.noted))
	w.counts("the operator trusts this one", true)
	w.counts("and again", true)

	w.must(os.Rename(w.codex, w.another), os.Rename(w.brought, w.codex))
	w.says("")
	if _, l, log := w.starts(); l.Distrusted() != nil || strings.Contains(log, w.noted) || !strings.Contains(log, "If you trust it") {
		t.Errorf("nothing is said: %v; the log says %q", l.Distrusted(), log)
	}
	if _, err := os.Lstat(w.noted); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("what was trusted is still noted: %v", err)
	}
	w.says("trusted")
	w.counts("it is said anew", true)
}

// TestTrustWithNothingToCount: a .codex that settles nothing takes nothing from codex, and what comes
// into it does not count.
func TestTrustWithNothingToCount(t *testing.T) {
	t.Parallel()
	w := trust(t)
	w.counts("at first", true)
	w.must(os.Rename(w.codex, w.brought)) // the runtime makes one of its own
	s, l, log := w.starts()
	if args := strings.Join(l.Args(), " "); !strings.Contains(args, `trust_level="trusted"`) || log != "" || l.Distrusted() != nil {
		t.Errorf("arguments %s, log %q", args, log)
	}
	if got := s.ThreadConfig(l); got != nil {
		t.Errorf("a conversation: %v", got)
	}
	w.must(os.WriteFile(filepath.Join(w.codex, "config.toml"), []byte(w.settings), 0o600))
	if got := s.ThreadConfig(l); got["projects"] == nil {
		t.Errorf("settings that have come into it count: %v", got)
	}
	w.counts("afterwards", false)
}

// TestTrustWithoutASandbox: there commands write the .codex in any case.
func TestTrustWithoutASandbox(t *testing.T) {
	t.Parallel()
	w := trust(t)
	w.danger = true
	w.counts("at first", true)
	w.must(os.Rename(w.codex, w.brought), os.Rename(w.another, w.codex))
	w.counts("another", true)
	if _, err := os.Lstat(w.noted); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("it is noted: %v", err)
	}
}

// TestTrustThatCannotBeNoted: codex must not start, as it would with whatever stands there.
func TestTrustThatCannotBeNoted(t *testing.T) {
	t.Parallel()
	for _, level := range []string{"trusted", ""} {
		w := trust(t)
		w.says(level)
		w.must(os.MkdirAll(filepath.Join(w.noted, "x"), 0o700))
		_, err := NewSetup(SetupConfig{Trusted: w.noted, Logger: slog.New(slog.DiscardHandler), Launch: Launch{Home: w.home, WorkDir: w.work, Sandboxed: true}}).Prepare(t.Context())
		if problem, ok := errors.AsType[*Problem](err); !ok || !strings.Contains(problem.Error(), w.noted) {
			t.Errorf("%q: %v", level, err)
		}
	}
}

// TestTrustThatIsNotRead: a configuration that is no TOML for a moment takes no word back.
func TestTrustThatIsNotRead(t *testing.T) {
	t.Parallel()
	w := trust(t)
	w.counts("at first", true)
	w.must(os.WriteFile(filepath.Join(w.home, "config.toml"), []byte("[projects"), 0o600))
	_, _, _ = w.starts()
	if _, err := os.Lstat(w.noted); err != nil {
		t.Errorf("it is noted no more: %v", err)
	}
}

// TestFolderThatWasHidden: a .codex that could not be looked at when codex was started is looked at
// anew, once that can be done, and not distrusted for as long as codex lives.
func TestFolderThatWasHidden(t *testing.T) {
	t.Parallel()
	for _, level := range []string{"trusted", ""} {
		w := trust(t)
		w.says(level)
		w.must(os.Rename(w.work, w.work+".aside"), os.Symlink(w.work, w.work)) // a loop
		s, l, log := w.starts()
		restarts := 0
		s.cfg.Replaced = func() { restarts++ }
		if args := strings.Join(l.Args(), " "); strings.Contains(args, `trust_level="trusted"`) || !strings.Contains(log, w.codex) {
			t.Errorf("%q: arguments %s, log %q", level, args, log)
		}
		if got := s.ThreadConfig(l); got["projects"] == nil || restarts != 0 {
			t.Errorf("%q: a conversation: %v, %d restarts", level, got, restarts)
		}
		if _, err := os.Lstat(w.noted); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%q: it is noted: %v", level, err)
		}
		w.must(os.Remove(w.work), os.Rename(w.work+".aside", w.work))
		if got := s.ThreadConfig(l); got["projects"] == nil || restarts != 1 {
			t.Errorf("%q: a conversation of a folder that can be looked at: %v, %d restarts", level, got, restarts)
		}
		if level != "" {
			w.counts("afterwards", true)
		}
	}
}

// TestTrustIsForNoLinks: what the operator has looked at in a .codex, and trusts, commands would write
// by a link's target, or by another name of a file.
func TestTrustIsForNoLinks(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		make   func(w *trusting) error // in a .codex
		counts bool
	}{
		"link": {func(w *trusting) error {
			return errors.Join(os.Rename(w.codex+"/config.toml", w.work+"/s.toml"), os.Symlink("../s.toml", w.codex+"/config.toml"))
		}, false},
		"another name": {func(w *trusting) error { return os.Link(w.codex+"/config.toml", w.work+"/s.toml") }, false},
		"folder of rules": {func(w *trusting) error {
			return errors.Join(os.Mkdir(w.work+"/r", 0o700), os.Symlink("../r", w.codex+"/rules"))
		}, false},
		"rules": {func(w *trusting) error {
			return errors.Join(os.Mkdir(w.codex+"/rules", 0o700), os.Link(w.brought, w.codex+"/rules/x"))
		}, false},
		"too many to look": {func(w *trusting) error { return many(w.codex + "/rules") }, false},
		"named as a lock": {func(w *trusting) error {
			return errors.Join(os.Mkdir(w.codex+"/rules", 0o700), os.Link(w.brought, w.codex+"/rules/.#x.rules"))
		}, false},
		"linked as a lock": {func(w *trusting) error {
			return errors.Join(os.Mkdir(w.work+"/r", 0o700), os.Symlink("../../r", w.codex+"/.#rules"))
		}, false},
		"editor's lock": {func(w *trusting) error { return os.Symlink("me@host.1:2", w.codex+"/.#config.toml") }, true},
		"skills":        {func(w *trusting) error { return os.Symlink("../s", w.codex+"/skills") }, true},
		"plain":         {func(w *trusting) error { return os.MkdirAll(w.codex+"/rules/deep", 0o700) }, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := trust(t)
			w.must(os.WriteFile(w.brought, nil, 0o600))
			_, before, _ := w.starts()
			w.must(c.make(w))
			s, l, log := w.starts()
			if got := strings.Contains(strings.Join(l.Args(), " "), `trust_level="trusted"`); got != c.counts || (len(l.Written()) > 0) != c.counts {
				t.Errorf("trusted: %v, writes %v", got, l.Written())
			}
			does := "put the file itself there"
			if name == "too many to look" {
				does = "take away what codex has no need of"
			}
			if warned := strings.Contains(log, does); warned == c.counts || (l.Distrusted() == nil) != c.counts {
				t.Errorf("%v; the log says %q", l.Distrusted(), log)
			}
			if got := s.ThreadConfig(before)["projects"]; (got == nil) != c.counts {
				t.Errorf("a conversation of the codex before: %v", got)
			}
		})
	}
}

func many(dir string) error {
	err := os.Mkdir(dir, 0o700)
	for i := 0; i <= mostLinked && err == nil; i++ {
		err = os.WriteFile(filepath.Join(dir, strconv.Itoa(i)), nil, 0o600)
	}
	return err
}

// TestTrustAfterALink: a command writes a file by its other name and takes that away.
func TestTrustAfterALink(t *testing.T) {
	t.Parallel()
	for name, at := range map[string]func(w *trusting) string{
		"own":   func(w *trusting) string { return w.codex },
		"above": func(w *trusting) string { return filepath.Join(filepath.Dir(w.work), ".codex") },
		"by a link": func(w *trusting) string {
			link := filepath.Join(filepath.Dir(w.work), "link")
			w.must(os.Symlink(w.work, link))
			w.work = link
			return filepath.Join(link, ".codex")
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := trust(t)
			folder, other := at(w), filepath.Join(w.work, "other.toml")
			root := filepath.Dir(folder)
			w.must(os.RemoveAll(w.codex), os.MkdirAll(folder, 0o700), os.WriteFile(filepath.Join(folder, "config.toml"), []byte(w.settings), 0o600), os.WriteFile(filepath.Join(w.home, "config.toml"), []byte("[projects.'"+root+"']\ntrust_level = 'trusted'\n"), 0o600))
			if name == "above" {
				w.must(os.Mkdir(filepath.Join(root, ".git"), 0o700), os.WriteFile(filepath.Join(root, ".git/HEAD"), nil, 0o600))
			}
			distrusts := func(l Launch, log string) bool {
				said := strings.Contains(strings.Join(l.Args(), " "), tomlString(root)+`={trust_level="untrusted"}`)
				if said != (l.Distrusted() != nil) || said != strings.Contains(log, "remove "+w.noted) || said == (len(l.Written()) > 0) {
					t.Errorf("%v, %v; the log says %q; %v", l.Args(), l.Distrusted(), log, l.Written())
				}
				return said
			}
			s, first, log := w.starts()
			if distrusts(first, log) {
				t.Fatal("it is not trusted at first")
			}
			w.must(os.Link(filepath.Join(folder, "config.toml"), other))
			if s.ThreadConfig(first)["projects"] == nil {
				t.Error("a conversation trusts a file with two names")
			}
			w.must(os.Remove(other))
			if s.ThreadConfig(first)["projects"] == nil {
				t.Error("the next conversation does, since the other name is gone")
			}
			for range 2 {
				if _, l, log := w.starts(); !distrusts(l, log) {
					t.Error("a start does")
				}
			}
			w.must(os.Remove(filepath.Join(folder, "config.toml")))
			if _, l, log := w.starts(); l.Distrusted() != nil || strings.Contains(log, "remove "+w.noted) {
				t.Errorf("nothing is there, and the log says %q", log)
			}
			w.must(os.WriteFile(filepath.Join(folder, "config.toml"), []byte(w.settings), 0o600), os.Remove(w.noted))
			if _, l, log := w.starts(); distrusts(l, log) {
				t.Error("the operator has said so, and it does not count")
			}
		})
	}
}
