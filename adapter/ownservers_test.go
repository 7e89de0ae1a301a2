package adapter

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestFoldersOfServers(t *testing.T) {
	for name, c := range map[string]struct{ system, config, want string }{
		"none":          {"", "model = 'x'", ""},
		"plain":         {"", "[mcp_servers.a]\ncommand = 'npx'\nargs = ['-y', 'secret']\nenv = { K = 'secret' }", `mcp_servers={"a"={command="npx",cwd="/h"}}`},
		"helper":        {"", "[mcp_servers.a]\nurl = 'http://x'\nhttp_headers_helper = 'python3 -m x'", ""},
		"url":           {"", "[mcp_servers.a]\nurl = 'http://x'", ""},
		"quoted":        {"", "[mcp_servers.'a.b']\ncommand = 'npx'", `mcp_servers={"a.b"={command="npx",cwd="/h"}}`},
		"inline":        {"", "mcp_servers = { b = { command = 'y' }, a = { command = 'x' } }", `mcp_servers={"a"={command="x",cwd="/h"},"b"={command="y",cwd="/h"}}`},
		"dotted":        {"", "mcp_servers.a.command = 'x'", `mcp_servers={"a"={command="x",cwd="/h"}}`},
		"own-folder":    {"", "[mcp_servers.a]\ncommand = 'x'\ncwd = '/srv'", ""},
		"remote":        {"", "[mcp_servers.a]\nurl = 'https://x'", ""},
		"odd":           {"", "mcp_servers = { a = 1, b = { command = 2 } }", ""},
		"of-system":     {"[mcp_servers.a]\ncommand = 'x'", "", `mcp_servers={"a"={command="x",cwd="/h"}}`},
		"system-folder": {"[mcp_servers.a]\ncommand = 'x'\ncwd = '/srv'", "[mcp_servers.a]\ncommand = 'y'", ""},
		"over-system":   {"[mcp_servers.a]\ncommand = 'x'", "[mcp_servers.a]\ncommand = 'y'\n[mcp_servers.b]\ncommand = 'z'", `mcp_servers={"a"={command="y",cwd="/h"},"b"={command="z",cwd="/h"}}`},
	} {
		t.Run(name, func(t *testing.T) {
			l := Launch{Home: "/h", WorkDir: "/w", Sandboxed: true, SystemConfig: c.system, UserConfig: c.config}
			args := l.Args()
			if c.want == "" {
				if strings.Contains(strings.Join(args, " "), "mcp_servers") {
					t.Errorf("codex is started with %q", args)
				}
			} else if !slices.Equal(args[:2], []string{"-c", c.want}) { // it takes back what stands before it
				t.Errorf("codex is started with %q, want %q first", args[:2], c.want)
			}
			if l.Sandboxed = false; strings.Contains(strings.Join(l.Args(), " "), "mcp_servers") {
				t.Errorf("without a sandbox: %q", l.Args())
			}
		})
	}
}

// TestServersOfATrustedFolder are started where those of the operator's are, and doubted as they are.
func TestServersOfATrustedFolder(t *testing.T) {
	const trusts = "[projects.'/w']\ntrust_level = 'trusted'\n"
	folder := Folder{Names: []string{"/w"}, Dir: "/w/.codex", Config: "[mcp_servers.a]\ncommand = 'npx'\n[mcp_servers.b]\ncommand = 'y'\n[mcp_servers.c]\ncommand = '/w/c'\ncwd = '/srv'\n"}
	for name, c := range map[string]struct{ config, want, doubt string }{
		"trusted":     {trusts, `mcp_servers={"a"={command="npx",cwd="/h"},"b"={command="y",cwd="/h"}}`, "the program of the MCP server c is /w/c"},
		"over-ours":   {trusts + "[mcp_servers.a]\ncommand = 'x'\ncwd = '/srv'\n", `mcp_servers={"b"={command="y",cwd="/h"}}`, "the program of the MCP server c is /w/c"},
		"not-trusted": {"[mcp_servers.a]\ncommand = 'x'\n", `mcp_servers={"a"={command="x",cwd="/h"}}`, ""},
	} {
		l := Launch{Home: "/h", WorkDir: "/w", Sandboxed: true, UserConfig: c.config, Project: Project{Names: []string{"/w"}, Folders: []Folder{folder}}}
		if args := l.Args(); !slices.Equal(args[:2], []string{"-c", c.want}) {
			t.Errorf("%s: codex is started with %q, want %q first", name, args[:2], c.want)
		}
		if doubts := l.doubts(); (c.doubt != "") != (len(doubts) == 1) || c.doubt != "" && !strings.Contains(doubts[0].Text, c.doubt) {
			t.Errorf("%s: %v, want %q", name, doubts, c.doubt)
		}
	}
}

