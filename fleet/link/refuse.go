package link

import (
	"context"
	"encoding/json"
	"net/http"
	"time"

	"github.com/coder/websocket"
)

// refusing is how long a client has to ask for what it is refused.
const refusing = 5 * time.Second

// codeRefused is the code of the refusal. codex gives up on any but the one that says that a session is attached
// elsewhere.
const codeRefused = -32001

// refuse takes a connection of codex's and refuses what it asks for first, which is a session.
func refuse(w http.ResponseWriter, r *http.Request, why string) {
	conn, err := websocket.Accept(w, r, nil)
	if err != nil {
		return // it has been answered
	}
	defer conn.CloseNow() //nolint:errcheck // there is nothing to be done about it
	ctx, cancel := context.WithTimeout(context.WithoutCancel(r.Context()), refusing)
	defer cancel()
	_, text, err := conn.Read(ctx)
	if err != nil {
		return
	}
	var asked struct {
		ID json.RawMessage `json:"id"`
	}
	if json.Unmarshal(text, &asked) != nil || asked.ID == nil {
		return
	}
	type refusal struct {
		Code    int    `json:"code"`
		Message string `json:"message"`
	}
	answer, err := json.Marshal(struct {
		ID    json.RawMessage `json:"id"`
		Error refusal         `json:"error"`
	}{asked.ID, refusal{codeRefused, why}})
	if err == nil && conn.Write(ctx, websocket.MessageText, answer) == nil {
		_, _, _ = conn.Read(ctx) // codex closes when it has read it
	}
}
