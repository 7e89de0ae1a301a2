package settings

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"testing"
)

func TestSecretsNeverPrint(t *testing.T) {
	const planted = "planted-value-42"
	s := mustLoad(t, nil, "RUNTIME_TOKEN="+planted, "OPENAI_API_KEY="+planted)
	if s.Token.Reveal() != planted || len(s.Secrets()) != 2 {
		t.Fatal("the secrets were not read")
	}
	var b bytes.Buffer
	nested := struct{ hidden Settings }{s}
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%d"} {
		fmt.Fprintf(&b, verb+verb+verb, s.Token, s, nested)
	}
	for _, h := range []slog.Handler{slog.NewJSONHandler(&b, nil), slog.NewTextHandler(&b, nil)} {
		slog.New(h).Info("m", "token", s.Token, "all", s, "pointer", &s)
	}
	if err := json.NewEncoder(&b).Encode(s); err != nil {
		t.Fatal(err)
	}
	hex := fmt.Sprintf("%x", planted)
	if strings.Contains(b.String(), planted) || strings.Contains(b.String(), hex) {
		t.Errorf("printed: %s", b.String())
	}
	if !strings.Contains(b.String(), hidden) {
		t.Error("nothing says that there is a secret")
	}
}

func TestErrorsDoNotQuoteSecrets(t *testing.T) {
	for _, row := range Rows() {
		if row.Secret && strings.Contains(row.problem("planted").Error(), "planted") {
			t.Errorf("%s is quoted", row.Name)
		}
	}
}
