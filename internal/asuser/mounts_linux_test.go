package asuser_test

import (
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/asuser"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/codextest"
)

// TestOwnMounts: where mounts are shared, what is mounted later arrives in a child, and in
// none that has mounts of its own, as the same user and as another.
func TestOwnMounts(t *testing.T) {
	inSharedMounts(t, nil)
	if os.Getenv(part) == "" {
		return
	}
	other, err := asuser.Lookup(another)
	if err != nil {
		t.Fatal(err)
	}
	for _, user := range []*asuser.User{nil, other} {
		if own, err := user.OwnMounts(t.Context(), nil); !own || err != nil {
			t.Errorf("%v is to have mounts of its own: %v, %v", user, own, err)
		}
		for _, own := range []bool{false, true} {
			if sees := seesMount(t, user, own); sees == own {
				t.Errorf("%v with mounts of its own (%v) sees what is mounted later: %v", user, own, sees)
			}
		}
	}
	if err := unix.Mount("none", "/", "", unix.MS_PRIVATE|unix.MS_REC, ""); err != nil {
		t.Fatal(err)
	}
	if own, err := other.OwnMounts(t.Context(), nil); own || err != nil {
		t.Errorf("mounts of its own where none arrive: %v, %v", own, err)
	}
}

// TestOwnMountsOfAPlainUser: they take a fence, which then has them by itself.
func TestOwnMountsOfAPlainUser(t *testing.T) {
	inSharedMounts(t, &syscall.Credential{Uid: ourselves, Gid: ourselves})
	if os.Getenv(part) == "" {
		return
	}
	var none *asuser.User
	if own, err := none.OwnMounts(t.Context(), nil); own || err == nil {
		t.Errorf("without a fence: %v, %v", own, err)
	}
	fence, err := asuser.Fence(t.Context(), func() bool { return true })
	if err != nil {
		t.Skip(err)
	}
	if own, err := none.OwnMounts(t.Context(), fence); own || err != nil {
		t.Errorf("behind a fence: %v, %v", own, err)
	}
}

// inSharedMounts runs the test once more in a process of its own, whose mounts are shared
// with the namespaces below it and with none beside.
func inSharedMounts(t *testing.T, as *syscall.Credential) {
	t.Helper()
	if os.Getenv(part) != "" {
		return
	}
	codextest.SharedMounts(t)
	cmd := exec.Command("/proc/self/exe", "-test.run", "^"+t.Name()+"$", "-test.v")
	cmd.Env = append(os.Environ(), part+"=inner", "TMPDIR="+open(t))
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: as}
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// seesMount starts a child, mounts something, and has the child say what it sees.
func seesMount(t *testing.T, user *asuser.User, own bool) bool {
	t.Helper()
	at := open(t)
	cmd := exec.Command("sh", "-c", "echo begun >&2; read word; cat /proc/self/mountinfo; grep ^CapPrm /proc/self/status")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	begun, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	var said strings.Builder
	cmd.Stdout = &said
	cmd.SysProcAttr = asuser.SessionOfItsOwn(own)
	cmd.SysProcAttr.Pdeathsig = 0 // the thread of another user ends with the start
	if err := user.Start(cmd); err != nil {
		t.Fatal(err)
	}
	if _, err := begun.Read(make([]byte, 1)); err != nil {
		t.Error(err)
	}
	if err := unix.Mount("tmpfs", at, "tmpfs", 0, ""); err != nil {
		t.Error(err)
	}
	if err := in.Close(); err != nil {
		t.Error(err)
	}
	_ = cmd.Wait() // read has met the end
	if err := unix.Unmount(at, unix.MNT_DETACH); err != nil {
		t.Error(err)
	}
	if user != nil && !strings.Contains(said.String(), "CapPrm:\t0000000000000000\n") {
		t.Errorf("%v has capabilities: %s", user, said.String())
	}
	return strings.Contains(said.String(), " "+at+" ")
}
