package sources

import (
	"math"

	"github.com/Molecule-AI/molecule-codex-runtime/console"
	"github.com/Molecule-AI/molecule-codex-runtime/fleet"
)

// Machines are those that commands run on; a [fleet.Fleet] has them.
type Machines interface {
	Overview() (all []fleet.Shown, trouble error)
	Standing() fleet.Standing
	Where(conversation string) string
}

// mostMachines is how many are shown.
const mostMachines = 300

// machines are what the console shows of them; nil where commands run here.
func (o *Overview) machines() *console.Machines {
	if o.Machines == nil {
		return nil
	}
	all, trouble := o.Machines.Overview()
	out := &console.Machines{Waiting: o.Machines.Standing().Waiting}
	if trouble != nil {
		out.Trouble = o.Redact(trouble.Error())
	}
	for _, m := range all[:min(len(all), mostMachines)] {
		out.List = append(out.List, o.machine(m))
	}
	return out
}

// machine is one of them. Of what changes all the time it has what is worth an event: a tenth of the load, a tenth of a
// gigabyte of the disk.
func (o *Overview) machine(m fleet.Shown) console.Machine {
	const tenth = 100_000_000
	return console.Machine{
		Name: m.Name, Address: m.Address, State: string(m.State), Takes: m.Takes, Draining: m.Draining, Why: o.Redact(m.Why),
		Turns: m.Turns, Taken: m.Taken, Mine: m.Mine, Conversations: m.Conversations, Waiting: m.Waiting, Labels: m.Labels,
		CPUs: m.CPUs, Load: math.Round(m.Load*10) / 10, FreeDisk: m.FreeDisk / tenth * tenth, Codex: m.Codex,
	}
}

// placed are threads with the machines that their commands run on.
func (o *Overview) placed(threads []console.Thread) []console.Thread {
	for i, t := range threads {
		if o.Machines != nil {
			threads[i].Machine = o.Machines.Where(t.ContextID)
		}
	}
	return threads
}
