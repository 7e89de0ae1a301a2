package deploy

import (
	"encoding/xml"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/Molecule-AI/molecule-codex-runtime/connect"
)

// settingsFile is where the block of the Connect dialog puts a workspace's settings,
// below the home.
const settingsFile = ".config/molecule-codex/"

func TestSettingsAreWhereTheyAreLookedFor(t *testing.T) {
	block := connect.Template(connect.Release{})
	if !strings.Contains(block, "dir=$HOME/.config/molecule-codex\n") || !strings.Contains(block, `"$dir/$id.env"`) {
		t.Error("the block of the Connect dialog puts the settings somewhere else")
	}
}

// unit reads the values of a unit file.
func unit(t *testing.T) map[string][]string {
	t.Helper()
	text, err := os.ReadFile("systemd/molecule-codex@.service")
	if err != nil {
		t.Fatal(err)
	}
	values := map[string][]string{}
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		if name, value, ok := strings.Cut(line, "="); ok && !strings.HasPrefix(line, "#") {
			values[name] = append(values[name], value)
		}
	}
	return values
}

func TestUnit(t *testing.T) {
	values := unit(t)
	for name, want := range map[string]string{
		"EnvironmentFile": "%h/" + settingsFile + "%i.env",
		"KillMode":        "mixed", "KillSignal": "SIGINT", "NoNewPrivileges": "yes",
		"SystemCallArchitectures": "native", // the check x32 names it
	} {
		if !slices.Contains(values[name], want) {
			t.Errorf("%s is %q, want %q", name, values[name], want)
		}
	}
	if values["RestartPreventExitStatus"] != nil {
		t.Error("a crash of Go's ends with 2, as settings do that cannot be used, and has to be started again")
	}
	// With the first two, commands of codex's do not start, or break. With the others
	// nobody has seen its sandbox start.
	for _, name := range []string{"RestrictNamespaces", "MemoryDenyWriteExecute", "PrivateUsers", "ProtectKernelTunables", "ProtectProc"} {
		if values[name] != nil {
			t.Errorf("%s is set: see the comment in the unit", name)
		}
	}
	if !strings.Contains(strings.Join(values["RestrictAddressFamilies"], " "), "AF_NETLINK") {
		t.Error("codex's sandbox cannot set its network up")
	}
	for _, filter := range values["SystemCallFilter"] {
		if !strings.HasPrefix(filter, "~") || strings.Contains(filter, "@mount") || strings.Contains(filter, "@sandbox") {
			t.Errorf("SystemCallFilter=%s keeps codex's sandbox from starting", filter)
		}
	}
}

// TestUnitFindsCodexOfNvm runs what systemd would run.
func TestUnitFindsCodexOfNvm(t *testing.T) {
	home := t.TempDir()
	program(t, filepath.Join(home, ".nvm/versions/node/v22.1.0/bin/codex"), "echo codex of nvm")
	program(t, filepath.Join(home, ".local/bin/molecule-runtime"), `echo "$*: $(codex)"`)
	values := unit(t)
	line := strings.NewReplacer("%h", home, "$$", "$").Replace(values["ExecStart"][0])
	script, ok := strings.CutPrefix(line, "/bin/sh -c '")
	if !ok {
		t.Fatalf("ExecStart is %s", line)
	}
	cmd := exec.CommandContext(t.Context(), "/bin/sh", "-c", strings.TrimSuffix(script, "'"))
	path := strings.ReplaceAll(strings.TrimPrefix(values["Environment"][0], "PATH="), "%h", home)
	cmd.Env = []string{"HOME=" + home, "PATH=" + path}
	if out, err := cmd.CombinedOutput(); err != nil || string(out) != "channel: codex of nvm\n" {
		t.Errorf("%v: %s", err, out)
	}
}

// TestUnitAsSystemdReadsIt runs where systemd is.
func TestUnitAsSystemdReadsIt(t *testing.T) {
	analyze, err := exec.LookPath("systemd-analyze")
	if err != nil {
		t.Skip(err)
	}
	home := t.TempDir()
	program(t, filepath.Join(home, ".local/bin/molecule-runtime"), "exit 0")
	text, err := os.ReadFile("systemd/molecule-codex@.service")
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(home, "molecule-codex@abc.service")
	if err := os.WriteFile(file, text, 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), analyze, "--user", "verify", file)
	cmd.Env = []string{"HOME=" + home, "XDG_RUNTIME_DIR=" + home, "PATH=" + os.Getenv("PATH")}
	if out, err := cmd.CombinedOutput(); err != nil || strings.Contains(string(out), filepath.Base(file)) {
		t.Errorf("%v: %s", err, out)
	}
}

