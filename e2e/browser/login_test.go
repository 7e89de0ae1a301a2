package browser

import (
	"testing"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/progtest"
)

// TestLogin lets in whoever has the token.
func TestLogin(t *testing.T) {
	t.Parallel()
	const token = "a-token-that-is-long-enough-for-everybody"
	r := start(t, "RUNTIME_TOKEN="+token, "RUNTIME_ADDR="+progtest.FreeAddr(t))
	p := open(t, r.URL+"/console")
	p.sees("label", "Token")
	p.contrast("the login")
	p.picture("login")
	p.write("#token", "not-the-token\r")
	p.sees("[role=alert]", "not the token")
	p.write("#token", token+"\r")
	p.sees("#link", "Live")
	if cookies := p.eval("document.cookie"); cookies != "" {
		t.Errorf("scripts can read %q", cookies)
	}
	p.begin("login", "say let in")
	p.sees(".message", "let in")

	r.Kill() // with it its sessions
	r.Program = r.Restart()
	p.sees("#banners", "logged out")
	p.press("#banners", "Log in")
	p.sees("label", "Token")
	p.write("#token", token+"\r")
	p.sees("#link", "Live")
	p.press(".bar", "Log out")
	p.sees("label", "Token")
}
