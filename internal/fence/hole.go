package fence

import (
	"fmt"
	"os"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/settings"
)

// kernelSetting is a program that the kernel runs as root, outside of every sandbox.
const kernelSetting = "/proc/sys/kernel/core_pattern"

// SandboxHoleFix says what to do about a [SandboxHole].
const SandboxHoleFix = "set CODEX_USER to another user, or run the runtime as one"

// SandboxHole says what codex's sandbox does not keep from commands; empty if nothing is known.
// The kernel lets root write its settings by uid, without capabilities, and codex mounts a
// /proc of its own in the sandbox. Where this process could not open one for writing, as below a
// /proc/sys that is read-only, commands could not either (both seen on 0.169.0).
func SandboxHole(s settings.Settings) string {
	if s.Sandbox == "danger-full-access" || s.User != nil || os.Geteuid() != 0 {
		return ""
	}
	f, err := os.OpenFile(kernelSetting, os.O_WRONLY, 0)
	if err != nil {
		return ""
	}
	_ = f.Close()
	return fmt.Sprintf("%v, who is the runtime's: as root commands can write the kernel's settings (%s) from codex's sandbox, and so run programs outside of it", s.User, kernelSetting)
}
