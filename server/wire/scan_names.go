package wire

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
)

// rpcMembers is how many of memberNames are those of a JSON-RPC request. They
// come first, in the order of [scan.members].
const rpcMembers = 4

// memberNames are the names that the protocol has for its members, in both
// versions, as far as requests go. There are fewer than 64.
var memberNames = []string{ //nolint:gochecknoglobals // a constant table
	"jsonrpc", "id", "method", "params",
	"tenant", "message", "configuration", "metadata",
	"messageId", "contextId", "taskId", "role", "parts", "content", "extensions", "referenceTaskIds", "kind",
	"text", "raw", "url", "data", "filename", "mediaType",
	"type", "file", "mimeType", "name", "uri", "bytes", "fileWithUri", "fileWithBytes",
	"acceptedOutputModes", "returnImmediately", "historyLength", "taskPushNotificationConfig", "blocking", "pushNotificationConfig",
	"authentication", "scheme", "schemes", "credentials", "token", "pushNotificationConfigId", "configId", "config", "pushNotification",
	"pageSize", "pageToken", "status", "statusTimestampAfter", "includeArtifacts",
}

var memberIndex = indexOf(memberNames) //nolint:gochecknoglobals // a constant table

func indexOf(names []string) map[string]int {
	index := make(map[string]int, len(names))
	for i, name := range names {
		index[name] = i
	}
	return index
}

// member returns which member of the protocol has a name. The decoders behind us
// do not agree about names that differ in case, and about those that are there
// twice, so neither is taken. Of a body that is refused nothing but the envelope
// is looked at.
func (s *scan) member(at place, raw []byte, seen *uint64) (int, bool) {
	refused := s.fault != nil || s.values > mostValues
	if at == inCallers || refused && at != inEnvelope {
		return 0, false
	}
	name := raw
	if !refused && bytes.IndexByte(raw, '\\') >= 0 {
		var plain string
		if json.Unmarshal(slices.Concat([]byte{'"'}, raw, []byte{'"'}), &plain) == nil {
			name = []byte(plain)
		}
	}
	i, known := memberIndex[string(name)]
	as := InvalidParams
	if at == inEnvelope {
		as = InvalidRequest
	}
	switch {
	case at == inEnvelope && i >= rpcMembers:
		return 0, false // JSON-RPC ignores what it has no name for
	case known && *seen&(1<<i) != 0:
		s.refuse(as, "the member %s is there twice", Quote(string(name)))
	case known:
		*seen |= 1 << i
	case !refused:
		if other, ok := otherCase(at, name); ok {
			s.refuse(as, "the member %s must be written %s", Quote(string(name)), other)
		}
	}
	return i, known
}

// otherCase returns the name of the protocol that a decoder would take name for.
func otherCase(at place, name []byte) (string, bool) {
	const longest = 64
	known := memberNames
	if at == inEnvelope {
		known = known[:rpcMembers]
	}
	if len(name) > longest {
		return "", false
	}
	i := slices.IndexFunc(known, func(known string) bool { return strings.EqualFold(known, string(name)) })
	if i < 0 {
		return "", false
	}
	return known[i], true
}

// within says what stands at a member.
func within(at place, member int, known bool) place {
	if at == inCallers || !known {
		return inCallers
	}
	switch name := memberNames[member]; {
	case name == "metadata", name == "data", at == inEnvelope && name != "params":
		return inCallers
	case at == inEnvelope:
		return inRequest
	case at == inRequest && name == "message":
		return inMessage
	case at == inMessage && (name == "parts" || name == "content"):
		return inParts
	}
	return inOurs
}
