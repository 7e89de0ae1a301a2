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

// MaxID is how many bytes an id has; those of platforms have 36. Rows are kept by it, and for a month,
// and what is known of delegations.
const MaxID = 256

// A looseID is a [looseText] that is "" where it is too long to be one.
type looseID string

// UnmarshalJSON implements [json.Unmarshaler].
func (i *looseID) UnmarshalJSON(raw []byte) error {
	if len(raw) > MaxID*6+2 { // as JSON can write it
		return nil
	}
	if err := (*looseText)(i).UnmarshalJSON(raw); err != nil || len(*i) <= MaxID {
		return err
	}
	*i = ""
	return nil
}

// A looseText is "" where there is no text.
type looseText string

// UnmarshalJSON implements [json.Unmarshaler].
func (t *looseText) UnmarshalJSON(raw []byte) error {
	if len(raw) > 0 && raw[0] == '"' {
		return json.Unmarshal(raw, (*string)(t))
	}
	return nil
}

// A looseName is a [looseID] that says whether there is something else.
type looseName string

// UnmarshalJSON implements [json.Unmarshaler].
func (n *looseName) UnmarshalJSON(raw []byte) error {
	err := (*looseID)(n).UnmarshalJSON(raw)
	if *n == "" && present(raw) && string(raw) != `""` {
		*n = noName
	}
	return err
}

// looseAttachments are as many as are read.
type looseAttachments []RowAttachment

// UnmarshalJSON implements [json.Unmarshaler].
func (a *looseAttachments) UnmarshalJSON(raw []byte) error {
	*a, _, _ = First[RowAttachment](raw, MostElements)
	return nil
}

// UnmarshalJSON implements [json.Unmarshaler]. Nothing is made of members that have no name
// here.
func (r *looseRow) UnmarshalJSON(raw []byte) error {
	var in struct {
		ID           looseID          `json:"id"`
		Workspace    looseText        `json:"workspace_id"`
		Type         looseText        `json:"activity_type"`
		Source       looseName        `json:"source_id"`
		Target       looseID          `json:"target_id"`
		Method       looseText        `json:"method"`
		Summary      looseText        `json:"summary"`
		Status       looseText        `json:"status"`
		ErrorDetail  looseText        `json:"error_detail"`
		DurationMS   json.RawMessage  `json:"duration_ms"`
		CreatedAt    looseText        `json:"created_at"`
		Seq          json.RawMessage  `json:"seq"`
		RequestBody  json.RawMessage  `json:"request_body"`
		ResponseBody json.RawMessage  `json:"response_body"`
		PeerName     looseText        `json:"peer_name"`
		PeerRole     looseText        `json:"peer_role"`
		CardURL      looseText        `json:"agent_card_url"`
		Attachments  looseAttachments `json:"attachments"`
	}
	_ = json.Unmarshal(raw, &in) // what is no object has no id, and whoever reads it leaves it out
	*r = looseRow{
		ID: string(in.ID), Workspace: string(in.Workspace), Type: string(in.Type), Source: string(in.Source), Target: string(in.Target),
		Method: string(in.Method), Summary: string(in.Summary), Status: string(in.Status), ErrorDetail: string(in.ErrorDetail),
		DurationMS: number(in.DurationMS), Seq: number(in.Seq), RequestBody: in.RequestBody, ResponseBody: in.ResponseBody,
		PeerName: string(in.PeerName), PeerRole: string(in.PeerRole), CardURL: string(in.CardURL), Attachments: in.Attachments,
	}
	r.CreatedAt, _ = time.Parse(time.RFC3339, string(in.CreatedAt))
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
