package preflight

import (
	"strings"
	"testing"
)

// TestCredentialThatIsNone does not tell whoever has set a login to set it.
func TestCredentialThatIsNone(t *testing.T) {
	got := Credential(Credentials{Home: t.TempDir(), Login: true, Shared: true, Unread: true}).Run(t.Context())
	if got.Status != Fail || !strings.Contains(got.Detail, "CODEX_AUTH_JSON is set and is no login") || got.Fix == "" {
		t.Errorf("%+v", got)
	}
}
