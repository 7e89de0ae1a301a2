package tasks

import "github.com/Molecule-AI/molecule-codex-runtime/executor"

// submit queues a job of a run, watched.
func (e *Engine) submit(r *run, job executor.Job) (ahead int, err error) {
	observe, refused := e.cfg.Watchers.Watch(job, "", r.observe)
	if ahead, err = e.cfg.Runner.Submit(job, observe); err != nil {
		refused(err)
	}
	return ahead, err
}

// offer hands a job of a run to the turn of another, watched.
func (e *Engine) offer(s Steerer, into string, r *run, job executor.Job) error {
	observe, refused := e.cfg.Watchers.Watch(job, into, r.observe)
	err := s.Steer(into, job, observe)
	if err != nil {
		refused(err)
	}
	return err
}
