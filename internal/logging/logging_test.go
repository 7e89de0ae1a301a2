package logging

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"
)

const (
	known = `kn"own/s3cret value`
	sk    = "sk-proj-Abcdef0123456789"
	jwt   = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.abc-DEF_123"
	opaq  = "0pAqUeToKeN~+/=="
)

// leaks returns the planted secrets that out shows, in any encoding.
func leaks(out string) []string {
	var found []string
	quoted, _ := json.Marshal(known)
	for _, s := range []string{known, string(quoted[1 : len(quoted)-1]), "kn%22own", "s3cret", sk, jwt, opaq} {
		if strings.Contains(out, s) {
			found = append(found, s)
		}
	}
	return found
}

type stringer struct{ s string }

func (s stringer) String() string { return s.s }

type valuer struct{ s string }

func (v valuer) LogValue() slog.Value { return slog.GroupValue(slog.String("inner", v.s)) }

type nilError struct{ s string }

func (e *nilError) Error() string { return e.s }

func TestPlantedSecretsDoNotCome(t *testing.T) {
	all := strings.Join([]string{known, url.QueryEscape(known), url.PathEscape(known), sk, jwt, "Bearer " + opaq}, " and ")
	type pair struct {
		Public string
		hidden string
	}
	pointed := &struct{ In *pair }{&pair{Public: all}}
	for name, terminal := range map[string]bool{"json": false, "terminal": true} {
		t.Run(name, func(t *testing.T) {
			var b bytes.Buffer
			log := slog.New(Wrap(sink(&b, slog.LevelDebug, terminal), NewRedactor(known, "abc", "")))
			log.Info(all) //nolint:sloglint // the message is what is tested
			log.Info("m", all, "v")
			log.Info("m", "string", all, "error", fmt.Errorf("outer: %w", errors.New(all)), "stringer", stringer{all})
			log.Info("m", "bytes", []byte(all), "raw", json.RawMessage(`{"k":"`+sk+`"}`), "slice", []string{all}, "map", map[string]any{"k": []any{all}})
			log.Info("m", "struct", pair{all, all}, "pointer", &pair{hidden: all}, "deep", pointed)
			log.Info("m", slog.Group("g", slog.Group("h", "k", all), "v", valuer{all}), "valuer", valuer{all})
			log.With("with", all, slog.Group("g", "k", errors.New(all))).WithGroup("in "+sk).Error("m", "k", all)
			log.Log(context.Background(), slog.LevelDebug, "m", "nil", nil, "nil_error", (*nilError)(nil))
			if found := leaks(b.String()); found != nil {
				t.Errorf("shown: %q in\n%s", found, b.String())
			}
			if got := strings.Count(b.String(), "\n"); got != 8 {
				t.Errorf("%d lines, want 8:\n%s", got, b.String())
			}
		})
	}
}

func TestInnocentValuesStay(t *testing.T) {
	var b bytes.Buffer
	log := slog.New(Wrap(sink(&b, slog.LevelInfo, false), NewRedactor(known, "abc")))
	log.Info("abc task-0123456789 is asked for bearer authentication",
		"n", 7, "list", []int{1, 2}, "object", map[string]int{"k": 1}, slog.Group("g", "d", true))
	log.Debug("not shown")
	var got map[string]any
	if err := json.Unmarshal(b.Bytes(), &got); err != nil {
		t.Fatalf("%v: %s", err, b.String())
	}
	delete(got, "time")
	want := `{"g":{"d":true},"level":"INFO","list":[1,2],"msg":"abc task-0123456789 is asked for bearer authentication","n":7,"object":{"k":1}}`
	if text, _ := json.Marshal(got); string(text) != want {
		t.Errorf("got  %s\nwant %s", text, want)
	}
}

func TestRedactorString(t *testing.T) {
	r := NewRedactor("secret-one", "secret-one-longer", "five5")
	for in, want := range map[string]string{
		"a secret-one-longer b secret-one":               "a *** b ***",
		"five5":                                          "five5",
		"key " + sk + ".":                                "key sk-***.",
		"risk-assessments":                               "risk-assessments",
		"authorization: bearer " + opaq:                  "authorization: bearer ***",
		"BEARER " + strings.Repeat("x", 20):              "BEARER ***",
		"the bearer certificate":                         "the bearer certificate",
		"token=" + jwt + "&x=1":                          "token=***&x=1",
		"ghp_" + strings.Repeat("a1", 18):                "***",
		"ghs_" + strings.Repeat("a1", 18):                "***",
		"x github_pat_" + strings.Repeat("a", 82):        "x ***",
		"AKIA" + strings.Repeat("A1", 8) + ",":           "***,",
		`"password": "` + strings.Repeat("x/", 20) + `"`: `"password": "***"`,
		"api_key=" + strings.Repeat("Ab", 21) + "==":     "api_key=***",
		"key: a short one, token=short":                  "key: a short one, token=short",
	} {
		if got := r.String(in); got != want {
			t.Errorf("String(%q) = %q, want %q", in, got, want)
		}
	}
	if got := (*Redactor)(nil).String(sk); got != "sk-***" {
		t.Errorf("nil Redactor: %q", got)
	}
}

func TestLevel(t *testing.T) {
	if l, err := Level("warn"); err != nil || l != slog.LevelWarn {
		t.Errorf("Level = %v, %v", l, err)
	}
	if _, err := Level("loud"); err == nil {
		t.Error("loud is a level")
	}
}

func TestOnlyATerminalGetsColour(t *testing.T) {
	var b bytes.Buffer
	New(&b, slog.LevelInfo, nil).Info("m")
	if !json.Valid(b.Bytes()) {
		t.Errorf("not JSON: %s", b.String())
	}
}

// TestRedactorLearns has secrets come while texts are looked at.
func TestRedactorLearns(t *testing.T) {
	r := NewRedactor("first-secret")
	var wg sync.WaitGroup
	for i := range 4 {
		wg.Go(func() {
			r.Add(fmt.Sprintf("secret-number-%d", i), "first-secret", "", "short")
			_ = r.String("first-secret")
		})
	}
	wg.Wait()
	if got := r.String("first-secret secret-number-0 secret-number-3 short"); got != "*** *** *** short" {
		t.Errorf("String = %q", got)
	}
}

// TestDurations are text in either form, as people read them.
func TestDurations(t *testing.T) {
	for name, terminal := range map[string]bool{"json": false, "terminal": true} {
		var b bytes.Buffer
		log := slog.New(Wrap(sink(&b, slog.LevelDebug, terminal), NewRedactor()))
		log.With("first", time.Minute).Info("m", "took", 1500*time.Millisecond, slog.Group("of", "wait", time.Microsecond))
		for _, want := range []string{"1m0s", "1.5s", "1µs"} {
			if !strings.Contains(b.String(), want) {
				t.Errorf("%s: %s lacks %s", name, b.String(), want)
			}
		}
	}
}
