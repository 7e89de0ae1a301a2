package preflight

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/asuser"
)

// A SandboxProbe says which sandbox is to be tried, and how.
type SandboxProbe struct {
	Bin       string
	Mode      string       // read-only, workspace-write or danger-full-access
	Env       []string     // of the probe
	Home      string       // CODEX_HOME in it, which must be there; the probe is started there
	User      *asuser.User // that codex runs as; nil is ours
	Through   []string     // what codex is started through; nil is nothing
	Contained bool         // a container is the boundary, so that no sandbox is no surprise
	Sockets   string       // the folder that codex wants to be of its user alone; empty where it has none
	Limit     time.Duration
}

// Sandbox checks that codex's sandbox starts, by running a command in it.
// Nothing else tells: whether it works depends on the kernel, on the
// container's seccomp profile and on the user.
func Sandbox(p SandboxProbe) Check {
	return Check{"sandbox", p.run}
}

func (p SandboxProbe) run(ctx context.Context) Result {
	if p.Mode == "danger-full-access" {
		if p.Contained {
			return ok("none (danger-full-access): the container is the boundary")
		}
		return warn("none (danger-full-access): codex's commands can do all that this user can",
			"unset CODEX_SANDBOX for workspace-write, unless a container is the boundary")
	}
	if unstartable(p.Bin) != "" {
		return fail("not tried: codex does not start", "see the check codex")
	}
	if whose := p.taken(); whose != "" {
		return fail("codex starts no sandbox: "+whose,
			"have that removed, by its owner or root; where others log in, give the runtime a /tmp of its own (systemd: PrivateTmp=yes)")
	}
	limit := p.Limit
	if limit == 0 {
		limit = 10 * time.Second
	}
	_, said, err := command{argv: slices.Concat(p.Through, []string{p.Bin, "sandbox", "--", "true"}), user: p.User, env: p.Env, dir: p.Home, limit: limit}.run(ctx)
	if err != nil && strings.Contains(said, usedUp) {
		return fail(fmt.Sprintf("%s does not start now: %v: %s", p.Mode, err, said),
			"a process of codex's user has taken all of the namespaces that a user may have, perhaps a command of a conversation: end it, or restart the runtime")
	}
	if err != nil {
		return fail(fmt.Sprintf("%s does not start here: %v: %s", p.Mode, err, said),
			"let containers make user namespaces (docker run --security-opt seccomp=unconfined), "+
				"or, where the container itself is the boundary, set CODEX_SANDBOX=danger-full-access")
	}
	return ok(p.Mode + ", and a command ran in it")
}

// usedUp is what bubblewrap says where the user has as many namespaces as the kernel lets it have.
const usedUp = "max_*_namespaces exceeded"

// taken says what is in the place of codex's folder of sockets, if it is not as codex takes
// it: on a machine with other users whoever makes it first has it.
func (p SandboxProbe) taken() string {
	info, err := os.Lstat(p.Sockets)
	if err != nil {
		return "" // codex makes it
	}
	switch stat, ok := info.Sys().(*syscall.Stat_t); {
	case !ok || info.Mode() == os.ModeDir|0o700 && stat.Uid == p.User.Number():
		return ""
	default:
		return fmt.Sprintf("%s is %v of user %d, and has to be a folder (drwx------) of user %d", p.Sockets, info.Mode(), stat.Uid, p.User.Number())
	}
}
