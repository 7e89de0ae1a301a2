package platform

import (
	"encoding/json"
	"strconv"
	"time"
)

// A looseRow is a row of whatever form: what is of another type than it should be is left
// out, for a row that cannot be read would keep all behind it from being read.
type looseRow Row

// noName is what stands for a sender that is no text: there is one, who is not the user,
// and nobody knows who it is.
const noName = " "

// UnmarshalJSON implements [json.Unmarshaler].
func (r *looseRow) UnmarshalJSON(raw []byte) error {
	var fields map[string]json.RawMessage
	_ = json.Unmarshal(raw, &fields) // what is no object has no id, and whoever reads it leaves it out
	for name, at := range map[string]*string{
		"id": &r.ID, "workspace_id": &r.Workspace, "activity_type": &r.Type, "source_id": &r.Source, "target_id": &r.Target,
		"method": &r.Method, "summary": &r.Summary, "status": &r.Status, "error_detail": &r.ErrorDetail,
		"peer_name": &r.PeerName, "peer_role": &r.PeerRole, "agent_card_url": &r.CardURL,
	} {
		if json.Unmarshal(fields[name], at) != nil && name == "source_id" && present(fields[name]) {
			*at = noName
		}
	}
	var at string
	if json.Unmarshal(fields["created_at"], &at) == nil {
		r.CreatedAt, _ = time.Parse(time.RFC3339, at)
	}
	r.Seq, r.DurationMS = number(fields["seq"]), number(fields["duration_ms"])
	_ = json.Unmarshal(fields["attachments"], &r.Attachments)
	r.RequestBody, r.ResponseBody = fields["request_body"], fields["response_body"]
	return nil
}

// number reads a whole number, which some write as a text; 0 if it is none.
func number(raw json.RawMessage) int64 {
	var text string
	if json.Unmarshal(raw, &text) != nil {
		text = string(raw)
	}
	n, _ := strconv.ParseInt(text, 10, 64)
	return n
}
