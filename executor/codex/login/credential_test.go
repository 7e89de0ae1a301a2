package login

import (
	"encoding/base64"
	"os"
	"path/filepath"
	"testing"
)

// TestWhose: a login that is renewed is the same account's.
func TestWhose(t *testing.T) {
	login := func(account, person, nonce string) string {
		claims := base64.RawURLEncoding.EncodeToString([]byte(`{"jti":"` + nonce + `","sub":"` + person + `","https://api.openai.com/auth":{"chatgpt_user_id":"` + person + `"}}`))
		return `{"auth_mode":"chatgpt","OPENAI_API_KEY":null,"last_refresh":"` + nonce + `","tokens":{"account_id":"` + account + `","id_token":"e30.` + claims + `.x","refresh_token":"` + nonce + `"}}`
	}
	home := t.TempDir()
	path := filepath.Join(home, "auth.json")
	e := New(Config{})
	whose := func(text string) string {
		t.Helper()
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return e.whose(home)
	}
	one := whose(login("a", "p", "1"))
	if one == "" || whose(login("a", "p", "2")) != one {
		t.Error("a login that was renewed is another account's")
	}
	for name, text := range map[string]string{
		"another account": login("b", "p", "1"), "another person": login("a", "q", "1"),
		"a key": `{"OPENAI_API_KEY":"sk-1"}`, "another key": `{"OPENAI_API_KEY":"sk-2"}`,
		"a token of another kind": `{"tokens":{"account_id":"c","id_token":"none"}}`,
		"an access token":         `{"auth_mode":"personalAccessToken","personal_access_token":"at-1"}`,
	} {
		if got := whose(text); got == "" || got == one {
			t.Errorf("%s is %q", name, got)
		}
	}
	if whose(`{"OPENAI_API_KEY":"sk-1"}`) == whose(`{"OPENAI_API_KEY":"sk-2"}`) {
		t.Error("two keys are one")
	}
	if whose(`{"personal_access_token":"at-1"}`) == whose(`{"personal_access_token":"at-2"}`) {
		t.Error("two access tokens are one")
	}
	for name, text := range map[string]string{"without any": `{"auth_mode":"chatgpt","OPENAI_API_KEY":null,"tokens":null}`, "half written": login("a", "p", "1")[:40], "empty": ""} {
		if got := whose(text); got != "" {
			t.Errorf("%s is %q", name, got)
		}
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if got := e.whose(home); got != "" {
		t.Errorf("what is not there is %q", got)
	}
}