func TestDoubtsOfTheOperatorsPrograms(t *testing.T) {
	for name, c := range map[string]struct{ config, want string }{
		"nothing":        {"notify = ['notify-send']\n[mcp_servers.a]\ncommand = 'npx'\nargs = ['/w/x']", ""},
		"folder":         {"[mcp_servers.a]\ncommand = 'npx'\ncwd = '/w/x'", "the MCP server a is started in /w/x"},
		"helper":         {"[mcp_servers.a]\nurl = 'http://x'\nhttp_headers_helper = 'x'", ""},
		"helper-dotted":  {"[mcp_servers.'a.b']\nurl = 'http://x'\nhttp_headers_helper = 'x'", "the http_headers_helper of the MCP server a.b"},
		"folder-outside": {"[mcp_servers.a]\ncommand = 'npx'\ncwd = '/srv'", ""},
		"root":           {"[sandbox_workspace_write]\nwritable_roots = ['/srv']\n[mcp_servers.a]\ncommand = 'npx'\ncwd = '/srv/x'", "the MCP server a is started in /srv/x"},
		"relative":       {"[mcp_servers.a]\ncommand = 'npx'\ncwd = '../w'", "the MCP server a is started in ../w"},
		"program":        {"[mcp_servers.a]\ncommand = '/w/bin/x'", "the program of the MCP server a is /w/bin/x"},
		"env":            {"[mcp_servers.a]\ncommand = 'npx'\nenv = {PATH = '/usr/bin:/w/bin', X = '/w'}", "the PATH of the MCP server a leads to places where"},
		"env-root":       {"[sandbox_workspace_write]\nwritable_roots = ['/srv']\n[mcp_servers.a]\ncommand = 'npx'\n[mcp_servers.a.env]\nNODE_PATH = '/srv/x'", "the NODE_PATH of the MCP server a"},
		"env-temp":       {"[mcp_servers.a]\ncommand = 'npx'\nenv = {TMPDIR = '/w/tmp'}", "the TMPDIR of the MCP server a"},
		"root-relative":  {"[sandbox_workspace_write]\nwritable_roots = ['srv']\n[mcp_servers.a]\ncommand = 'npx'\ncwd = '/h/srv/x'", "the MCP server a is started in /h/srv/x"},
		"env-outside":    {"[mcp_servers.a]\ncommand = 'npx'\nenv = {PATH = '/usr/bin', TOKEN = 'x'}", ""},
		"notify":         {"notify = ['/w/bin/x', 'y']", "the program of notify is /w/bin/x"},
		"libraries":      {"[shell_environment_policy.set]\nLD_LIBRARY_PATH = '/usr/lib:/w/lib'\nPATH = '/w/bin:/bin'", "the LD_LIBRARY_PATH that"},
		"databases":      {"sqlite_home = '/w/db'", "sqlite_home is /w/db"},
		"hooks":          {"[hooks.state.'/h/config.toml:stop:0:0']\ntrusted_hash = 'x'", "codex runs hooks"},
		"hooks-unheard":  {"[[hooks.Stop]]\n[[hooks.Stop.hooks]]\ntype = 'command'\ncommand = 'x'\n[hooks.state.'x']\nenabled = false", ""},
		"unread":         {"model = ", "it is not known which MCP servers"},
	} {
		t.Run(name, func(t *testing.T) {
			l := Launch{Home: "/h", WorkDir: "/w", Sandboxed: true, UserConfig: c.config}
			doubts := l.doubts()
			if (c.want != "") != (len(doubts) == 1) || c.want != "" && (!strings.Contains(doubts[0].Text, c.want) || doubts[0].File != "/h/config.toml") {
				t.Errorf("%v, want %q", doubts, c.want)
			}
			if l.Sandboxed = false; l.doubts() != nil {
				t.Errorf("without a sandbox: %v", l.doubts())
			}
		})
	}
}

// TestProgramsByTheirNames: a name is looked up as codex does, and followed.
func TestProgramsByTheirNames(t *testing.T) {
	dir := t.TempDir()
	work, bin := filepath.Join(dir, "work"), filepath.Join(dir, "bin")
	script := filepath.Join(work, "server.sh")
	if err := errors.Join(os.Mkdir(work, 0o700), os.Mkdir(bin, 0o700), os.WriteFile(script, []byte("#!/bin/sh\n"), 0o700),
		os.Symlink(script, filepath.Join(bin, "mine")), os.Symlink("/bin/sh", filepath.Join(bin, "other"))); err != nil {
		t.Fatal(err)
	}
	l := Launch{
		Home: filepath.Join(dir, "home"), WorkDir: work, Sandboxed: true, Environ: []string{"PATH=" + bin},
		UserConfig: "notify = ['mine']\n[mcp_servers.a]\ncommand = 'mine'\n[mcp_servers.b]\ncommand = 'other'\n[mcp_servers.c]\ncommand = 'nowhere'\n",
	}
	said := fmt.Sprint(l.doubts())
	for _, want := range []string{"the program of the MCP server a is mine", "the program of notify is mine"} {
		if !strings.Contains(said, want) {
			t.Errorf("no warning that %s: %s", want, said)
		}
	}
	if strings.Contains(said, "MCP server b") || strings.Contains(said, "MCP server c") {
		t.Errorf("the warnings are %s", said)
	}
}
