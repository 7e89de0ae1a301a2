package bench

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/fakemodel"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/fakemodel/modeltest"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/progtest"
)

// BenchmarkMachines is how much more is done on more machines, where the commands are what takes the time. Each machine
// takes one turn at a time, whose command waits: it is the placing of turns that is measured.
func BenchmarkMachines(b *testing.B) {
	outgrown(b, errand{"run sleep 1; echo done", "done", "done"}, 0)
}

// BenchmarkMachineShares is the same with commands that work, on machines that have a share of a core each.
func BenchmarkMachineShares(b *testing.B) {
	const share = 0.2 // of a core: four of them leave half of two for codex, the model and us
	if !bounds(b) {
		b.Skip("no share of a core can be given here: that needs root, and cgroups (version 1) that can be written")
	}
	outgrown(b, errand{"run i=0; while [ $i -lt 60000 ]; do i=$((i+1)); done; echo done", "done", "done"}, share)
}

// outgrown reports the turns a second on 1, 2 and 4 machines, and what part that is of as many times those on one.
func outgrown(b *testing.B, e errand, share float64) {
	b.Helper()
	const rounds, lasts = 2, 8 * time.Second
	sizes := []int{1, 2, 4}
	crews := map[int]*crew{}
	for _, n := range sizes {
		crews[n] = newCrew(b, n, share)
		crews[n].work(time.Second, e) // warm
	}
	rates := map[int][]float64{}
	for range rounds {
		var runs []func()
		for _, n := range sizes {
			runs = append(runs, func() { rates[n] = append(rates[n], crews[n].work(lasts, e)) })
		}
		shuffled(runs...)
	}
	one := quantile(rates[1], .5)
	for _, n := range sizes {
		rate := quantile(rates[n], .5)
		row(b, fmt.Sprint(n), "turns/s", rate, "of-linear-times", rate/(float64(n)*one))
	}
}

// A crew is a runtime with machines of its own.
type crew struct {
	clients []*client // two for each machine: the next turn waits for room when one ends
}

func newCrew(b *testing.B, n int, share float64) *crew {
	b.Helper()
	model := modeltest.Start(b, fakemodel.Keywords)
	settings := []string{"OPENAI_API_KEY=" + benchKey, "OPENAI_BASE_URL=" + model.BaseURL(), "RUNTIME_MAX_TURNS=32"}
	var shares []func(pid int)
	for share > 0 && len(shares) < n {
		shares = append(shares, bound(b, share))
	}
	work, at, machines := startFleet(b, n, behind(b, 0), "RUNTIME_MACHINE_TURNS=1")
	for i, give := range shares {
		give(machines[i].Pid())
	}
	p := progtest.Start(b, program, append(settings, append(at, "RUNTIME_WORKDIR="+work)...)...)
	c := &crew{}
	for i := range 2 * n {
		c.clients = append(c.clients, newClient(b, p.URL, fmt.Sprint("bench", i), 0))
	}
	c.clients[0].ready()
	return c
}

// work has turns run for a while, as many as there is room for, and returns how many ended a second: on each machine, from
// the first end to the last one there.
func (c *crew) work(lasts time.Duration, e errand) (rate float64) {
	var mu sync.Mutex
	ends := map[string][]time.Time{}
	until := time.Now().Add(lasts)
	var all sync.WaitGroup
	for _, client := range c.clients {
		all.Go(func() {
			for time.Now().Before(until) {
				machine, done := client.sendThere(e.text, e.all)
				if !done {
					continue // it does not count
				}
				mu.Lock()
				ends[machine] = append(ends[machine], time.Now())
				mu.Unlock()
			}
		})
	}
	all.Wait()
	for _, at := range ends {
		if n := len(at); n > 1 {
			rate += float64(n-1) / at[n-1].Sub(at[0]).Seconds()
		}
	}
	return rate
}

// sendThere is send, and returns the machine of the turn. One that fails, fails the benchmark at its end, so that what
// else it finds is seen, too.
func (c *client) sendThere(text, want string) (machine string, done bool) {
	body := c.call("SendMessage", c.message(text))
	defer body.Close()
	answer, err := io.ReadAll(body)
	var got struct {
		Result struct {
			Task struct {
				taskText
				Metadata struct{ Machine string }
			}
		}
	}
	if err == nil {
		err = json.Unmarshal(answer, &got)
	}
	task := got.Result.Task
	if done = err == nil && task.Status.State == "TASK_STATE_COMPLETED" && task.text() == want && task.Metadata.Machine != ""; !done {
		c.b.Errorf("SendMessage: %v: want %.100q on a machine, in %.2000s", err, want, answer)
	}
	return task.Metadata.Machine, done
}

// cpuGroups is where cgroups of version 1 bound the time of cores.
const cpuGroups = "/sys/fs/cgroup/cpu"

// bounds reports whether processes can be bound here.
func bounds(b *testing.B) bool {
	b.Helper()
	dir, err := os.MkdirTemp(cpuGroups, "bench-")
	if err != nil {
		return false
	}
	defer os.Remove(dir)
	return os.WriteFile(filepath.Join(dir, "cpu.cfs_quota_us"), []byte("50000"), 0) == nil
}

// bound returns what has a process, and all that it starts from then on, have a share of a core at most. It is to be called
// before the process is started, so that it is cleaned up after it.
func bound(b *testing.B, share float64) func(pid int) {
	b.Helper()
	dir, err := os.MkdirTemp(cpuGroups, "bench-")
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		if err := os.Remove(dir); err != nil {
			b.Error(err)
		}
	})
	write := func(file string, value int) {
		if err := os.WriteFile(filepath.Join(dir, file), []byte(strconv.Itoa(value)), 0); err != nil {
			b.Fatal(err)
		}
	}
	const period = 20_000
	write("cpu.cfs_period_us", period)
	write("cpu.cfs_quota_us", int(share*period))
	return func(pid int) { write("cgroup.procs", pid) }
}
