package server

import "strings"

// atJSONRPC reports whether a path is one of the JSON-RPC door.
func atJSONRPC(path string) bool { return path == "/" || path == "/a2a" }

// ofREST reports whether a path is one of the HTTP+JSON bindings, or would be one
// if there were something at it.
func ofREST(path string) bool {
	first, _, _ := strings.Cut(strings.TrimPrefix(path, "/"), "/")
	return first == "v1" || first == "agent" || ofRESTv1(first)
}

// ofRESTv1 reports whether a path that begins so is one of 1.0.
func ofRESTv1(segment string) bool {
	return segment == "tasks" || segment == "extendedAgentCard" || strings.HasPrefix(segment, "message:")
}