func program(t *testing.T, name, script string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte("#!/bin/sh\n"+script+"\n"), 0o700); err != nil {
		t.Fatal(err)
	}
}

// plist reads a property list: dict, array, string, integer, true and false.
func plist(t *testing.T, name string) any {
	t.Helper()
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	d := xml.NewDecoder(f)
	d.Strict = true
	for {
		token, err := d.Token()
		if err != nil {
			t.Fatalf("%s: no plist in it: %v", name, err)
		}
		if start, ok := token.(xml.StartElement); ok && start.Name.Local == "plist" {
			all := children(t, d)
			if len(all) != 1 {
				t.Fatalf("%s: %d values in the plist", name, len(all))
			}
			if _, err := d.Token(); err != nil && !errors.Is(err, io.EOF) {
				t.Fatal(err)
			}
			return all[0]
		}
	}
}

// A key is one of a dict.
type key string

// children reads values up to the end of the element that they are in.
func children(t *testing.T, d *xml.Decoder) (all []any) {
	t.Helper()
	for {
		token, err := d.Token()
		if err != nil {
			t.Fatal(err)
		}
		switch token := token.(type) {
		case xml.EndElement:
			return all
		case xml.CharData:
			if strings.TrimSpace(string(token)) != "" {
				t.Fatalf("text where a value belongs: %q", token)
			}
		case xml.StartElement:
			all = append(all, value(t, d, token))
		}
	}
}

func value(t *testing.T, d *xml.Decoder, start xml.StartElement) any {
	t.Helper()
	switch kind := start.Name.Local; kind {
	case "true", "false":
		if children(t, d) != nil {
			t.Fatalf("%s holds something", kind)
		}
		return kind == "true"
	case "key", "string", "integer":
		var text string
		if err := d.DecodeElement(&text, &start); err != nil {
			t.Fatal(err)
		}
		if kind == "key" {
			return key(text)
		}
		return text
	case "array":
		return children(t, d)
	case "dict":
		all, dict := children(t, d), map[string]any{}
		for i := 0; i < len(all); i += 2 {
			name, ok := all[i].(key)
			if !ok || i+1 == len(all) {
				t.Fatalf("a dict without a key or a value at %v", all[i])
			}
			dict[string(name)] = all[i+1]
		}
		return dict
	default:
		t.Fatalf("%s stands in no property list", kind)
		return nil
	}
}

// TestAgentOfLaunchd runs what launchd would run.
func TestAgentOfLaunchd(t *testing.T) {
	dict, ok := plist(t, "launchd/com.molecule.codex.plist").(map[string]any)
	if !ok || dict["Label"] != "com.molecule.codex" || dict["RunAtLoad"] != true || dict["ExitTimeOut"] != "60" {
		t.Fatalf("%v", dict)
	}
	var args []string
	for _, arg := range dict["ProgramArguments"].([]any) {
		args = append(args, strings.ReplaceAll(arg.(string), "WORKSPACE_ID", "abc-1"))
	}
	home := t.TempDir()
	program(t, filepath.Join(home, ".local/bin/molecule-runtime"), `echo "$* in $WORKSPACE_ID" >"$HOME/seen"; echo words >&2`)
	for _, dir := range []string{settingsFile, "Library/Logs"} {
		if err := os.MkdirAll(filepath.Join(home, dir), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	run := func() error {
		cmd := exec.CommandContext(t.Context(), args[0], args[1:]...)
		cmd.Env = []string{"HOME=" + home, "PATH=" + os.Getenv("PATH")}
		return cmd.Run()
	}
	if exit, ok := errors.AsType[*exec.ExitError](run()); !ok || exit.ExitCode() != 2 {
		t.Errorf("without settings: %v", exit)
	}
	if err := os.WriteFile(filepath.Join(home, settingsFile, "abc-1.env"), []byte("WORKSPACE_ID=abc-1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := run(); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"seen": "channel in abc-1\n", "Library/Logs/molecule-codex.log": "words\n"} {
		if got, err := os.ReadFile(filepath.Join(home, name)); err != nil || !strings.HasSuffix(string(got), want) {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
}
