package worktree

import (
	"bytes"
	"errors"
)

// mostSaid is what is kept of the end of what git says on its standard error.
const mostSaid = 16 << 10

// tail keeps the end of what is written to it.
type tail struct{ text []byte }

func (t *tail) Write(p []byte) (int, error) {
	t.text = append(t.text, p...)
	if len(t.text) > 2*mostSaid {
		t.text = append(t.text[:0], t.text[len(t.text)-mostSaid:]...)
	}
	return len(p), nil
}

// bounded keeps what is written to it, up to a bound. What writes more is ended by that.
type bounded struct {
	text bytes.Buffer
	most int
}

func (b *bounded) Write(p []byte) (int, error) {
	if b.text.Len()+len(p) > b.most {
		return 0, errLong
	}
	return b.text.Write(p)
}

var errLong = errors.New("git has said more than is read")

// records calls each with what stands between NULs in what is written to it. A record has a bound.
type records struct {
	each func(record []byte) error
	rest []byte
	err  error
}

const mostRecord = 64 << 10

func (r *records) Write(p []byte) (int, error) {
	whole := len(p)
	for r.err == nil {
		end := bytes.IndexByte(p, 0)
		if end < 0 {
			r.rest = append(r.rest, p...)
			if len(r.rest) > mostRecord {
				r.err = errLong
			}
			break
		}
		r.rest = append(r.rest, p[:end]...)
		r.err = r.each(r.rest)
		r.rest, p = r.rest[:0], p[end+1:]
	}
	if r.err != nil {
		return 0, r.err
	}
	return whole, nil
}
