package preflight

import (
	"context"
	"encoding/json"
	"sync"
	"time"
)

// A Status is how a check came out.
type Status string

// The statuses. Warn does not keep a turn from running.
const (
	OK   Status = "ok"
	Warn Status = "warn"
	Fail Status = "fail"
)

// A Check is one question about this machine.
type Check struct {
	Name string
	// Run answers it. It ends soon after ctx does. Name and Took of the result
	// need not be set.
	Run func(ctx context.Context) Result
}

// A Result is the answer to a check.
type Result struct {
	Name   string
	Status Status
	Detail string        // what was found
	Fix    string        // what to do; set unless Status is OK
	Took   time.Duration // how long the check ran
}

// MarshalJSON gives Took in milliseconds.
func (r Result) MarshalJSON() ([]byte, error) {
	return json.Marshal(struct {
		Name   string  `json:"name"`
		Status Status  `json:"status"`
		Detail string  `json:"detail"`
		Fix    string  `json:"fix,omitempty"`
		TookMS float64 `json:"tookMs"`
	}{r.Name, r.Status, r.Detail, r.Fix, float64(r.Took.Microseconds()) / 1000})
}

func ok(detail string) Result        { return Result{Status: OK, Detail: detail} }
func warn(detail, fix string) Result { return Result{Status: Warn, Detail: detail, Fix: fix} }
func fail(detail, fix string) Result { return Result{Status: Fail, Detail: detail, Fix: fix} }

// Do runs one check and fills in its name and time.
func (c Check) Do(ctx context.Context) Result {
	start := time.Now()
	r := c.Run(ctx)
	r.Name, r.Took = c.Name, time.Since(start)
	return r
}

// A Report holds the answers in the order of the checks.
type Report struct {
	For     string // the way in that was asked about; empty where there is one only
	Why     string // how that is known; empty where it was said
	Subject string // what would run; empty is a turn
	Results []Result
}

// Run runs the checks at the same time and waits for all of them.
func Run(ctx context.Context, checks ...Check) Report {
	report := Report{Results: make([]Result, len(checks))}
	var wg sync.WaitGroup
	for i, c := range checks {
		wg.Go(func() { report.Results[i] = c.Do(ctx) })
	}
	wg.Wait()
	return report
}

// OK reports whether a turn would run: no check failed.
func (r Report) OK() bool { return r.count(Fail) == 0 }

func (r Report) count(s Status) int {
	n := 0
	for _, res := range r.Results {
		if res.Status == s {
			n++
		}
	}
	return n
}

// MarshalJSON gives the results and what they come to.
func (r Report) MarshalJSON() ([]byte, error) {
	return json.Marshal(struct {
		For    string   `json:"for,omitempty"`
		Why    string   `json:"why,omitempty"`
		OK     bool     `json:"ok"`
		Checks []Result `json:"checks"`
	}{r.For, r.Why, r.OK(), r.Results})
}
