package logging

import "slices"

// A source is where secrets come from while the process works, such as the platform: the newest
// are known, and those that they have taken the place of are forgotten at some time.
type source struct {
	most  int
	known []string // the oldest first
	bytes int
}

// mostBytes is how many the known secrets of a source have together.
const mostBytes = 1 << 20

// Newest returns what makes more secrets known, as [Redactor.Add] does, of which the newest are
// kept: so many, and no more than 1 MiB of them. It may be called while texts are looked at.
func (r *Redactor) Newest(most int) func(secrets ...string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	s := &source{most: most}
	r.sources = append(r.sources, s)
	return func(secrets ...string) { r.learn(s, secrets) }
}

func (r *Redactor) learn(s *source, secrets []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	fresh := false
	for _, secret := range withLines(secrets) {
		if len(secret) >= minSecret && len(secret) <= mostBytes && !slices.Contains(r.secrets, secret) {
			fresh = s.take(secret) || fresh
		}
	}
	if fresh {
		r.renewLocked()
	}
}

// take makes a secret the newest, and reports whether it was not known.
func (s *source) take(secret string) (fresh bool) {
	at := slices.Index(s.known, secret)
	if at >= 0 {
		s.known = slices.Delete(s.known, at, at+1)
	} else {
		s.bytes += len(secret)
	}
	s.known = append(s.known, secret)
	for len(s.known) > s.most || s.bytes > mostBytes {
		s.bytes -= len(s.known[0])
		s.known = slices.Delete(s.known, 0, 1)
	}
	return at < 0
}
