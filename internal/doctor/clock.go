package doctor

import (
	"net/http"
	"net/url"
	"slices"

	"github.com/Molecule-AI/molecule-codex-runtime/adapter"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/forward"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/launch"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/settings"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/stayhttp"
	"github.com/Molecule-AI/molecule-codex-runtime/preflight"
)

// skewCheck compares the clock with those of the platforms, and of more. It is doctor's
// alone: what others say of the time comes and goes, and readiness must not.
func skewCheck(s settings.Settings, more ...preflight.TimeSource) preflight.Check {
	var urls []string
	if s.InWorkspace() {
		urls = append(urls, s.PlatformURL)
	}
	for _, w := range s.Spaces {
		if !slices.Contains(urls, w.URL) {
			urls = append(urls, w.URL)
		}
	}
	var sources []preflight.TimeSource
	for _, at := range urls {
		sources = append(sources, timeSource("the platform", at, ""))
	}
	return preflight.Skew(append(sources, more...)...)
}

// modelTime is the endpoint of the model, where it is known: with a login of codex's own it
// is codex's to know.
func modelTime(s settings.Settings, environ []string) []preflight.TimeSource {
	start, _, _, err := adapter.Look(launch.Setup(s, environ, ""))
	if p := start.Provider; err == nil && !s.Scripted() && (p.KeyName != "" || p.BaseURL != "") {
		return []preflight.TimeSource{timeSource("the model's endpoint", p.URL(), settings.Value(environ, "CODEX_CA_CERTIFICATE"))}
	}
	return nil
}

func timeSource(what, at, certificate string) preflight.TimeSource {
	if u, err := url.Parse(at); err == nil {
		what += " (" + u.Host + ")"
	}
	transport, err := forward.Transport(certificate)
	if err != nil { // the start says so
		transport = &http.Transport{Proxy: http.ProxyFromEnvironment}
	}
	transport.DisableKeepAlives = true
	return preflight.TimeSource{Name: what, URL: at, Via: stayhttp.Transport{Via: transport}}
}
