package platform

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
)

// Info is what the platform has down about our workspace.
type Info struct {
	ID     string `json:"id"`
	Name   string `json:"name"`
	Role   string `json:"role"`
	Status string `json:"status"`
	URL    string `json:"url"`

	Raw json.RawMessage `json:"-"` // all of it
}

// Workspace asks for ours. A beating heart makes a workspace look alive; only the
// URL here says that it can be reached.
func (c *Client) Workspace(ctx context.Context) (Info, error) {
	var raw json.RawMessage
	err := c.call(ctx, request{op: "ask for the workspace", method: http.MethodGet, path: c.own(""), out: &raw, repeats: harmless, most: mostMembers})
	if err != nil {
		return Info{}, err
	}
	info := Info{Raw: raw}
	if err := json.Unmarshal(raw, &info); err != nil {
		return Info{}, fmt.Errorf("ask for the workspace: the platform's answer is not understood: %w", err)
	}
	return info, nil
}

// Secrets are the workspace's, and those of its organisation, by their names.
func (c *Client) Secrets(ctx context.Context) (map[string]string, error) {
	var out map[string]string
	err := c.call(ctx, request{op: "read the workspace's secrets", method: http.MethodGet, path: c.own("/secrets/values"), out: &out, repeats: harmless, most: mostMembers})
	return out, err
}

// Instructions are what the platform tells all its workspaces, or this one.
func (c *Client) Instructions(ctx context.Context) (string, error) {
	var out struct {
		Text string `json:"instructions"`
	}
	err := c.call(ctx, request{op: "read the instructions", method: http.MethodGet, path: c.own("/instructions/resolve"), out: &out, repeats: harmless})
	return out.Text, err
}

// A SharedFile is one that a workspace lets its children read.
type SharedFile struct {
	Path    string `json:"path"`
	Content string `json:"content"`
}

// SharedContext reads what a workspace, our parent, shares.
func (c *Client) SharedContext(ctx context.Context, workspace string) ([]SharedFile, error) {
	var raw json.RawMessage
	err := c.call(ctx, request{
		op: "read the shared context", method: http.MethodGet, path: of(workspace, "/shared-context"),
		out: &raw, repeats: harmless, loose: true,
	})
	if err != nil {
		return nil, err
	}
	var files list[SharedFile]
	if json.Unmarshal(raw, &files) == nil {
		return files, nil
	}
	var wrapped struct {
		Files list[SharedFile] `json:"files"`
	}
	if err := json.Unmarshal(raw, &wrapped); err != nil {
		return nil, fmt.Errorf("read the shared context: the platform's answer is not understood: %w", err)
	}
	return wrapped.Files, nil
}

// Broadcast tells all workspaces that we may talk to, and returns how many that
// were, or -1 if the platform does not say.
func (c *Client) Broadcast(ctx context.Context, message string) (int, error) {
	body := struct {
		Message string `json:"message"`
	}{message}
	var out map[string]json.RawMessage
	err := c.call(ctx, request{
		op: "broadcast", method: http.MethodPost, path: c.own("/broadcast"), body: body,
		out: &out, feature: featureBroadcast, limit: uploadTimeout, most: mostMembers,
	})
	if err != nil {
		return 0, err
	}
	for _, name := range []string{"delivered", "sent", "count", "recipients"} {
		var number float64
		if present(out[name]) && json.Unmarshal(out[name], &number) == nil {
			return int(number), nil
		}
		if bytes.HasPrefix(out[name], []byte("[")) {
			all, _, _ := First[json.RawMessage](out[name], MostElements)
			return len(all), nil
		}
	}
	return -1, nil
}

// An Installed names the plugin that was put into the workspace.
type Installed struct {
	Plugin string `json:"plugin"`
	Source string `json:"source"`
	Status string `json:"status"`
}

// InstallPlugin installs a plugin into our workspace. The platform restarts the
// workspace's container for it.
func (c *Client) InstallPlugin(ctx context.Context, source string) (Installed, error) {
	body := struct {
		Source string `json:"source"`
	}{source}
	var out Installed
	err := c.call(ctx, request{
		op: "install a plugin", method: http.MethodPost, path: c.own("/plugins"), body: body,
		out: &out, limit: installTimeout,
	})
	return out, err
}
