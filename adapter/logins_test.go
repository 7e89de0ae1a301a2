package adapter

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"
)

// auth is a login of an account, renewed on a day, whose token is named.
func auth(account string, day int, token string) string {
	return fmt.Sprintf(`{"tokens":{"access_token":"at-%s","refresh_token":"rt-%[1]s","account_id":%q},"last_refresh":"2026-11-%02dT00:00:00Z"}`, token, account, day)
}

// A vault is a platform's secrets.
type vault struct {
	mu     sync.Mutex
	values map[string]string
	err    error
	slow   time.Duration
	asked  atomic.Int32
}

func (v *vault) Secrets(ctx context.Context) (map[string]string, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.asked.Add(1)
	select {
	case <-time.After(v.slow):
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	return v.values, v.err
}

func (v *vault) set(value string, err error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.values, v.err = map[string]string{"CODEX_AUTH_JSON": value}, err
}

// lines is a log that is written while it is read.
type lines struct {
	mu   sync.Mutex
	text strings.Builder
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

type loginTest struct {
	*Logins
	home     string
	log      *lines
	changed  atomic.Int32
	redacted []string
}

func logins(t *testing.T, platform Secrets, owned bool) *loginTest {
	t.Helper()
	l := &loginTest{home: filepath.Join(t.TempDir(), "home"), log: &lines{}}
	l.Logins = NewLogins(LoginsConfig{
		Home: l.home, Platform: platform, Owned: owned, Every: time.Hour, Changed: func() { l.changed.Add(1) },
		Redact: func(s ...string) { l.redacted = append(l.redacted, s...) },
		Logger: slog.New(slog.NewTextHandler(l.log, nil)),
	})
	return l
}

func (l *loginTest) want(t *testing.T, text string) {
	t.Helper()
	got, err := os.ReadFile(authFile(l.home))
	if err != nil && text != "" || string(got) != text {
		t.Errorf("auth.json is %q (%v), want %q", got, err, text)
	}
	if info, err := os.Stat(authFile(l.home)); err == nil && info.Mode().Perm() != 0o600 {
		t.Errorf("its mode is %v", info.Mode())
	}
	if strings.Contains(l.log.String(), "at-") || strings.Contains(l.log.String(), "rt-") {
		t.Errorf("a token was logged:\n%s", l.log)
	}
	left, _ := filepath.Glob(filepath.Join(l.home, "*.tmp"))
	if len(left) > 0 {
		t.Errorf("left behind: %q", left)
	}
}

// put has text given by the environment, in a process of its own.
func (l *loginTest) put(t *testing.T, text string) {
	t.Helper()
	if err := NewLogins(l.cfg).Install(t.Context(), given(text)); err != nil {
		t.Error(err)
	}
}

func none(string) string { return "" }

func given(text string) func(string) string {
	return func(name string) string {
		if name == "CODEX_AUTH_JSON" {
			return text
		}
		return ""
	}
}

func TestLoginIsInstalled(t *testing.T) {
	one, two, later := auth("a", 1, "one"), auth("a", 2, "two"), auth("a", 9, "later")
	down := errors.New("down")
	for name, c := range map[string]struct {
		there    string // in auth.json before
		env      func(string) string
		platform *vault
		owned    bool
		want     string
	}{
		"nothing":                      {"", none, nil, false, ""},
		"environment":                  {"", given(one), nil, false, one},
		"stale-one-is-overwritten":     {one, given(two), nil, false, two},
		"what-was-renewed-since-stays": {later, given(two), nil, false, later},
		"another-account-is-taken":     {auth("b", 9, "x"), given(two), nil, false, two},
		"key-is-replaced":              {`{"OPENAI_API_KEY":"sk-x"}`, given(two), nil, false, two},
		"broken-file-is-replaced":      {`{"tok`, given(two), nil, false, two},
		"older-name":                   {"", func(n string) string { return map[string]string{"CODEX_CHATGPT_AUTH_JSON": one}[n] }, nil, false, one},
		"platform-goes-before":         {one, given(one), &vault{values: map[string]string{"CODEX_AUTH_JSON": two}}, false, two},
		"platform-has-none":            {"", given(one), &vault{values: map[string]string{}}, false, one},
		"platform-is-down":             {"", given(one), &vault{err: down}, false, one},
		"platform-is-slow":             {"", given(one), &vault{slow: time.Minute}, false, one},
		"old-environment-new-file":     {two, given(one), &vault{err: down}, false, two},
		"nonsense":                     {"", given("not json"), nil, false, ""},
		"nonsense-leaves-the-old":      {one, given(`{"a":1}`), nil, false, one},
		"first-line-only":              {one, given("{"), nil, false, one},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := logins(t, nil, c.owned)
				if c.platform != nil {
					l.cfg.Platform = c.platform
				}
				if c.there != "" {
					if _, err := WriteLogin(l.home, []byte(c.there)); err != nil {
						t.Fatal(err)
					}
				}
				if err := l.Install(t.Context(), c.env); err != nil {
					t.Error(err)
				}
				l.want(t, c.want)
				if l.changed.Load() != 0 {
					t.Error("codex is not there yet, and was to be restarted")
				}
			})
		})
	}
}

