package server

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"strings"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2acompat/a2av0"
	"github.com/go-chi/chi/v5"
)

// restRoutesV0 mounts the HTTP+JSON binding of 0.3 under /v1, and the card where
// the versions before it had it.
func (s *Server) restRoutesV0(r chi.Router) {
	v0 := s.restV0(a2av0.NewRESTHandler(s.guard, s.transportOptions()...))
	r.Post("/v1/message:send", v0)
	r.Post("/v1/message:stream", v0)
	r.Get("/v1/tasks", v0)
	r.Get("/v1/tasks/{task}", v0)
	r.Post("/v1/tasks/{task}", v0)
	r.Post("/v1/tasks/{task}/pushNotificationConfigs", v0)
	r.Get("/v1/tasks/{task}/pushNotificationConfigs", v0)
	r.Get("/v1/tasks/{task}/pushNotificationConfigs/{config}", v0)
	r.Delete("/v1/tasks/{task}/pushNotificationConfigs/{config}", v0)
	r.Get("/v1/card", s.cardV0)
	r.Get("/agent/authenticatedExtendedCard", s.cardV0)
}

// cardV0 is the extended card in the form of 0.3: the SDK's leaves out what only
// the card of 1.0 has.
func (s *Server) cardV0(w http.ResponseWriter, r *http.Request) {
	if _, ok := s.restOpen(w, r); !ok {
		return
	}
	ctx := s.withCall(r, true)
	var body json.RawMessage
	card, err := s.guard.GetExtendedAgentCard(ctx, &a2a.GetExtendedAgentCardRequest{})
	if err == nil {
		body, err = unionCard(ctx, card)
	}
	if err = s.guard.public(ctx, "card", err); err != nil {
		s.log.DebugContext(ctx, "extended card refused", slog.Any("err", err))
		writeRESTError(w, r, err)
		return
	}
	writeREST(w, r, http.StatusOK, body)
}

// checkRESTv0 says what is wrong with a request where the SDK has one text for
// everything.
func (s *Server) checkRESTv0(r *http.Request, body json.RawMessage) error {
	if strings.Contains(r.URL.Path, "/pushNotificationConfigs") {
		return s.guard.checkPush()
	}
	q := query{r.URL.Query()}
	for _, name := range []string{"pageSize", "historyLength"} {
		if _, err := q.number(name); err != nil {
			return err
		}
	}
	if _, err := q.flag("includeArtifacts"); err != nil {
		return err
	}
	if _, err := q.time("lastUpdatedAfter"); err != nil {
		return err
	}
	if !strings.HasPrefix(r.URL.Path, "/v1/message:") {
		return nil
	}
	return checkMessageRESTv0(orEmpty(body))
}

// checkMessageRESTv0 checks a message of this binding: it is that of the
// protocol buffers of 0.3, neither that of JSON-RPC nor that of 1.0.
func checkMessageRESTv0(body json.RawMessage) error {
	o, err := asObject(body, "the body")
	if err != nil {
		return err
	}
	if !o.has("message") {
		return invalidParams("message is missing")
	}
	msg, err := asObject(o["message"], "message")
	if err != nil {
		return err
	}
	const hint = "; this path is the HTTP+JSON binding of A2A 0.3, with message.content and ROLE_USER"
	switch {
	case !msg.has("content") && msg.has("parts"):
		return invalidParams("message has parts, which is how 1.0 and JSON-RPC write it%s", hint)
	case !msg.has("content"):
		return invalidParams("message.content is missing")
	case msg.text("role") == "user" || msg.text("role") == "agent":
		return invalidParams("message.role is %s, which is how JSON-RPC writes it%s", quote(msg.text("role")), hint)
	}
	var parts []json.RawMessage
	if json.Unmarshal(msg["content"], &parts) != nil {
		return invalidParams("message.content must be an array")
	}
	for i, raw := range parts {
		where := fmt.Sprintf("message.content[%d]", i)
		part, err := asObject(raw, where)
		if err != nil {
			return err
		}
		if part.has("kind") {
			return invalidParams("%s has a kind, which is how JSON-RPC writes it%s", where, hint)
		}
		if !part.has("text") && !part.has("file") && !part.has("data") {
			return invalidParams("%s must have one of text, file and data", where)
		}
	}
	return nil
}
