package chaos

import (
	"net/http"
	"regexp"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/fakemodel"
)

var messageID = regexp.MustCompile(`\bm\d+-\d+-[0-9a-f]{6}\b`)

// script is the model: it keeps what it was asked and answers as the plan says.
func (l *Ledger) script(t *fakemodel.Turn) {
	id := messageID.FindString(t.LastUserText())
	how := sound
	defer func() { l.tried(id, how == drops || how == refuses || t.Context().Err() != nil) }()
	l.give(t.UserTexts())
	l.askedBy(t.Socket)
	if len(t.NewToolOutputs()) > 0 {
		fakemodel.Keywords(t)
		l.answered(id)
		return
	}
	var m *Message
	m, how = l.ask(id)
	switch {
	case m == nil:
		l.fault("the model was given words that nobody sent: %.200q", t.LastUserText())
		t.Fail(http.StatusBadRequest, `{"error":{"message":"unknown words"}}`)
	case how == drops:
		t.OpenMessage("final_answer")
		t.Delta("half of an ans")
		t.Drop()
	case how == refuses:
		t.Fail(http.StatusInternalServerError, `{"error":{"message":"scripted"}}`)
	case how == fails:
		t.Fail(http.StatusBadRequest, `{"error":{"message":"scripted"}}`)
	case how == hangs:
		t.Hang()
	case !think(t, m):
	case m.Command:
		fakemodel.Keywords(t)
	default:
		l.say(t, m)
	}
}

// think waits, and reports whether the model is still listened to.
func think(t *fakemodel.Turn, m *Message) bool {
	select {
	case <-t.Context().Done():
		return false
	case <-time.After(m.Think):
		return true
	}
}

func (l *Ledger) say(t *fakemodel.Turn, m *Message) {
	t.OpenMessage("final_answer")
	for n := range m.Pieces {
		select {
		case <-t.Context().Done():
			return
		case <-time.After(m.Every):
		}
		t.Delta(m.piece(n))
	}
	t.EndMessage("")
	l.answered(m.ID)
}
