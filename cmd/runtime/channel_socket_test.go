package main

import (
	"context"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"
)

// TestChannelSocketIsItsOwners from the moment that it is there.
func TestChannelSocketIsItsOwners(t *testing.T) {
	defer syscall.Umask(syscall.Umask(0))
	path := filepath.Join(t.TempDir(), "s")
	ln, err := listenPrivately(path)
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v %v", info.Mode(), err)
	}
	if runtime.GOOS != "linux" {
		return
	}
	path += "2"
	made := net.ListenConfig{Control: private}
	other, err := made.Listen(context.Background(), "unix", path)
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("before its rights are changed: %v %v", info.Mode(), err)
	}
}
