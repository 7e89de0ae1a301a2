package failure

import (
	"strings"
	"testing"

	"github.com/Molecule-AI/molecule-codex-runtime/appserver"
)

// TestWordsOfErrors: what an endpoint has made codex say is short, and without secrets.
func TestWordsOfErrors(t *testing.T) {
	e := NewReader(func(s string) string { return strings.ReplaceAll(s, "secret", "***") })
	long := strings.Repeat("secret words ", 1<<20)
	failed := &appserver.TurnError{Message: long}
	refused := &appserver.TurnError{Message: long, CodexErrorInfo: []byte(`"unauthorized"`)}
	for name, said := range map[string]string{
		"failure": e.Failure(failed).Message, "refusal": e.Refusal(refused).Why, "warning": e.Words(long),
		"not begun": e.Words((&appserver.RPCError{Method: "turn/start", Message: long}).Error()),
	} {
		if len(said) > mostWords+len("…") || !strings.Contains(said, "*** words") || strings.Contains(said, "secret") {
			t.Errorf("%s: %d bytes: %.100s", name, len(said), said)
		}
	}
	halved := &appserver.TurnError{Message: "*" + strings.Repeat("secret", mostRead/6-1) + "secret of another kind"}
	e.redact = func(s string) string {
		return strings.ReplaceAll(strings.ReplaceAll(s, "secret of another kind", "***"), "secret", "")
	}
	if said := e.Failure(halved).Message; strings.Contains(said, "of") {
		t.Errorf("half of a secret: %q", said)
	}
	if err := (&appserver.RPCError{Message: long}).Error(); len(err) > 5000 {
		t.Errorf("an error of %d bytes is logged", len(err))
	}
}
