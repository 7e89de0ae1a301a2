// Package fakeplatform is a Molecule platform for tests: as much of its HTTP interface
// as a workspace meets, in the three ages in which it is found, and rude on demand.
//
//	p := fakeplatform.Start(t, fakeplatform.AUG)
//	w := p.Add(fakeplatform.Workspace{Name: "worker"})
//	client := platform.New(platform.Config{URL: p.URL, Workspace: w.ID(), …})
//
// It keeps what workspaces tell it, hands messages to the addresses that they have
// registered, byte for byte as the real one does, and writes down everything that it is
// asked ([Platform.Requests]) and everything that it hands on ([Platform.Dispatches]).
// [Platform.Behave] makes it refuse, stall, cut off or forget; [Platform.Outage] takes
// it off the network.
//
// A workspace can be played by the double itself, see [Workspace.Reply]: a peer that
// answers. Agents of a test's own must register with http://localhost:PORT, because an
// address of the loopback network is refused, here as there.
//
// For a person: go run ./internal/fake/fakeplatform/cmd
package fakeplatform
