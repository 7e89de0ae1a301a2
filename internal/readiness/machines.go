package readiness

import (
	"fmt"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/fleet"
	"github.com/Molecule-AI/molecule-codex-runtime/server"
)

// Machines are those that commands run on; a [fleet.Fleet] has them.
type Machines interface{ Standing() fleet.Standing }

// machinesGone is for how long no machine may take turns until we are unready: a restart of each takes less, and turns
// wait meanwhile.
const machinesGone = time.Minute

// machinesCheck says how the machines stand that commands run on.
func machinesCheck(s fleet.Standing) server.Check {
	check := server.Check{Name: "machines", OK: !lacksMachines(s) && (s.Ever || s.None.IsZero())}
	check.Message = fmt.Sprintf("%d of %d take turns, %d turns wait for one", s.Taking, s.Machines, s.Waiting)
	if !s.None.IsZero() {
		check.Message = fmt.Sprintf("none of %d takes turns since %s, %d turns wait", s.Machines, s.None.UTC().Format(time.RFC3339), s.Waiting)
	}
	if s.Why != "" {
		check.Message += "; " + s.Why
	}
	if s.Trouble != nil {
		check.Message += "; the list of machines cannot be read as a whole: " + s.Trouble.Error()
	}
	if !s.None.IsZero() {
		check.Message += "; have runtime machine run there, or correct RUNTIME_MACHINES: runtime doctor tries each"
	}
	return check
}

// lacksMachines reports whether no machine takes turns, and has not for long.
func lacksMachines(s fleet.Standing) bool {
	return !s.None.IsZero() && time.Since(s.None) >= machinesGone
}