// TestOwnerKeepsWhatCodexMadeOfIt: the seed's refresh token is spent by then.
func TestOwnerKeepsWhatCodexMadeOfIt(t *testing.T) {
	seed, renewed, other := auth("", 1, "seed"), auth("", 1, "renewed"), auth("", 1, "other")
	l := logins(t, nil, true)
	l.put(t, seed)
	l.want(t, seed)
	put(t, authFile(l.home), renewed) // by codex
	l.put(t, seed)                    // after a restart of ours
	l.want(t, renewed)
	l.put(t, other)
	l.want(t, other)
}

// TestSeedThatIsNone: the file is in codex's home, which commands may own.
func TestSeedThatIsNone(t *testing.T) {
	given := auth("", 1, "given")
	for name, put := range map[string]func(path string) error{
		"pipe": func(path string) error { return syscall.Mkfifo(path, 0o600) },
		"link": func(path string) error { return os.Symlink("/dev/zero", path) },
		"long": func(path string) error { return errors.Join(os.WriteFile(path, nil, 0o600), os.Truncate(path, 1<<40)) },
	} {
		t.Run(name, func(t *testing.T) {
			l := logins(t, nil, true)
			if err := errors.Join(os.MkdirAll(l.home, 0o700), os.WriteFile(authFile(l.home), []byte(auth("", 1, "renewed")), 0o600), put(l.seedFile())); err != nil {
				t.Fatal(err)
			}
			l.put(t, given)
			l.want(t, given)
		})
	}
}

func TestLoginIsFetchedEachHour(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		one, two, three := auth("a", 1, "one"), auth("a", 2, "two"), auth("a", 3, "three")
		v := &vault{}
		v.set(one, nil)
		l := logins(t, v, false)
		if err := l.Install(t.Context(), none); err != nil {
			t.Fatal(err)
		}
		l.want(t, one)
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		go l.Run(ctx)
		wait := func(d time.Duration, asked, changed int, text string) {
			t.Helper()
			time.Sleep(d)
			synctest.Wait()
			if int(v.asked.Load()) != asked || int(l.changed.Load()) != changed {
				t.Errorf("asked %d times, changed %d times; want %d and %d", v.asked.Load(), l.changed.Load(), asked, changed)
			}
			l.want(t, text)
		}
		wait(67*time.Minute, 2, 0, one) // nothing new
		v.set(two, nil)
		wait(66*time.Minute, 3, 1, two)
		put(t, authFile(l.home), auth("a", 2, "codex")) // codex has renewed it itself: the platform's has not changed
		wait(66*time.Minute, 4, 1, auth("a", 2, "codex"))
		v.set("", errors.New("503"))
		time.Sleep(70 * time.Minute) // after the first that failed, each minute
		synctest.Wait()
		if v.asked.Load() < 4+3 {
			t.Errorf("asked %d times", v.asked.Load())
		}
		v.set(three, nil)
		time.Sleep(2 * time.Minute)
		synctest.Wait()
		if l.changed.Load() != 2 {
			t.Errorf("changed %d times", l.changed.Load())
		}
		l.want(t, three)
	})
}

func TestLoginThatCannotBeWritten(t *testing.T) {
	l := logins(t, nil, false)
	put(t, l.home, "in the way")
	err := l.Install(t.Context(), given(auth("a", 1, "x")))
	if err == nil || strings.Contains(err.Error(), "rt-x") {
		t.Errorf("Install = %v", err)
	}
	if err := os.Remove(l.home); err != nil {
		t.Fatal(err)
	}
	l.put(t, auth("a", 1, "x"))
	l.want(t, auth("a", 1, "x"))
	if all := strings.Join(l.redacted, " "); !strings.Contains(all, "at-x") || !strings.Contains(all, "rt-x") {
		t.Errorf("the log is told to hide %q", l.redacted)
	}
}

// TestWhatAKillHasLeft: a new login that was never put in its place is not in the way.
func TestWhatAKillHasLeft(t *testing.T) {
	l := logins(t, nil, false)
	if err := os.MkdirAll(l.home, 0o700); err != nil {
		t.Fatal(err)
	}
	left := authFile(l.home) + ".1.tmp"
	put(t, left, "half")
	if err := os.Chtimes(left, time.Time{}, time.Now().Add(-time.Hour)); err != nil {
		t.Fatal(err)
	}
	put(t, authFile(l.home), "old")
	if err := os.Chmod(authFile(l.home), 0o644); err != nil {
		t.Fatal(err)
	}
	l.put(t, auth("a", 1, "x"))
	l.want(t, auth("a", 1, "x"))
	if err := os.Chmod(authFile(l.home), 0o644); err != nil {
		t.Fatal(err)
	}
	l.put(t, auth("a", 1, "x"))
	l.want(t, auth("a", 1, "x")) // the same, and private again
}

// TestLoginsHideTokensAlone: a login that is no user's cannot have any words masked, or so many
// that looking for them takes long.
func TestLoginsHideTokensAlone(t *testing.T) {
	long := strings.Repeat("x", mostToken+1)
	l := logins(t, nil, false)
	l.put(t, `{"tokens":{"access_token":"words of others","refresh_token":"`+long+`","id_token":"a-token"}}`)
	fetched := logins(t, nil, false)
	if err := os.MkdirAll(fetched.home, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(authFile(fetched.home), []byte(`{"OPENAI_API_KEY":"words of others","tokens":{"access_token":"a-token"}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	fetched.put(t, "")
	for _, got := range [][]string{l.redacted, fetched.redacted} {
		if !slices.Equal(got, []string{"a-token"}) {
			t.Errorf("hidden are %.60q", got)
		}
	}
}
