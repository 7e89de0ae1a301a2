package main

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/codextools"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/host/outside"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/logging"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/secrets"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/settings"
)

// What --inbox may be.
const (
	inboxAuto   = "auto"
	inboxBeside = "beside"
	inboxTurns  = "turns"
)

// An mcpWork is what an MCP server does for workspaces.
type mcpWork struct {
	log          *slog.Logger
	instructions string
	register     func(*mcp.Server)
	run          func(ctx context.Context, host string)  // goes on beside the server; nil if nothing does
	leave        func()                                  // called when the client has closed its end
	aside        func(*mcp.Server) (instructions string) // has another process have the messages, where the client is codex; nil if it was said who has them
	end          func()
}

// mcpWork is made by the settings. Outside of a workspace those that are not the client's may be those of another
// machine, and there is nothing to do.
func (p *program) mcpWork(o mcpFlags) (mcpWork, error) {
	s, _, err := settings.Load(p.environ)
	redact := secrets.Of(s, p.environ)
	work := mcpWork{log: logging.New(p.stderr, p.mcpLevel(), redact), register: func(*mcp.Server) {}, leave: func() {}, end: func() {}}
	inbox, errInbox := settings.LoadInbox(p.environ)
	switch {
	case !s.InWorkspace() && !s.Workspaces.Set():
		return work, nil
	case s.InWorkspace() && (o.Inbox == inboxTurns || s.InContainer):
		why := "The runtime of this container answers the messages of this workspace."
		if o.Inbox == inboxTurns {
			why = ""
		}
		return work.alone(s, redact, why), err
	case errInbox != nil && s.InWorkspace() && err == nil:
		problem := settings.Problems(errInbox)[0]
		why := fmt.Sprintf("The inbox of this workspace is not kept here: %s. To have it kept here: %s.", problem.What, problem.Hint)
		return work.alone(s, redact, why), nil
	case errInbox != nil:
		return work, errInbox
	}
	if s.InWorkspace() && err == nil {
		inbox.ConfigFile = s.ConfigFile
	} else {
		s.StateDir = ""
	}
	return work.outside(p.mcpOptions(o, inbox, s.StateDir), o.Inbox == inboxAuto), nil
}

// alone has the tools of a workspace whose inbox is not kept here.
func (w mcpWork) alone(s settings.Settings, redact *logging.Redactor, why string) mcpWork {
	w.register, w.end = outside.Alone(s, redact, w.log, codextools.Identity(os.Getenv), why)
	return w
}

func (p *program) mcpOptions(o mcpFlags, inbox settings.Settings, serves string) outside.Options {
	redact := secrets.Of(inbox, p.environ)
	return outside.Options{
		Options: p.options(inbox, logging.New(p.stderr, p.mcpLevel(), redact), redact), Aside: o.Inbox == inboxBeside, Serves: serves,
	}
}

// outside has the MCP host be an agent; auto says that it is none where it is codex.
func (w mcpWork) outside(o outside.Options, auto bool) mcpWork {
	agent := outside.New(o)
	w.log, w.instructions, w.register = o.Logger, agent.Instructions(), agent.Register
	w.leave, w.end = agent.Leave, func() { _ = agent.Close() }
	if !o.Aside {
		w.run = agent.Run
	}
	if auto {
		w.aside = func(server *mcp.Server) string {
			agent.StandAside(server)
			return agent.Instructions()
		}
	}
	return w
}

// mcpLevel is that of the log. The MCP host shows it, or keeps it, so that by itself it says little.
func (p *program) mcpLevel() slog.Level {
	level, err := logging.Level(settings.Value(p.environ, "RUNTIME_LOG"))
	if err != nil {
		return slog.LevelWarn
	}
	return level
}

// alongside begins what goes on beside the server when its client does, and returns what ends that. Where the client is a
// codex of which it was not said who has its messages, nothing does: its entry may be older than the inbox, and a codex is
// brought its messages by a channel.
func (w mcpWork) alongside(ctx context.Context, server *mcp.Server) (end func()) {
	ctx, cancel := context.WithCancel(ctx)
	var running sync.WaitGroup
	var begin sync.Once
	var aside atomic.Bool
	server.AddReceivingMiddleware(func(next mcp.MethodHandler) mcp.MethodHandler {
		return func(request context.Context, method string, req mcp.Request) (mcp.Result, error) {
			if method == "initialize" && w.aside != nil && isCodex(req) {
				return w.besideCodex(server, func() (mcp.Result, error) {
					aside.Store(true)
					return next(request, method, req)
				})
			}
			if w.run != nil && method != "initialize" && method != "ping" && !aside.Load() {
				begin.Do(func() { running.Go(func() { w.run(ctx, hostOf(req)) }) })
			}
			return next(request, method, req)
		}
	})
	return func() {
		cancel()
		begin.Do(func() {})
		running.Wait()
	}
}

// isCodex reports whether a client that begins is codex.
func isCodex(req mcp.Request) bool {
	params, ok := req.GetParams().(*mcp.InitializeParams)
	return ok && params.ClientInfo != nil && strings.HasPrefix(strings.ToLower(params.ClientInfo.Name), "codex")
}

// besideCodex has another process have the messages, and begins.
func (w mcpWork) besideCodex(server *mcp.Server, begin func() (mcp.Result, error)) (mcp.Result, error) {
	instructions := w.aside(server)
	res, err := begin()
	if begun, ok := res.(*mcp.InitializeResult); ok && err == nil {
		begun.Instructions = instructions
	}
	return res, err
}

// hostOf is what the client calls itself; "" if it has not said so.
func hostOf(req mcp.Request) string {
	session, ok := req.GetSession().(*mcp.ServerSession)
	if !ok || session.InitializeParams() == nil || session.InitializeParams().ClientInfo == nil {
		return ""
	}
	info := session.InitializeParams().ClientInfo
	if info.Title != "" {
		return info.Title
	}
	return info.Name
}
