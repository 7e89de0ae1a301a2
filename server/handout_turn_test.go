package server

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/a2aproject/a2a-go/v2/a2a"

	"github.com/Molecule-AI/molecule-codex-runtime/server/bounds"
	"github.com/Molecule-AI/molecule-codex-runtime/server/guard"
)

// A closedKeep counts who asks for the copies of files, and has none.
type closedKeep struct{ opened int }

func (k *closedKeep) Open(context.Context, string, string) (*os.File, fs.FileInfo, error) {
	k.opened++
	return nil, nil, errors.New("not here")
}

// TestFilesAreReadInTurn: an answer with the bytes of files takes a turn before it reads
// them, also where the task itself is at hand.
func TestFilesAreReadInTurn(t *testing.T) {
	of := bounds.NewAnswers(1 << 20)
	for name, call := range map[string]func(context.Context, guard.Handler) error{
		"SendMessage": func(ctx context.Context, h guard.Handler) error {
			_, err := h.SendMessage(ctx, &a2a.SendMessageRequest{})
			return err
		},
		"SendStreamingMessage": func(ctx context.Context, h guard.Handler) (err error) {
			for _, err = range h.Stream(ctx, &a2a.SendMessageRequest{}, "") {
				if err != nil {
					break
				}
			}
			return err
		},
	} {
		kept := &closedKeep{}
		h := guard.ShowFiles(handing(handed("a", "f.txt", "text/plain", 9)), kept, false)
		parted, part := of.Part(t.Context())
		ctx, cancel := context.WithCancel(parted)
		for range bounds.MostBuilt {
			of.Turns <- struct{}{}
		}
		cancel()
		if err := call(ctx, h); !errors.Is(err, context.Canceled) || kept.opened != 0 {
			t.Errorf("%s: %v, %d files read while it had no turn", name, err, kept.opened)
		}
		for range bounds.MostBuilt {
			<-of.Turns
		}
		if err := call(context.WithoutCancel(ctx), h); err != nil || kept.opened != 1 || len(of.Turns) != 1 {
			t.Errorf("%s: %v, %d files read, in %d turns", name, err, kept.opened, len(of.Turns))
		}
		part.Done()
	}
}

// TestAnswersAtHandWaitForNoReaders: where all who may read from the journal do, the others
// have their answers and streams begin, and what has ended is no less an error.
func TestAnswersAtHandWaitForNoReaders(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e, _ := engineOn(t)
		r := serveInBubble(t, Config{Handler: e, KeepAlive: time.Hour})
		for range bounds.MostBuilt {
			r.srv.answers.Turns <- struct{}{}
		}
		for id, path := range map[string]string{"m1": "/message:send", "m2": "/message:stream"} {
			a := r.do(t, "POST", path, `{"message":{"messageId":"`+id+`","role":"ROLE_USER","parts":[{"text":"hi"}]}}`)
			if !strings.Contains(a.body, "COMPLETED") {
				t.Errorf("%s: %d %s", path, a.status, a.body)
			}
			task := regexp.MustCompile(`"(?:taskId|id)":"([0-9a-f-]{36})"`).FindStringSubmatch(a.body)
			if task == nil {
				t.Fatalf("no task in %s", a.body)
			}
			if a := r.do(t, "GET", "/tasks/"+task[1]+":subscribe", ""); !strings.Contains(a.body, "has ended") {
				t.Errorf("%s: %d %s", task[1], a.status, a.body)
			}
		}
	})
}
