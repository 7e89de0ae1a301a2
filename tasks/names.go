package tasks

import (
	"strconv"
	"strings"

	"github.com/a2aproject/a2a-go/v2/a2a"
)

// names are the ids that the artifacts of a task have. An endpoint of a model can give all
// messages of an answer one id: what is free is known, and not looked for from the start
// each time. The zero value has none.
type names struct {
	taken map[string]bool
	next  map[string]int // by name: with a smaller number, from 2 on, it is taken
}

// take returns the id of an artifact that is named after something: that, or where it is
// taken with the smallest number from 2 on that is not.
func (n *names) take(name string) a2a.ArtifactID {
	if n.taken == nil {
		n.taken, n.next = map[string]bool{}, map[string]int{}
	}
	id := name
	if n.taken[name] {
		number := max(n.next[name], 2)
		for id = numbered(name, number); n.taken[id]; id = numbered(name, number) {
			number++
		}
		n.next[name] = number + 1
	}
	n.taken[id] = true
	return a2a.ArtifactID(id)
}

func (n *names) has(id a2a.ArtifactID) bool { return n.taken[string(id)] }

// free gives an id back. Where it is a name with a number it may be the next of that name.
func (n *names) free(id a2a.ArtifactID) {
	delete(n.taken, string(id))
	i := strings.LastIndexByte(string(id), '-')
	if i < 0 {
		return
	}
	name := string(id[:i])
	number, err := strconv.Atoi(string(id[i+1:]))
	if err == nil && number >= 2 && number < n.next[name] && numbered(name, number) == string(id) {
		n.next[name] = number
	}
}

func numbered(name string, number int) string { return name + "-" + strconv.Itoa(number) }
