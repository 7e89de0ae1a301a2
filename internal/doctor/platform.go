package doctor

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/logging"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/secrets"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/settings"
	"github.com/Molecule-AI/molecule-codex-runtime/platform"
	"github.com/Molecule-AI/molecule-codex-runtime/preflight"
)

// platformLimit is what the platform gets for each answer.
const platformLimit = 5 * time.Second

// platformChecks ask the platform of each workspace whether it knows that and takes its
// token, and change nothing there. A turn runs without it, so only a deletion fails.
func platformChecks(s settings.Settings) []preflight.Check {
	var all []preflight.Check
	ask := func(of string, cfg platform.Config, look func(context.Context, *platform.Client, string) preflight.Result) {
		all = append(all, preflight.Check{Name: "platform", Run: func(ctx context.Context) preflight.Result {
			client := platform.New(cfg)
			defer client.Close()
			result := look(ctx, client, cfg.URL)
			result.Detail = of + result.Detail
			return result
		}})
	}
	if s.InWorkspace() {
		ask("", secrets.PlatformConfig(s, logging.NewRedactor()), askPlatform) // the report is cleaned as a whole
	}
	for _, w := range s.Spaces {
		of := ""
		if len(s.Spaces) > 1 {
			of = w.ID + ": "
		}
		ask(of, secrets.SpaceConfig(s, w), askInbox)
	}
	return all
}

// askInbox is [askPlatform] for a workspace whose inbox is read: nothing would come to it
// from a platform that keeps none.
func askInbox(ctx context.Context, client *platform.Client, url string) preflight.Result {
	result := askPlatform(ctx, client, url)
	if result.Status != preflight.OK {
		return result
	}
	limited, cancel := context.WithTimeout(ctx, platformLimit)
	defer cancel()
	if polls, err := client.Polls(limited); polls || err != nil { // what is not known is no fault
		return result
	}
	detail, fix, _ := strings.Cut(platform.ErrNoPolling.Error(), ": ")
	return preflight.Result{Status: preflight.Fail, Detail: detail, Fix: fix}
}

func askPlatform(ctx context.Context, client *platform.Client, url string) preflight.Result {
	const fix = "look whether PLATFORM_URL and WORKSPACE_ID are right, and the platform is reached from here; until it is, the runtime tries again by itself"
	limited, cancel := context.WithTimeout(ctx, platformLimit)
	defer cancel()
	state, err := client.State(limited)
	switch {
	case err == nil && state.Deleted:
		return preflight.Result{Status: preflight.Fail, Detail: "the platform has deleted this workspace", Fix: "the runtime would end at once; unset WORKSPACE_ID to have it stand alone"}
	case err != nil && platform.StatusOf(err) != http.StatusUnauthorized:
		return preflight.Result{Status: preflight.Warn, Detail: firstLine(err), Fix: fix}
	}
	limited, cancel = context.WithTimeout(ctx, platformLimit)
	defer cancel()
	switch _, err = client.Instructions(limited); { // any call that asks for the token
	case platform.StatusOf(err) == http.StatusUnauthorized:
		return preflight.Result{
			Status: preflight.Warn, Detail: "it does not take the workspace's token: " + firstLine(err),
			Fix: "look at CONFIGS_DIR/" + platform.TokenFile + ", MOLECULE_WORKSPACE_TOKEN_FILE and MOLECULE_WORKSPACE_TOKEN; a workspace that was never registered gets a token when it is",
		}
	case err != nil && platform.StatusOf(err) == 0:
		return preflight.Result{Status: preflight.Warn, Detail: firstLine(err), Fix: fix}
	}
	return preflight.Result{Status: preflight.OK, Detail: fmt.Sprintf("%s has the workspace as %q", url, state.Status)}
}
