package adapter

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/Molecule-AI/molecule-codex-runtime/adapter/provider"
)

func TestCredentials(t *testing.T) {
	file := filepath.Join(t.TempDir(), "key")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	got := Credentials([]string{
		"PATH=/usr/bin", "WORKSPACE_ID=the-id-of-it", "KEYBOARD=english-dvorak", "RUNTIME_TOKEN=the-token-of-it", "DB_PASSWORD=a-password",
		"PIN_TOKEN=1234567", "SSH_KEY=" + file, "MINIMAX_API_KEY=short-k",
		"OTEL_EXPORTER_OTLP_HEADERS=authorization=Bearer%20the-bearer,x=y",
		"HTTPS_PROXY=http://user:of-the-proxy@proxy:3128", "DATABASE_URL=postgres://user@db/x",
		`CODEX_AUTH_JSON={"OPENAI_API_KEY":"key-of-login","tokens":{"access_token":"access-of-login","refresh_token":"refresh-of-login","id_token":"id-of-login"}}`,
		"CODEX_CHATGPT_AUTH_JSON=broken", "HOUSE=of-the-house",
		"AWS_BEARER_TOKEN_BEDROCK=of-the-bedrock", "SENTRY_DSN=https://of-sentry@o1.example/2", "DB_DSN=mysql://user:of-the-dsn@db/x", "ODBC_DSN=analytics",
		"GITHUB_TOKEN_CI=a1b2c3/d4e5f6+g7==", "SECRET_KEY_BASE=0123456789abcdef", "LITELLM_MASTER_KEY=of-litellm", "OPENAI_MAX_TOKENS=4096",
		"TOKEN_URL=https://example.com/token1", "GPG_KEY_ID=0123456789ABCDEF", "ACCESS_TOKEN_EXPIRE_MINUTES=30", "SSH_KEY_FILE=/home/agent/.ssh/id_ed25519",
		"TOKEN_ADVICE=renew it in 2027, please", "DEPLOY_KEY_SOURCE=vault://kv/deploy/2026", "KEY_STRATEGY=rotate-every-quarter",
	}, []provider.Entry{{Name: "house", AuthEnv: []string{"HOUSE"}}})
	want := []string{
		"the-token-of-it", "a-password", "short-k", "authorization=Bearer%20the-bearer,x=y", "the-bearer", "of-the-proxy",
		"key-of-login", "access-of-login", "refresh-of-login", "id-of-login", "of-the-house",
		"of-the-bedrock", "https://of-sentry@o1.example/2", "mysql://user:of-the-dsn@db/x", "of-the-dsn",
		"a1b2c3/d4e5f6+g7==", "0123456789abcdef", "of-litellm",
	}
	if !slices.Equal(got, want) {
		t.Errorf("secret are %q, want %q", got, want)
	}
	if names := CredentialNames([]string{"GH_TOKEN=x", "A=b", "EMPTY_KEY=", "PATH=/"}); !slices.Equal(names, []string{"GH_TOKEN"}) {
		t.Errorf("names are %q", names)
	}
}

func TestSecretsInConfig(t *testing.T) {
	const text = `
name: worker
governance: {webhook_secret: of-the-webhook, max_tokens: 4096, list: [{password: in-a-list}]}
providers:
- {name: house, base_url: "https://user:of-the-url@example.com", auth_env: [HOUSE_KEY, sk-instead-of-a-name], api_key: of-the-house}
- {name: other, auth_env: in-place-of-a-list}
`
	c, _, err := ParseConfig("config.yaml", []byte(text))
	slices.Sort(c.Secrets)
	want := []string{"in-a-list", "in-place-of-a-list", "of-the-house", "of-the-url", "of-the-webhook", "sk-instead-of-a-name"}
	if err != nil || !slices.Equal(c.Secrets, want) {
		t.Errorf("secret are %q, want %q; %v", c.Secrets, want, err)
	}
}

func TestErrorsOfConfigQuoteNoSecret(t *testing.T) {
	_, _, err := ParseConfig("config.yaml", []byte("api_key: *a-secret-with-a-star\n"))
	if err == nil || strings.Contains(err.Error(), "a-secret") || !strings.Contains(err.Error(), "anchor") {
		t.Errorf("the error is %v", err)
	}
}
