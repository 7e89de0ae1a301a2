// Package fakelogin is an issuer of ChatGPT logins for tests: an HTTP server that
// speaks as much of the device-code flow, of token renewal and of the account's
// look-up as codex 0.169.0 asks for. Nothing that it issues is worth anything.
//
// codex is sent to it by [Issuer.Env], and by the configuration in [Issuer.Config].
package fakelogin

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"
)

// The person that logs in, and the code.
const (
	Email    = "someone@example.com"
	UserCode = "ABCD-EFGH"
)

// An Issuer is one such server. It ends with its test.
type Issuer struct {
	URL string

	mu       sync.Mutex // guards the fields below
	approved bool
	burnt    bool   // refresh tokens are refused
	first    func() // is called before one is, once
	codes    int
	renewals int
	tokens   int
}

// Start runs an issuer until the test ends.
func Start(tb testing.TB) *Issuer {
	tb.Helper()
	i := &Issuer{}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /api/accounts/deviceauth/usercode", i.userCode)
	mux.HandleFunc("POST /api/accounts/deviceauth/token", i.deviceToken)
	mux.HandleFunc("POST /oauth/token", i.token)
	mux.HandleFunc("GET /backend-api/wham/accounts/check", i.check)
	mux.HandleFunc("GET /backend-api/wham/usage", i.usage)
	mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) { answer(w, http.StatusNotFound, map[string]any{}) })
	server := httptest.NewServer(mux)
	tb.Cleanup(server.Close)
	i.URL = server.URL
	return i
}

// Env is what codex needs in its environment.
func (i *Issuer) Env() []string {
	return []string{"CODEX_APP_SERVER_LOGIN_ISSUER=" + i.URL, "CODEX_REFRESH_TOKEN_URL_OVERRIDE=" + i.URL + "/oauth/token"}
}

// Config is what codex needs in its config.toml, with the model at modelURL.
func (i *Issuer) Config(modelURL string) string {
	return fmt.Sprintf("openai_base_url = %q\nchatgpt_base_url = %q\n[features]\nenable_request_compression = false\n", modelURL, i.URL+"/backend-api/")
}

// Approve is the person who enters the code.
func (i *Issuer) Approve() { i.set(func() { i.approved = true }) }

// Burn has every refresh token refused from now on, as one that was used before.
func (i *Issuer) Burn() { i.set(func() { i.burnt = true }) }

// BurnBehind is Burn, with what is done between the first request and its refusal.
func (i *Issuer) BurnBehind(first func()) { i.set(func() { i.burnt, i.first = true, first }) }

// Codes returns how many device codes were given out.
func (i *Issuer) Codes() int { return i.get(&i.codes) }

// Renewals returns how often a token was renewed, or that was refused.
func (i *Issuer) Renewals() int { return i.get(&i.renewals) }

func (i *Issuer) set(change func()) {
	i.mu.Lock()
	defer i.mu.Unlock()
	change()
}

func (i *Issuer) get(n *int) int {
	i.mu.Lock()
	defer i.mu.Unlock()
	return *n
}

// Auth is an auth.json with a login of this issuer.
func (i *Issuer) Auth() []byte { return i.AuthUntil(time.Now().Add(time.Hour)) }

// AuthUntil is Auth with the time when its access token expires.
func (i *Issuer) AuthUntil(expiry time.Time) []byte {
	i.mu.Lock()
	defer i.mu.Unlock()
	tokens := i.issueLocked(expiry)
	tokens["account_id"] = "account-1"
	text, err := json.Marshal(map[string]any{
		"auth_mode": "chatgpt", "OPENAI_API_KEY": nil, "tokens": tokens, "last_refresh": time.Now().UTC().Format(time.RFC3339),
	})
	if err != nil {
		panic("fakelogin: " + err.Error()) // only values of our own come here
	}
	return text
}

func (i *Issuer) userCode(w http.ResponseWriter, _ *http.Request) {
	i.set(func() { i.codes++ })
	answer(w, http.StatusOK, map[string]any{"device_auth_id": "device-1", "user_code": UserCode, "interval": "1"})
}

func (i *Issuer) deviceToken(w http.ResponseWriter, _ *http.Request) {
	approved := false
	i.set(func() { approved = i.approved })
	if !approved {
		answer(w, http.StatusForbidden, map[string]any{})
		return
	}
	answer(w, http.StatusOK, map[string]any{"authorization_code": "code-1", "code_challenge": "c", "code_verifier": "v"})
}

// token is asked for the first tokens with a form, and for later ones with JSON.
func (i *Issuer) token(w http.ResponseWriter, r *http.Request) {
	renews := strings.Contains(r.Header.Get("Content-Type"), "json")
	if first := i.behind(); renews && first != nil {
		first()
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	if renews {
		i.renewals++
		if i.burnt {
			answer(w, http.StatusUnauthorized, map[string]any{"error": map[string]any{
				"message": "the refresh token was used before", "code": "refresh_token_reused",
			}})
			return
		}
	} else {
		i.burnt = false // these are others
	}
	answer(w, http.StatusOK, i.issueLocked(time.Now().Add(time.Hour)))
}

// behind takes what is to be done first.
func (i *Issuer) behind() (first func()) {
	i.set(func() { first, i.first = i.first, nil })
	return first
}

// issueLocked makes tokens.
func (i *Issuer) issueLocked(expiry time.Time) map[string]any {
	i.tokens++
	claims := map[string]any{
		"email": Email, "exp": expiry.Unix(), "jti": i.tokens,
		"https://api.openai.com/auth": map[string]any{
			"chatgpt_plan_type": "pro", "chatgpt_account_id": "account-1", "chatgpt_user_id": "user-1", "user_id": "user-1",
		},
	}
	return map[string]any{
		"id_token": unsigned(claims), "access_token": unsigned(claims), "refresh_token": fmt.Sprintf("refresh-%d", i.tokens),
	}
}

// unsigned is a JWT whose signature nobody could check.
func unsigned(claims map[string]any) string {
	part := func(v any) string {
		text, err := json.Marshal(v)
		if err != nil {
			panic("fakelogin: " + err.Error()) // only values of our own come here
		}
		return base64.RawURLEncoding.EncodeToString(text)
	}
	return part(map[string]any{"alg": "none", "typ": "JWT"}) + "." + part(claims) + "." + base64.RawURLEncoding.EncodeToString([]byte("none"))
}

func (i *Issuer) check(w http.ResponseWriter, _ *http.Request) {
	answer(w, http.StatusOK, map[string]any{
		"default_account_id": "account-1", "account_ordering": []string{"account-1"},
		"accounts": []any{map[string]any{
			"id": "account-1", "name": "Work", "structure": "personal", "plan_type": "pro",
			"workspace_backend_origin": "https://chatgpt.com", "account_routing_override": "NO_CONSTRAINT",
			"is_deactivated": false, "is_fedramp_compliant_workspace": false, "can_access_with_session": true,
		}},
	})
}

// usage is what is used of the allowance: a quarter of that of five hours.
func (i *Issuer) usage(w http.ResponseWriter, _ *http.Request) {
	answer(w, http.StatusOK, map[string]any{
		"plan_type": "pro",
		"rate_limit": map[string]any{
			"allowed": true, "limit_reached": false, "secondary_window": nil,
			"primary_window": map[string]any{
				"used_percent": 25, "limit_window_seconds": 5 * 60 * 60, "reset_after_seconds": 3600,
				"reset_at": time.Now().Add(time.Hour).Unix(),
			},
		},
	})
}

func answer(w http.ResponseWriter, status int, body map[string]any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body)
}
