package browser

import (
	"fmt"
	"testing"
)

// TestManyTasks has a list of five hundred, of which a few are in the page until
// somebody asks for more.
func TestManyTasks(t *testing.T) {
	t.Parallel()
	const many = 500
	r := start(t)
	for n := range many {
		r.post(fmt.Sprintf("many-%d", n), fmt.Sprintf("many-%d", n), "/status") // which needs no codex
	}
	p := r.console(t)
	p.until("the newest", "document.querySelectorAll('#task-list li').length === 50")
	for want := 120; want < many; want += 60 {
		p.click("#more-tasks")
		p.until("more", fmt.Sprintf("document.querySelectorAll('#task-list li').length === %d", want))
	}
	p.click("#more-tasks")
	p.until("all of them", fmt.Sprintf("document.querySelectorAll('#task-list li').length === %d", many))
	p.until("no button for more", "!document.querySelector('#more-tasks').checkVisibility()")
	p.write("#filter", "many-77")
	p.until("the one", "document.querySelectorAll('#task-list li').length === 1")
	p.click("#task-list a")
	p.sees("#task-state", "Done")
}

// doctor runs doctor's checks.
func doctor(t *testing.T, r *program) {
	p := r.console(t)
	p.press("#card-doctor", "Run the checks")
	p.sees("#card-doctor .checks", "codex")
	p.sees("#card-doctor button", "Run the checks again")
}
