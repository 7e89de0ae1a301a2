package progress

import (
	"math"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/agent"
)

// Calls are the requests to the model of a turn.
type Calls struct {
	first   agent.ModelCalled
	count   int
	failed  int           // those of them that were not answered
	took    time.Duration // all of them
	tokens  int           // that the model has written in those of which that is known
	writing time.Duration // and for how long
}

// Add adds one.
func (c *Calls) Add(call agent.ModelCalled) {
	if c.count == 0 {
		c.first = call
	}
	c.count++
	if call.Outcome() != agent.CallOK {
		c.failed++
	}
	took, tokens := call.Writing()
	c.took, c.tokens, c.writing = c.took+call.Took, c.tokens+tokens, c.writing+took
}

// Data is how they went, nil if there were none: how soon the first was answered, and the sum of all.
func (c *Calls) Data() any {
	if c.count == 0 {
		return nil
	}
	data := map[string]any{"count": float64(c.count), "transport": c.first.Transport(), "seconds": rounded(c.took)}
	known := func(key string, value float64) {
		if value > 0 {
			data[key] = value
		}
	}
	known("failed", float64(c.failed))
	known("connectSeconds", rounded(c.first.Connect))
	known("sentSeconds", rounded(c.first.Sent))
	known("firstByteSeconds", rounded(c.first.First))
	known("outputTokens", float64(c.tokens))
	if c.writing > 0 {
		known("tokensPerSecond", math.Round(10*float64(c.tokens)/c.writing.Seconds())/10)
	}
	return data
}

// rounded is a time in seconds, in thousandths.
func rounded(d time.Duration) float64 { return d.Round(time.Millisecond).Seconds() }
