package wire

import (
	"encoding/base64"
	"encoding/json"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2apb/v0/pbjson"
)

// V0MessageREST reads a message of the HTTP+JSON binding of 0.3: it is that of
// the protocol buffers of 0.3, neither that of JSON-RPC nor that of 1.0. The SDK
// has one text for all that may be wrong with it, and takes some of that for
// nothing at all, so it is checked before.
func V0MessageREST(body json.RawMessage) (*a2a.SendMessageRequest, error) {
	body, err := checkedRESTv0(body)
	if err != nil {
		return nil, err
	}
	req, err := pbjson.FromProtoSendMessageRequest(body)
	if err != nil {
		return nil, paramsError(err)
	}
	return req, nil
}

// V0PushREST reads what push notifications a task is to have, over HTTP+JSON in 0.3.
func V0PushREST(body json.RawMessage, task a2a.TaskID) (*a2a.PushConfig, error) {
	req, err := pbjson.FromProtoCreatePushConfigRequest(camelKeys(body), task)
	if err != nil {
		return nil, paramsError(err)
	}
	return req, nil
}

func checkedRESTv0(body json.RawMessage) (json.RawMessage, error) {
	body, err := protoJSON(body)
	if err != nil {
		return nil, err
	}
	o, err := asObject(body, "the request")
	if err != nil {
		return nil, err
	}
	if !o.has("message") {
		return nil, InvalidParams("message is missing")
	}
	msg, err := asObject(o["message"], "message")
	if err != nil {
		return nil, err
	}
	if err := checkHeadRESTv0(msg); err != nil {
		return nil, err
	}
	if err := msg.each("content", "message.content", partRESTv0); err != nil {
		return nil, err
	}
	o.set("message", msg)
	return json.Marshal(o)
}

const hintRESTv0 = "; this path is the HTTP+JSON binding of A2A 0.3, with message.content and ROLE_USER"

// checkHeadRESTv0 checks what a message has beside its content.
func checkHeadRESTv0(msg object) error {
	for _, name := range []string{"messageId", "contextId", "taskId"} {
		if msg.wrongText(name) {
			return InvalidParams("message.%s must be a string", name)
		}
	}
	if role, ok := numbered(msg["role"], roleNames()); ok {
		msg.set("role", role)
	}
	switch role := msg.text("role"); {
	case !msg.has("content") && msg.has("parts"):
		return InvalidParams("message has parts, which is how 1.0 and JSON-RPC write it%s", hintRESTv0)
	case !msg.has("content"):
		return InvalidParams("message.content is missing")
	case role == "user" || role == "agent":
		return InvalidParams("message.role is %s, which is how JSON-RPC writes it%s", Quote(role), hintRESTv0)
	case msg.has("role") && role != string(a2a.MessageRoleUser) && role != string(a2a.MessageRoleAgent):
		return InvalidParams("message.role is %s; ROLE_USER can stand there", Quote(string(msg["role"])))
	}
	return nil
}

func partRESTv0(raw json.RawMessage, where string) (object, error) {
	part, err := asObject(raw, where)
	if err != nil {
		return nil, err
	}
	var n int
	for _, name := range []string{"text", "file", "data"} {
		if part.has(name) {
			n++
		}
	}
	switch {
	case part.has("kind"):
		return nil, InvalidParams("%s has a kind, which is how JSON-RPC writes it%s", where, hintRESTv0)
	case n != 1:
		return nil, InvalidParams("%s must have exactly one of text, file and data", where)
	case part.wrongText("text"):
		return nil, InvalidParams("%s.text must be a string", where)
	case part.has("file"):
		return part, fileRESTv0(part, where+".file")
	case part.has("data"):
		data, err := asObject(part["data"], where+".data")
		if err == nil && !data.has("data") {
			err = InvalidParams("%s.data.data is missing", where)
		}
		if err != nil || data["data"][0] != '{' {
			return part, err
		}
		return withoutNull(part, data["data"], where)
	}
	return part, nil
}

// fileRESTv0 checks a file. The SDKs of that time encode its bytes twice, and ours
// reads them so; who does it once is understood, too.
func fileRESTv0(part object, where string) error {
	file, err := asObject(part["file"], where)
	if err != nil {
		return err
	}
	if err := oneSource(file, where, "fileWithBytes", "fileWithUri"); err != nil || !file.has("fileWithBytes") {
		return err
	}
	once, err := anyBase64(file.text("fileWithBytes"))
	if err != nil {
		return InvalidParams("%s.fileWithBytes is not base64", where)
	}
	content, err := anyBase64(string(once))
	if err != nil {
		content = once
	}
	if len(content) == 0 {
		return InvalidParams("%s.fileWithBytes is empty", where)
	}
	file.set("fileWithBytes", []byte(base64.StdEncoding.EncodeToString(content)))
	part.set("file", file)
	return nil
}

// oneSource checks that a file has either bytes or a place to get them from.
func oneSource(file object, where, bytes, uri string) error {
	for _, name := range []string{bytes, uri} {
		if file.wrongText(name) {
			return InvalidParams("%s.%s must be a string", where, name)
		}
	}
	switch hasBytes, hasURI := file.text(bytes) != "", file.text(uri) != ""; {
	case hasBytes && hasURI:
		return InvalidParams("%s has both %s and %s; one of them can stand there", where, bytes, uri)
	case !hasBytes && !hasURI:
		return InvalidParams("%s has neither %s nor %s", where, bytes, uri)
	}
	return nil
}
