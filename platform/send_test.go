package platform_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/fake/fakeplatform"
	"github.com/Molecule-AI/molecule-codex-runtime/platform"
)

func TestReplies(t *testing.T) {
	s := newSite(t, fakeplatform.AUG)
	for name, c := range map[string]struct {
		status       int
		body         string
		text, reason string
		queued       bool
	}{
		"message":         {200, `{"result":{"kind":"message","parts":[{"kind":"text","text":"a"},{"kind":"file"},{"kind":"text","text":"b"}]}}`, "a\nb", "", false},
		"type":            {200, `{"result":{"parts":[{"type":"text","text":"a"}]}}`, "a", "", false},
		"root":            {200, `{"result":{"parts":[{"root":{"kind":"text","text":"a"}}]}}`, "a", "", false},
		"string":          {200, `{"result":"a"}`, "a", "", false},
		"task":            {200, `{"result":{"kind":"task","status":{"state":"completed","message":{"parts":[{"text":"working"}]}},"artifacts":[{"parts":[{"kind":"text","text":"a"}]}]}}`, "a", "", false},
		"status":          {200, `{"result":{"status":{"state":"failed","message":{"parts":[{"text":"why"}]}}}}`, "why", "", false},
		"version 1":       {200, `{"result":{"message":{"role":"ROLE_AGENT","parts":[{"text":"a"}]}}}`, "a", "", false},
		"version 1, task": {200, `{"result":{"task":{"status":{"state":"TASK_STATE_COMPLETED"},"artifacts":[{"parts":[{"text":"a"}]}]}}}`, "a", "", false},
		"no text":         {200, `{"result":{"parts":[]}}`, "", "", false},
		"null error":      {200, `{"result":"a","error":null}`, "a", "", false},
		"queued status":   {200, `{"result":{"status":"queued","parts":[{"kind":"text","text":"a"}]}}`, "a", "", false},
		"a queued peer":   {200, `{"status":"queued","result":"a"}`, "a", "", false},
		"poll":            {200, `{"status":"queued","delivery_mode":"poll","method":"message/send"}`, "", "", true},
		"busy":            {202, `{"queued":true,"queue_id":"q","queue_depth":1,"message":"busy"}`, "", "", true},
		"busy canvas":     {200, `{"status":"queued","queued":true}`, "", "", true},
		"json-rpc error":  {200, `{"error":{"code":-32601,"message":"no such method"}}`, "", "the peer answers: no such method (code=-32601)", false},
		"plain error":     {200, `{"error":"agent returned empty response body"}`, "", "agent returned empty response body", false},
		"no result":       {200, `{}`, "", "no result", false},
		"no object":       {200, `[]`, "", "no object", false},
		"empty":           {200, ``, "", "not understood", false},
		"html":            {200, `<html>secret</html>`, "", "not understood", false},
		"budget":          {402, `{"error":"budget exceeded"}`, "", "402 Payment Required", false},
	} {
		t.Run(strings.ReplaceAll(name, " ", "-"), func(t *testing.T) {
			body := c.body
			if body == "" {
				body = "\n"
			}
			defer s.p.Behave("*/a2a", fakeplatform.Refuse(c.status, body))()
			reply, err := s.Send(t.Context(), "peer", platform.Message{ID: "m", Text: "hi"})
			if reply.Text != c.text || reply.Queued != c.queued || (err == nil) != (c.reason == "") {
				t.Errorf("%v: %+v", err, reply)
			}
			if err != nil && (!strings.Contains(err.Error(), c.reason) || strings.Contains(err.Error(), "secret")) {
				t.Errorf("%v", err)
			}
			if queued := platform.QueuedText(c.body); queued != c.queued {
				t.Errorf("as a preview it is %t", queued)
			}
		})
	}
	s.p.Behave("*/a2a", fakeplatform.Refuse(200, `{"error":{"code":-32601,"message":"x"}}`))
	_, err := s.Send(t.Context(), "peer", platform.Message{})
	if refused, ok := errors.AsType[*platform.PeerError](err); !ok || refused.Code != -32601 {
		t.Errorf("%v", err)
	}
}

// TestQueuedForReal has both kinds of waiting come from the double.
func TestQueuedForReal(t *testing.T) {
	s := newSite(t, fakeplatform.AUG)
	polls := s.p.Add(fakeplatform.Workspace{Poll: true})
	reply, err := s.Send(t.Context(), polls.ID(), platform.Message{ID: "m", Text: "hi"})
	if err != nil || !reply.Queued || reply.DeliveryMode != "poll" {
		t.Errorf("%v: %+v", err, reply)
	}
	if rows := polls.Rows(); len(rows) != 1 || rows[0].Source != s.w.ID() {
		t.Errorf("%+v", rows)
	}
}

// TestNoSecretInErrors has the platform echo what it was sent.
func TestNoSecretInErrors(t *testing.T) {
	t.Parallel()
	s := newSite(t, fakeplatform.AUG, func(c *platform.Config) { c.Token.Value = "planted-value" })
	s.register(t)
	token, secret := s.w.Token(), s.w.InboundSecret()
	for _, status := range []int{200, 400, 401, 500} {
		for _, body := range []string{
			token + " " + secret + " planted-value", `{"error":"bad token ` + token + `"}`, strings.Repeat("x ", 250) + token, "\"" + token,
		} {
			if status == 500 && body[0] != '{' {
				continue // what is repeated takes its time
			}
			undo := s.p.Behave("*", fakeplatform.Refuse(status, body))
			errs := []error{
				s.Notify(t.Context(), "private words"), s.Heartbeat(t.Context(), platform.Beat{}),
				func() error { _, err := s.Workspace(t.Context()); return err }(),
				func() error { _, err := s.Secrets(t.Context()); return err }(),
			}
			undo()
			for _, err := range errs {
				text := ""
				if err != nil {
					text = err.Error() + platform.ReasonOf(err)
				}
				for _, planted := range []string{token, token[:20], secret, "planted-value", "private words"} {
					if strings.Contains(text, planted) {
						t.Errorf("%d: %s", status, text)
					}
				}
			}
		}
	}
	s.p.Outage(true)
	if _, _, err := s.RecallMemory(t.Context(), platform.Recall{Query: "private words"}); err == nil || strings.Contains(err.Error(), "private") {
		t.Errorf("in an outage: %v", err)
	}
}
