package server

import (
	"encoding/json"
	"fmt"
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

// v1Message checks the parts of a 1.0 message as they were written: the SDK's
// errors about them speak of its own types. It also gives files the one form of
// base64 that the SDK knows.
func v1Message(at names) normalizer {
	return func(raw json.RawMessage) (json.RawMessage, error) {
		raw, err := camelKeys(raw)
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
		if role := msg.text("role"); role == "user" || role == "agent" {
			return nil, invalidParams("%s is a message of A2A 0.3 (role %s); %s. Here the role is ROLE_USER, and a part has text, raw, url or data",
				at.message, quote(role), at.other)
		}
		changed, err := v1Parts(msg, at.message+".parts")
		if err != nil || !changed {
			return raw, err
		}
		params.set("message", msg)
		return json.Marshal(params)
	}
}

// v1Parts checks the parts of a message, and reports whether it had to change one.
func v1Parts(msg object, where string) (changed bool, err error) {
	if !msg.has("parts") {
		return false, nil
	}
	var parts []json.RawMessage
	if err := json.Unmarshal(msg["parts"], &parts); err != nil {
		return false, invalidParams("%s must be an array", where)
	}
	for i, raw := range parts {
		part, err := v1Part(raw, fmt.Sprintf("%s[%d]", where, i))
		if err != nil {
			return false, err
		}
		if part.has("raw") {
			if parts[i], err = json.Marshal(part); err != nil {
				return false, err
			}
			changed = true
		}
	}
	if changed {
		msg.set("parts", parts)
	}
	return changed, nil
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
				return nil, invalidParams("%s.%s must be a string", where, name)
			}
		}
	}
	if part.has("data") {
		n++
	}
	switch {
	case n != 1 && part.has("kind"):
		return nil, invalidParams("%s is a part of A2A 0.3 (kind %s); here it has exactly one of text, raw, url and data", where, quote(part.text("kind")))
	case n != 1:
		return nil, invalidParams("%s must have exactly one of text, raw, url and data", where)
	case part.has("url") && part.text("url") == "":
		return nil, invalidParams("%s.url is empty", where)
	case !part.has("raw"):
		return part, nil
	}
	content, err := anyBase64(part.text("raw"))
	if err != nil {
		return nil, invalidParams("%s.raw is not base64", where)
	}
	part.set("raw", content)
	return part, nil
}
