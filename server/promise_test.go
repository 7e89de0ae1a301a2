package server

import (
	"context"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/a2aproject/a2a-go/v2/a2a"
)

// promising is a test card with other capabilities.
func promising(c a2a.AgentCapabilities) func(string) *a2a.AgentCard {
	return func(base string) *a2a.AgentCard {
		card := testCard(base)
		card.Capabilities = c
		return card
	}
}

// TestExtendedCard: 1.0 is told whether the card promises one; 0.3 gets what
// there is.
func TestExtendedCard(t *testing.T) {
	unsupported := refusal{-32004, 400, "UNSUPPORTED_OPERATION", "no extended card"}
	notConfigured := refusal{-32007, 400, "EXTENDED_AGENT_CARD_NOT_CONFIGURED", "no extended agent card"}
	v1 := `{"jsonrpc":"2.0","id":1,"method":"GetExtendedAgentCard"}`
	v0 := `{"jsonrpc":"2.0","id":1,"method":"agent/getAuthenticatedExtendedCard"}`

	silent := start(t, Config{Card: promising(a2a.AgentCapabilities{})})
	unsupported.wantRPC(t, do(t, "POST", silent.URL, v1), false)
	unsupported.wantREST(t, do(t, "GET", silent.URL+"/extendedAgentCard", ""))
	for _, a := range []answer{do(t, "POST", silent.URL, v0), do(t, "GET", silent.URL+"/v1/card", ""), do(t, "GET", silent.URL+"//v1/card", ""), do(t, "GET", silent.URL+"/agent/authenticatedExtendedCard", "")} {
		if got := strings.ReplaceAll(a.body, " ", ""); a.status != 200 || !strings.Contains(got, `"url":"`+silent.URL) || !strings.Contains(got, `"name":"codex"`) {
			t.Errorf("0.3: %d %s", a.status, a.body)
		}
	}
	if a := do(t, "GET", silent.URL+"/agent-card", ""); strings.Contains(a.body, "supportsAuthenticatedExtendedCard") {
		t.Errorf("the card promises one to 0.3: %s", a.body)
	}

	s, err := New(Config{Handler: &fakeHandler{}, Card: testCard}) // promises one, and has none
	if err != nil {
		t.Fatal(err)
	}
	broken := httptest.NewServer(s.Handler())
	defer broken.Close()
	notConfigured.wantRPC(t, do(t, "POST", broken.URL, v1), false)
	notConfigured.wantRPC(t, do(t, "POST", broken.URL, v0), true)
	notConfigured.wantREST(t, do(t, "GET", broken.URL+"/extendedAgentCard", ""))
	notConfigured.wantREST(t, do(t, "GET", broken.URL+"/v1/card", ""))

	full := start(t, Config{})
	if a := do(t, "GET", full.URL+"/extendedAgentCard", ""); a.status != 200 || !strings.Contains(a.body, `"url":"`+full.URL) {
		t.Errorf("promised: %d %s", a.status, a.body)
	}
}

// TestPushBodies: names in snake_case are taken at both doors, and the task is
// the one of the path.
func TestPushBodies(t *testing.T) {
	h := &pushHandler{fakeHandler: &fakeHandler{}}
	ts := start(t, Config{Handler: h})
	body := `{"task_id":"T9","id":"c","url":"https://example.com/hook","token":"t","authentication":{"scheme":"Bearer","credentials":"x"}}`
	do(t, "POST", ts.URL+"/tasks/T1/pushNotificationConfigs", body)
	do(t, "POST", ts.URL, `{"jsonrpc":"2.0","id":1,"method":"CreateTaskPushNotificationConfig","params":`+body+`}`)
	if len(h.configs) != 2 || h.configs[0].TaskID != "T1" || h.configs[1].TaskID != "T9" {
		t.Fatalf("configs %+v", h.configs)
	}
	for _, c := range h.configs {
		if c.ID != "c" || c.URL != "https://example.com/hook" || c.Token != "t" || c.Auth == nil || c.Auth.Scheme != "Bearer" {
			t.Errorf("config %+v", c)
		}
	}
}

type pushHandler struct {
	*fakeHandler
	configs []*a2a.PushConfig
}

func (h *pushHandler) CreateTaskPushConfig(_ context.Context, c *a2a.PushConfig) (*a2a.PushConfig, error) {
	h.configs = append(h.configs, c)
	return c, nil
}
