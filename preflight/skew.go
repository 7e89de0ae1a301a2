package preflight

import (
	"context"
	"crypto/x509"
	"errors"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// A TimeSource is a server that is asked anyway, and says in each answer what time it is.
type TimeSource struct {
	Name string // for people
	URL  string
	Via  http.RoundTripper // keeps no connection
}

const (
	// much is what two clocks may differ by: less than that does no harm.
	much = 10 * time.Second
	// tooMuch is what those who check tokens commonly let pass.
	tooMuch     = 5 * time.Minute
	sourceLimit = 5 * time.Second
)

// Skew checks that the clock shows the time that others do. A source that does not answer
// says nothing about the clock; whether it is reached has a check of its own.
func Skew(sources ...TimeSource) Check { return machineClock().skew(sources) }

func (c clock) skew(sources []TimeSource) Check {
	return Check{"clock skew", func(ctx context.Context) Result {
		all := make([]comparison, len(sources))
		var wg sync.WaitGroup
		for i, source := range sources {
			wg.Go(func() { all[i] = c.compare(ctx, source) })
		}
		wg.Wait()
		return judge(all)
	}}
}

// A comparison is how far the clock is ahead of a source's: between least and most. The
// source says whole seconds, at some moment between the question and the answer.
type comparison struct {
	source      string
	least, most time.Duration
	why         string // there is none; least and most say nothing
	early       bool   // by the clock, the source's certificate has not begun yet
	late        bool   // or has ended
}

func (c clock) compare(ctx context.Context, source TimeSource) comparison {
	ctx, cancel := context.WithTimeout(ctx, sourceLimit)
	defer cancel()
	out := comparison{source: source.Name}
	req, err := http.NewRequestWithContext(ctx, http.MethodHead, source.URL, nil)
	if err != nil {
		out.why = "its URL cannot be asked"
		return out
	}
	req.Header.Set("Cache-Control", "no-cache") // what was kept by others says when that was
	asked := c.wall()
	res, err := source.Via.RoundTrip(req)
	if err != nil {
		c.unasked(&out, err)
		return out
	}
	answered := c.wall()
	_ = res.Body.Close() // it is empty
	date, err := http.ParseTime(res.Header.Get("Date"))
	if err != nil {
		out.why = "it does not say what time it is"
		return out
	}
	if age, err := strconv.Atoi(res.Header.Get("Age")); err == nil && age > 0 {
		date = date.Add(time.Duration(age) * time.Second)
	}
	out.least, out.most = asked.Sub(date.Add(time.Second)), answered.Sub(date)
	return out
}

// unasked says why a source did not answer. One whose certificate is valid at another time
// than the clock's says something about the clock all the same.
func (c clock) unasked(out *comparison, err error) {
	out.why, _, _ = strings.Cut(err.Error(), "\n")
	invalid, ok := errors.AsType[x509.CertificateInvalidError](err)
	if !ok || invalid.Reason != x509.Expired || invalid.Cert == nil {
		return
	}
	now := c.wall()
	out.early = now.Before(invalid.Cert.NotBefore)
	out.late = !out.early
	out.why = "the clock shows " + now.UTC().Format(time.RFC3339) + ", and its certificate has ended at " + invalid.Cert.NotAfter.UTC().Format(time.RFC3339)
	if out.early {
		out.why = "the clock shows " + now.UTC().Format(time.RFC3339) + ", and its certificate begins at " + invalid.Cert.NotBefore.UTC().Format(time.RFC3339)
	}
}

// off is what is certain of a difference: positive where the clock is ahead.
func (m comparison) off() time.Duration {
	switch {
	case m.least > 0:
		return m.least
	case m.most < 0:
		return m.most
	}
	return 0
}

func (m comparison) String() string {
	switch off := m.off(); { // the least Duration, of a time too far away, has no negative
	case m.why != "":
		return "not compared with " + m.source + ": " + m.why
	case off >= much:
		return roundly(off) + " ahead of " + m.source
	case off <= -much:
		return roundly(off.Abs()) + " behind " + m.source
	}
	return "as " + m.source + " has it"
}

const (
	setClock = "have it set by the network (NTP)"
	costs    = "waits for the end of a limit, and the times of tasks, are off by as much; from 5m on, tokens and certificates are refused"
)

// judge says what the comparisons come to. Where the clock is as one of the sources has
// it, the others are wrong.
func judge(all []comparison) Result {
	texts := make([]string, 0, len(all))
	var worst time.Duration
	var agrees, early, late bool
	for _, m := range all {
		texts = append(texts, m.String())
		early, late = early || m.early, late || m.late
		if m.why != "" {
			continue
		}
		off := m.off().Abs()
		worst, agrees = max(worst, off), agrees || off < much
	}
	detail := strings.Join(slices.Compact(texts), "; ")
	switch {
	case len(all) == 0:
		return ok("there is nothing that it could be compared with")
	case early && !agrees:
		return fail("the clock is behind: "+detail, setClock+": no connection with a certificate is made before")
	case worst < much && late && !agrees:
		return warn(detail, "where it is the clock that is ahead, "+setClock)
	case worst < much:
		return ok(detail)
	case agrees:
		return warn("clocks differ: "+detail, "this machine's is as one of them has it, so have the other's set: what it says of times is off by as much")
	case worst >= tooMuch:
		return fail("the clock is wrong: "+detail, setClock+": tokens and certificates count as ended, or as not begun")
	}
	return warn("the clock is wrong: "+detail, setClock+": "+costs)
}
