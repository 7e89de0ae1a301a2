package respond

import "testing"

func TestPlainPath(t *testing.T) {
	for given, want := range map[string]string{
		"/": "/", "": "/", "//": "/", "//v1/card": "/v1/card", "/a2a/": "/a2a", "//a2a//": "/a2a",
		"/tasks": "/tasks", "/tasks/": "/tasks/", "/tasks//": "/tasks/", "/v1/tasks/": "/v1/tasks/", "/tasks/x/": "/tasks/x", "/tasks/..": "/tasks/..",
		"/tasks/x/pushNotificationConfigs/": "/tasks/x/pushNotificationConfigs/",
		"/tasks/x%3Acancel":                 "/tasks/x:cancel", "/message%3asend": "/message:send", "/t%61sks/%78": "/tasks/x", "/tasks/a%2fb": "/tasks/a%2Fb", "/tasks/%zz": "/tasks/%zz",
		"/acme/tasks": "/tasks", "/acme/tasks/x:cancel": "/tasks/x:cancel", "/acme/message:send": "/message:send", "/acme/message%3Astream": "/message:stream",
		"/acme/extendedAgentCard": "/extendedAgentCard", "/tasks/tasks": "/tasks/tasks", "/v1/tasks": "/v1/tasks", "/v1/extendedAgentCard": "/v1/extendedAgentCard",
		"/acme/v1/card": "/acme/v1/card", "/a/b/tasks": "/a/b/tasks", "/a2a/tasks": "/tasks", "/acme": "/acme",
	} {
		if got := Plain(given); got != want {
			t.Errorf("plain(%q) = %q, want %q", given, got, want)
		}
	}
}
