// Command cmd runs a platform to play with: one workspace that is yours to run, and a
// peer that answers. Nothing of it outlives it.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"html/template"
	"net/http"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/fake/fakeplatform"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "fakeplatform:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) error {
	flags := flag.NewFlagSet("fakeplatform", flag.ContinueOnError)
	addr := flags.String("addr", "127.0.0.1:8080", "where to listen")
	age := flags.String("era", "aug", "the age of the platform: apr or jun, which are held to what real servers answered, or aug, which is as its sources say and was not measured")
	dir := flags.String("configs", "", "folder for the workspace's configuration; a new one below the working directory if empty")
	port := flags.Int("port", 8000, "where the workspace will listen")
	if err := flags.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return nil
		}
		return err
	}
	era, err := fakeplatform.ParseEra(*age)
	if err != nil {
		return err
	}
	if *dir == "" {
		if *dir, err = os.MkdirTemp(".", "configs-"); err != nil {
			return err
		}
	}
	configs, err := filepath.Abs(*dir)
	if err != nil {
		return err
	}
	p := fakeplatform.New(era)
	parent := p.Add(fakeplatform.Workspace{Name: "lead", Reply: func(text string) string { return "The lead has read: " + text }})
	worker := p.Add(fakeplatform.Workspace{Name: "worker", Parent: parent.ID(), Role: "does what it is asked"})
	p.Add(fakeplatform.Workspace{Name: "echo", Parent: parent.ID(), Role: "repeats", Reply: func(text string) string { return text }})
	if err := provision(configs, worker); err != nil {
		return err
	}
	handler := page(p, worker)
	return p.RunWith(ctx, *addr, handler, func() {
		fmt.Printf(`The platform (%s) is at %s; look at it in a browser. Run the workspace with

  export WORKSPACE_ID=%s PARENT_ID=%s
  export PLATFORM_URL=%s
  export WORKSPACE_CONFIG_PATH=%s CONFIGS_DIR=%s
  export MOLECULE_WORKSPACE_URL=http://localhost:%d
  export RUNTIME_ADDR=127.0.0.1:%d
  bin/runtime
`, era, p.URL, worker.ID(), parent.ID(), p.URL, configs, configs, *port, *port)
	})
}

// provision writes what the platform puts into a workspace's configuration.
func provision(dir string, worker *fakeplatform.Handle) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, ".auth_token"), []byte(worker.Token()+"\n"), 0o600); err != nil {
		return err
	}
	name := filepath.Join(dir, "config.yaml")
	if _, err := os.Stat(name); err == nil {
		return nil
	}
	return os.WriteFile(name, []byte("name: worker\ndescription: \"\"\nversion: 1.0.0\ntier: 2\nruntime: codex\nruntime_config:\n  timeout: 0\n"), 0o600)
}

// page shows what goes on, and has a field to talk to the workspace.
func page(p *fakeplatform.Platform, worker *fakeplatform.Handle) http.Handler {
	mux := http.NewServeMux()
	mux.Handle("/", p)
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, _ *http.Request) {
		requests, dispatches := p.Requests(), p.Dispatches()
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		err := look.Execute(w, map[string]any{
			"ID": worker.ID(), "Status": worker.Status(), "URL": worker.URL(), "Beats": len(worker.Beats()),
			"Notices": worker.Notices(), "Requests": last(requests, 40), "Dispatches": last(dispatches, 10),
		})
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
		}
	})
	mux.HandleFunc("POST /say", func(w http.ResponseWriter, r *http.Request) {
		// A page of another site has no business here.
		if r.Header.Get("Sec-Fetch-Site") == "cross-site" {
			http.Error(w, "not from elsewhere", http.StatusForbidden)
			return
		}
		reply, err := worker.Say(r.Context(), r.FormValue("text"))
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(reply.Status)
		_, _ = w.Write(reply.Body)
	})
	return mux
}

func last[T any](all []T, n int) []T { return all[max(0, len(all)-n):] }

var look = template.Must(template.New("page").Parse(`<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>A platform to play with</title>
<style>body{font:14px/1.5 system-ui,sans-serif;margin:2rem auto;max-width:60rem;padding:0 1rem}code,pre{font-size:12px}pre{white-space:pre-wrap;overflow-wrap:anywhere}</style></head><body>
<h1>A platform to play with</h1>
<p>Workspace <code>{{.ID}}</code> is <strong>{{.Status}}</strong>{{with .URL}} at <code>{{.}}</code>{{end}}; {{.Beats}} heartbeats.</p>
<form method="post" action="/say"><label>Say to it <input name="text" size="60" autofocus></label> <button>Send</button></form>
<h2>What the user was told</h2><ul>{{range .Notices}}<li>{{.Message}}</li>{{else}}<li>nothing yet</li>{{end}}</ul>
<h2>What was handed to it</h2>{{range .Dispatches}}<pre>{{.Status}} {{printf "%s" .Body}}
{{printf "%s" .Answer}}</pre>{{else}}<p>nothing yet</p>{{end}}
<h2>What it asked</h2><ul>{{range .Requests}}<li><code>{{.Status}} {{.Method}} {{.Path}}</code></li>{{end}}</ul>
</body></html>`))
