package e2e

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/fake/fakeplatform"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/longtest"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/progtest"
)

// inbound is the secret of a platform, as it stands in its file.
const inbound = "secret-of-the-platform-that-no-model-reads"

// shared is a workspace whose folder of configuration belongs to two users, as the image's
// start leaves it.
func shared(t *testing.T) *member {
	t.Helper()
	m := newMember(t, fakeplatform.AUG)
	for _, dir := range []string{"prompts", "skills/dig", "plugins/p/rules", "secrets.d"} {
		if err := os.MkdirAll(filepath.Join(m.configs, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	m.put("config.yaml", "name: Ada\nprompt_files: [system-prompt.md, prompts/main.md, prompts/second.md]\nskills: [dig]\ninitial_prompt_file: prompts/first.md\n")
	m.put(".platform_inbound_secret", inbound)
	m.put("prompts/main.md", "PERSONA-of-a-folder")
	m.put("prompts/second.md", "second")
	m.put("skills/dig/SKILL.md", "SKILL-dig")
	m.put("plugins/p/rules/a.md", "RULE-a")
	m.put("secrets.d/GIVEN", "value-of-given")
	var errs []error
	for path, owner := range map[string]int{
		".": runtimeUser, "config.yaml": runtimeUser, ".auth_token": runtimeUser, ".platform_inbound_secret": runtimeUser,
		"system-prompt.md": commandUser, "prompts": commandUser, "prompts/main.md": commandUser, "prompts/second.md": commandUser,
		"skills": commandUser, "skills/dig": commandUser, "skills/dig/SKILL.md": commandUser,
		"plugins": commandUser, "plugins/p": commandUser, "plugins/p/rules": commandUser, "plugins/p/rules/a.md": commandUser,
	} {
		errs = append(errs, os.Chown(filepath.Join(m.configs, path), owner, owner))
	}
	for path, mode := range map[string]os.FileMode{".": 0o755, "secrets.d": 0o750, "secrets.d/GIVEN": 0o640} {
		errs = append(errs, os.Chmod(filepath.Join(m.configs, path), mode))
	}
	for _, path := range []string{"secrets.d", "secrets.d/GIVEN"} {
		errs = append(errs, os.Chown(filepath.Join(m.configs, path), runtimeUser, commandUser))
	}
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
	return m
}

// TestPromptsOfTwoUsers: what codex's user may not read reaches neither the model nor a
// command by a link that stands in the place of a prompt, a skill, a rule or a secret.
func TestPromptsOfTwoUsers(t *testing.T) {
	longtest.Mark(t)
	if os.Getuid() != 0 {
		t.Skip("this takes root")
	}
	m := shared(t)
	for link, target := range map[string]string{ // of an earlier runtime that was one user's
		"prompts/first.md": "../.platform_inbound_secret", "secrets.d/LEFT": "../.auth_token",
	} {
		if err := os.Symlink(target, filepath.Join(m.configs, link)); err != nil {
			t.Fatal(err)
		}
	}
	m.program = startAsTwo(t, m.settings()...)
	m.online()
	progtest.WaitFor(t, "the initial prompt to be dealt with", func() bool {
		return strings.Contains(m.Log(), "a prompt of the workspace cannot be read and is not sent") || strings.Contains(m.Log(), "the initial prompt was sent")
	})
	said := text(m.send("m1", "one", "run cd "+m.configs+"; cat .auth_token .platform_inbound_secret config.yaml; echo given $GIVEN, left ${LEFT:-nothing}; "+
		"ln -sf ../.auth_token prompts/main.md && ln -sf ../.platform_inbound_secret prompts/second.md && echo $((40+2)) done"))
	if !strings.Contains(said, "given value-of-given, left nothing") || strings.Count(said, "Permission denied") != 3 || !strings.Contains(said, "42 done") {
		t.Errorf("the command says: %s", said)
	}
	if got := strings.Join(m.developers("PERSONA"), "|"); !strings.Contains(got, "PERSONA-ada") || !strings.Contains(got, "PERSONA-of-a-folder") ||
		!strings.Contains(got, "SKILL-dig") || !strings.Contains(got, "RULE-a") {
		t.Errorf("the model reads %q", got)
	}
	m.again()
	m.send("m2", "two", "say two")
	if got := m.developers("PERSONA-ada"); len(got) == 0 || strings.Contains(got[len(got)-1], "PERSONA-of-a-folder") {
		t.Errorf("after the links were made the model reads %q", got)
	}
	for _, secret := range []string{inbound, strings.TrimSpace(contents(t, filepath.Join(m.configs, ".auth_token")))} {
		for _, r := range m.Model.Requests() {
			if bytes.Contains(r.Body, []byte(secret)) {
				t.Errorf("the model reads %s in request %d", secret, r.Seq)
			}
		}
	}
	if !strings.Contains(m.Log(), "(let user 4242 read it, whom codex runs as, unless a command has made it a link to something else)") {
		t.Errorf("the log says %s", m.Log())
	}
}

// TestTwoUsersSayWhatCanBeChanged: where codex's user can put another configuration into the
// place of the one that is there, doctor says so.
func TestTwoUsersSayWhatCanBeChanged(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("this takes root")
	}
	m := shared(t)
	m.program = startAsTwo(t, m.settings()...)
	check := func(want string) {
		t.Helper()
		out, _ := m.Command("doctor")
		if !strings.Contains(out, want) {
			t.Errorf("doctor says:\n%s\nwant %q in it", out, want)
		}
	}
	check("who cannot read the runtime's state and tokens")
	if err := errors.Join(os.Rename(filepath.Join(m.configs, "config.yaml"), filepath.Join(m.configs, "prompts/config.yaml")),
		os.Symlink("prompts/config.yaml", filepath.Join(m.configs, "config.yaml"))); err != nil {
		t.Fatal(err)
	}
	check("user 4242 can change " + filepath.Join(m.configs, "config.yaml"))
}
