package preflight

import (
	"fmt"
	"net"
	"os"
	"strings"
	"syscall"
	"testing"
)

func TestWritable(t *testing.T) {
	dir := t.TempDir()
	plain := file(t, dir, "plain", "", 0o600)
	expect(t, Writable("work", dir, "V", false).Do(t.Context()), OK, dir, "")
	expect(t, Writable("work", dir+"/new", "V", false).Do(t.Context()), Fail, "there is no directory", "set V to")
	expect(t, Writable("state", dir+"/a/b", "V", true).Do(t.Context()), OK, dir+"/a/b, which the start makes", "")
	expect(t, Writable("work", plain, "V", false).Do(t.Context()), Fail, "is not a directory", "set V to")
	expect(t, Writable("work", plain+"/x", "V", true).Do(t.Context()), Fail, "is not a directory", "set V to")
	left, err := os.ReadDir(dir)
	if err != nil || len(left) != 1 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

func TestWritableForAnotherUser(t *testing.T) {
	if os.Getuid() == 0 {
		t.Skip("root may write everywhere")
	}
	dir := t.TempDir()
	if err := os.Chmod(dir, 0o500); err != nil {
		t.Fatal(err)
	}
	expect(t, Writable("work", dir, "V", false).Do(t.Context()), Fail, "cannot be written by user", "chown")
}

func TestWhyNothingCanBeWritten(t *testing.T) {
	for errno, want := range map[syscall.Errno]string{
		syscall.ENOSPC: "is full",
		syscall.EDQUOT: "is full",
		syscall.EROFS:  "read-only file system",
		syscall.EACCES: "cannot be written by user",
		syscall.EPERM:  "cannot be written by user",
		syscall.EIO:    "input/output error",
	} {
		err := fmt.Errorf("wrapped: %w", &os.PathError{Op: "open", Path: "/d/f", Err: errno})
		expect(t, unwritable("/d", "V", err), Fail, want, "set V to another directory")
	}
}

func TestPort(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	addr := l.Addr().String()
	expect(t, Port(addr).Do(t.Context()), Fail, "is in use", "RUNTIME_ADDR")
	l.Close()
	expect(t, Port(addr).Do(t.Context()), OK, "is free", "")
	expect(t, Port("192.0.2.1:0").Do(t.Context()), Fail, "is not an address of this machine", "RUNTIME_ADDR")
}

func TestCredential(t *testing.T) {
	login := func(text string, mode os.FileMode) Credentials {
		dir := t.TempDir()
		file(t, dir, "auth.json", text, mode)
		return Credentials{Home: dir}
	}
	config := func(text string) Credentials {
		dir := t.TempDir()
		file(t, dir, "config.toml", text, 0o600)
		return Credentials{Home: dir}
	}
	for name, c := range map[string]struct {
		in          Credentials
		status      Status
		detail, fix string
	}{
		"scripted":     {Credentials{Scripted: true}, OK, "scripted model", ""},
		"key":          {Credentials{Key: "OPENAI_API_KEY"}, OK, "OPENAI_API_KEY", ""},
		"key-and-url":  {Credentials{Key: "OPENAI_API_KEY", BaseURL: "http://m/v1"}, OK, "for http://m/v1", ""},
		"url":          {Credentials{BaseURL: "http://m/v1"}, OK, "asked without one", ""},
		"nothing":      {Credentials{Home: t.TempDir()}, Fail, "no login at", "set OPENAI_API_KEY, or log in"},
		"login":        {login(`{"auth_mode":"chatgpt","OPENAI_API_KEY":null,"tokens":{"access_token":"a-secret"}}`, 0o600), OK, "a ChatGPT login", ""},
		"stored-key":   {login(`{"OPENAI_API_KEY":"a-secret","tokens":null}`, 0o600), OK, "an API key at", ""},
		"open-to-all":  {login(`{"OPENAI_API_KEY":"a-secret"}`, 0o644), Warn, "others on this machine may read", "chmod 600"},
		"empty-login":  {login(`{"OPENAI_API_KEY":null,"tokens":{}}`, 0o600), Fail, "neither a key nor tokens", "OPENAI_API_KEY"},
		"torn":         {login(`{"OPENAI_API_KEY":"a-secret`, 0o600), Fail, "is not valid JSON", "OPENAI_API_KEY"},
		"own-provider": {config("model = \"m\"\nmodel_provider = \"azure\"\n[model_providers.azure]\n"), Warn, "chooses the provider azure", "OPENAI_API_KEY"},
		"keyring":      {config("cli_auth_credentials_store = \"keyring\"\n"), Warn, "keyring", "OPENAI_API_KEY"},
		"in-a-table":   {config("[profiles.x]\nmodel_provider = \"azure\"\n"), Fail, "no login at", "OPENAI_API_KEY"},
	} {
		t.Run(name, func(t *testing.T) {
			r := Credential(c.in).Do(t.Context())
			expect(t, r, c.status, c.detail, c.fix)
			if strings.Contains(r.Detail+r.Fix, "a-secret") {
				t.Errorf("shows the secret: %+v", r)
			}
		})
	}
}
