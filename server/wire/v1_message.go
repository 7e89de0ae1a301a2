package wire

import (
	"encoding/json"
	"slices"

	"github.com/a2aproject/a2a-go/v2/a2a"
)

// names are what a binding calls the places of a message.
type names struct {
	message string
	// other says where messages of 0.3 belong.
	other string
}

func rpcNames() names {
	return names{message: "params.message", other: "this method is of A2A 1.0, that of 0.3 is message/send"}
}

func restNames() names {
	return names{message: "message", other: "this path is of A2A 1.0; 0.3 is at /v1/message:send, or over JSON-RPC with message/send"}
}

// V1MessageRPC reads a message of 1.0 over JSON-RPC.
func V1MessageRPC(params json.RawMessage) (*a2a.SendMessageRequest, error) {
	return v1Message(params, rpcNames())
}

// V1MessageREST reads a message of 1.0 over HTTP+JSON.
func V1MessageREST(body json.RawMessage) (*a2a.SendMessageRequest, error) {
	return v1Message(body, restNames())
}

// v1Message reads a message of 1.0. If the SDK's types do not take it as it is, it
// is checked as it was written: their errors speak of themselves.
func v1Message(raw json.RawMessage, at names) (*a2a.SendMessageRequest, error) {
	if req, ok := straight[a2a.SendMessageRequest](raw); ok && ofV1(req.Message) {
		return req, nil
	}
	raw, err := checkedV1(raw, at)
	if err != nil {
		return nil, err
	}
	return AsIs[a2a.SendMessageRequest](raw)
}

// ofV1 reports whether there is nothing to say about the shape of a message.
func ofV1(m *a2a.Message) bool {
	return m == nil || m.Role != "user" && m.Role != "agent" && !slices.Contains(m.Parts, nil)
}

// checkedV1 returns params with a message in the form that the SDK's types take.
func checkedV1(raw json.RawMessage, at names) (json.RawMessage, error) {
	raw, err := protoJSON(raw)
	if err != nil {
		return nil, err
	}
	params, err := asObject(raw, "the request")
	if err != nil || !params.has("message") {
		return raw, err // that it is missing is said for all bindings alike
	}
	msg, err := asObject(params["message"], at.message)
	if err != nil {
		return nil, err
	}
	if role, ok := numbered(msg["role"], roleNames()); ok {
		msg.set("role", role)
	}
	if role := msg.text("role"); role == "user" || role == "agent" {
		return nil, InvalidParams("%s is a message of A2A 0.3 (role %s); %s. Here the role is ROLE_USER, and a part has text, raw, url or data",
			at.message, Quote(role), at.other)
	}
	if msg.has("parts") {
		if err := msg.each("parts", at.message+".parts", v1Part); err != nil {
			return nil, err
		}
	}
	params.set("message", msg)
	return json.Marshal(params)
}

func v1Part(raw json.RawMessage, where string) (object, error) {
	part, err := asObject(raw, where)
	if err != nil {
		return nil, err
	}
	var n int
	for _, name := range []string{"text", "raw", "url"} {
		if part.has(name) {
			n++
			if part.wrongText(name) {
				return nil, InvalidParams("%s.%s must be a string", where, name)
			}
		}
	}
	if _, ok := part["data"]; ok && (n == 0 || part.has("data")) {
		n++
	}
	switch {
	case n != 1 && part.has("kind"):
		return nil, InvalidParams("%s is a part of A2A 0.3 (kind %s); here it has exactly one of text, raw, url and data", where, Quote(part.text("kind")))
	case n != 1:
		return nil, InvalidParams("%s must have exactly one of text, raw, url and data", where)
	case part.has("url") && part.text("url") == "":
		return nil, InvalidParams("%s.url is empty", where)
	case part.has("raw"):
		return part, v1Raw(part, where)
	case !part.has("data") && !part.has("text") && !part.has("url"):
		// Data may be null. The SDKs cannot read that back, so it becomes what the
		// model would see of it.
		part.set("text", "null")
		part.set("mediaType", JSON)
		delete(part, "data")
	}
	return part, nil
}

// v1Raw writes the content of a file in the one form of base64 that the SDK knows.
func v1Raw(part object, where string) error {
	content, err := anyBase64(part.text("raw"))
	if err != nil {
		return InvalidParams("%s.raw is not base64", where)
	}
	part.set("raw", content)
	return nil
}
