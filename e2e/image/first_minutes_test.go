package image

import (
	"flag"
	"testing"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/minutes"
)

var builtFlag = flag.Duration("built", 0, "how long the image's build took")

// TestFirstMinutes goes the way of a platform: the image is started as a workspace, until the user's
// message has its answer.
func TestFirstMinutes(t *testing.T) {
	minutes.Mark(t)
	p := newPlace(t, 2, "root")
	began := time.Now()
	c := p.provision()
	p.say("say what the platform shows", "what the platform shows")
	answered := time.Since(began)
	t.Logf("the container says\n%s", c.said())
	minutes.Report(t, "image", *builtFlag+answered, "built with no caches in "+builtFlag.String()+
		", answered "+answered.Round(time.Second/10).String()+" after its start; a container made by hand, on stand-ins for the bases")
}
