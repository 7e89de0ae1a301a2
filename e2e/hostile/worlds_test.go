package hostile

import "testing"

// The tests are the worlds: each starts one program, and what is tried on it follows.

func TestAlone(t *testing.T) {
	t.Parallel()
	x := newWorld(t)
	t.Run("routes", func(t *testing.T) { x.matrix(t, 5) })
	t.Run("hosts", x.hosts)
	t.Run("weights", x.weights)
}

func TestToken(t *testing.T) {
	t.Parallel()
	x := newWorld(t, "RUNTIME_TOKEN="+theToken)
	t.Run("routes", func(t *testing.T) { x.matrix(t, 5) })
	t.Run("hosts", x.hosts)
	t.Run("paths", func(t *testing.T) { x.paths(t, 19) })
	t.Run("frames", x.frames)
	t.Run("bodies", x.bodies)
	t.Run("stalls", x.stalls)
	t.Run("rooms", x.rooms)
}

func TestWorkspace(t *testing.T) {
	t.Parallel()
	x := newWorkspace(t)
	t.Run("routes", func(t *testing.T) { x.matrix(t, 5) })
	t.Run("rebound", x.reboundPages)
	t.Run("paths", func(t *testing.T) { x.paths(t, 7) })
	t.Run("names", x.names)
	t.Run("peers", x.peers)
}

func TestStrictWorkspace(t *testing.T) {
	t.Parallel()
	x := newWorkspace(t, "RUNTIME_TOKEN="+theToken, "MOLECULE_A2A_REQUIRE_AUTH=yes")
	t.Run("guesses", x.guesses) // first: the log has so many lines on guesses a minute, and no more
	t.Run("routes", func(t *testing.T) { x.matrix(t, 7) })
	t.Run("paths", func(t *testing.T) { x.paths(t, 23) })
}

func TestPoison(t *testing.T) {
	t.Parallel()
	newWorld(t).poisons(t)
}

func TestPolicies(t *testing.T) {
	t.Parallel()
	x := newWorld(t, "CODEX_SANDBOX=read-only", "CODEX_APPROVAL_POLICY=never")
	t.Run("wishes", x.wishes)
	t.Run("folders", x.folders)
}

func TestSwollen(t *testing.T) {
	x := newWorld(t)
	x.swollen(t)
}
