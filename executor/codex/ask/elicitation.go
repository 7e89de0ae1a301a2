package ask

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/Molecule-AI/molecule-codex-runtime/agent"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/brief"
)

// An elicitation is the body of mcpServer/elicitation/request.
type elicitation struct {
	Server  string `json:"serverName"`
	Mode    string `json:"mode"`
	Message string `json:"message"`
	URL     string `json:"url"`
	Schema  any    `json:"requestedSchema"` // mostly an object
	Meta    struct {
		Kind        string `json:"codex_approval_kind"`
		Tool        string `json:"tool_name"`
		Description string `json:"tool_description"`

		Persist json.RawMessage `json:"persist"` // a list of words, or one
		Params  json.RawMessage `json:"tool_params"`
	} `json:"_meta"`
}

// readElicitation reads what an MCP server asks, or what codex asks about one.
func readElicitation(params json.RawMessage) (subject, error) {
	if raw, err := decode[struct {
		Schema json.RawMessage `json:"requestedSchema"`
	}](params); err == nil && len(raw.Schema) > mostShown || len(params) > mostElicited {
		return overfull{}, nil
	}
	body, err := decode[elicitation](params)
	if body.Meta.Kind == toolCall && body.Meta.Tool == "" {
		body.Meta.Tool = body.toolInWords()
	}
	switch {
	case err != nil:
		return nil, err
	case body.Mode == "url":
		return body.link(), nil
	case !strings.HasSuffix(strings.ToLower(body.Mode), "form"):
		return nil, fmt.Errorf("its mode %q is not known", body.Mode)
	case body.Meta.Kind == toolCall && len(fieldsOf(body.Schema)) == 0:
		return claim{elicitation: body, subject: body.tool(), other: body.form()}, nil
	}
	return body.form(), nil
}

// toolCall is the kind of what codex asks about a call of an MCP server's tool.
const toolCall = "mcp_tool_call"

// toolQuestion is how codex words the question whether it may call a tool of a server.
func toolQuestion(server, tool string) string {
	return fmt.Sprintf("Allow the %s MCP server to run tool %q?", server, tool)
}

// toolInWords is the tool that the words are about, where codex names it nowhere else (seen on 0.166.0 and
// before).
func (e elicitation) toolInWords() string {
	before, after, _ := strings.Cut(toolQuestion(e.Server, ""), `""`)
	words, begins := strings.CutPrefix(e.Message, before)
	words, ends := strings.CutSuffix(words, after)
	if tool, err := strconv.Unquote(words); begins && ends && err == nil {
		return tool
	}
	return ""
}

// mostElicited is how large a request may be that an MCP server has put together: it is kept for as
// long as it is open.
const mostElicited = 4 << 20

// An overfull form has more to be filled in than is shown, or more beside that than is kept. Nothing
// is made of it, which would take many times what it has of memory.
type overfull struct{}

func (overfull) pose(*draft) Posed {
	return Posed{kind: "form", data: map[string]any{}, large: true}
}

func (overfull) answer(agent.Answer) (Reply, error) {
	return Reply{}, agent.NotUnderstood("It is too large to be answered.")
}

func (overfull) grant() any { return elicited(agent.Decline, nil) }

func elicited(action string, content any) map[string]any {
	return map[string]any{"action": action, "content": content}
}

// tool asks for leave to call a tool: an approval in the shape of a form.
func (e elicitation) tool() subject {
	choices := []choice{{agent.Accept, "yes", Reply{Value: elicited(agent.Accept, map[string]any{})}}}
	if slices.Contains(e.persist(), "session") {
		always := elicited(agent.Accept, map[string]any{})
		always["_meta"] = map[string]any{"persist": "session"}
		choices = append(choices, choice{agent.AcceptForSession, "always (yes, and the tool is not asked about again in this conversation)", Reply{Value: always, lasts: true}})
	}
	choices = append(choices,
		choice{agent.Decline, "no (codex goes on without it)", Reply{Value: elicited(agent.Decline, nil)}},
		choice{agent.Cancel, "", Reply{Value: elicited(agent.Cancel, nil)}})
	return approval{choices: choices, show: func(d *draft) Posed {
		data := map[string]any{}
		set(data, "server", e.Server)
		set(data, "tool", e.Meta.Tool)
		set(data, "description", d.shown(e.Meta.Description))
		setAny(data, "arguments", d.arguments(e.Meta.Params))
		text := "codex asks whether it may call the tool " + titled(e.Meta.Tool) + " of the MCP server " + titled(e.Server) + "."
		if called := spelled(e.Meta.Params); called != "null" {
			text += "\n\n" + brief.Indented(d.shown(called))
		}
		if e.Message != toolQuestion(e.Server, e.Meta.Tool) { // codex's own words for it
			set(data, "message", d.shown(e.Message))
			text += setOff("\n\nIt is asked in these words: ", d.shown(e.Message))
		}
		return Posed{kind: "tool", text: text, data: data}
	}}
}

func (e elicitation) persist() []string {
	all, _ := exactly(e.Meta.Persist)
	list, _ := all.([]any)
	if one, ok := all.(string); ok {
		list = []any{one}
	}
	words := make([]string, 0, len(list))
	for _, word := range list {
		words = append(words, fmt.Sprint(word))
	}
	return words
}

// link asks somebody to open a page.
func (e elicitation) link() subject {
	choices := []choice{
		{agent.Accept, "yes (when you have done it)", Reply{Value: elicited(agent.Accept, nil)}},
		{agent.Decline, "no", Reply{Value: elicited(agent.Decline, nil)}},
		{agent.Cancel, "", Reply{Value: elicited(agent.Cancel, nil)}},
	}
	return approval{choices: choices, show: func(d *draft) Posed {
		data := map[string]any{"server": e.Server, "message": d.shown(e.Message), "url": e.URL}
		text := e.says(d.shown(e.Message)) + "\n\nIt wants you to open " + brief.Named(e.URL)
		return Posed{kind: "link", text: text, data: data, users: true, large: len(e.URL) > mostShown}
	}}
}

// says puts what the server asks into words.
func (e elicitation) says(message string) string {
	return setOff("The MCP server "+titled(e.Server)+" asks: ", message)
}

// form asks for values.
func (e elicitation) form() subject {
	schema := readFormSchema(e.Schema)
	f := form{
		fields: fieldsOf(e.Schema), refusal: elicited(agent.Decline, nil),
		words: []string{agent.Decline, agent.Cancel},
		values: func(data map[string]any) map[string]any {
			content, _ := data["content"].(map[string]any)
			return content
		},
		encode: func(values map[string]any) (any, error) {
			if err := schema.fits(values); err != nil {
				return nil, agent.NotUnderstood("That does not fit what is asked: %s.", misfit(err))
			}
			return elicited(agent.Accept, values), nil
		},
		decided: func(word string) (any, bool) {
			return elicited(word, nil), word == agent.Decline || word == agent.Cancel
		},
	}
	how := howToFill(f.fields)
	if len(f.fields) == 0 { // there is nothing to fill in
		f.words = append(f.words, agent.Accept)
		f.decided = func(word string) (any, bool) {
			if word == agent.Accept {
				return elicited(word, map[string]any{}), true
			}
			return elicited(word, nil), word == agent.Decline || word == agent.Cancel
		}
		how = "Answer yes"
	}
	f.show = func(d *draft) Posed {
		data := map[string]any{
			"server": e.Server, "message": d.shown(e.Message), "schema": d.value(e.Schema),
			"choices": []any{agent.Accept, agent.Decline, agent.Cancel},
		}
		text := e.says(d.shown(e.Message))
		if len(f.fields) > 0 {
			text += "\n\n" + d.shown(inLines(d, "It wants: ", f.fields))
		}
		return Posed{kind: "form", text: text, accepts: how + ", or with decline.", data: data, large: len(encoded(e.Schema)) > mostShown}
	}
	return f
}

// fieldsOf lists the fields of a form by their names, those that must be there first.
func fieldsOf(schema any) []field {
	object, _ := schema.(map[string]any)
	properties, _ := object["properties"].(map[string]any)
	required, _ := object["required"].([]any)
	var first, then []field
	for _, id := range slices.Sorted(maps.Keys(properties)) {
		property, _ := properties[id].(map[string]any)
		f := fieldOf(id, property)
		if f.required = slices.Contains(required, any(id)); f.required {
			first = append(first, f)
		} else {
			then = append(then, f)
		}
	}
	return append(first, then...)
}

func fieldOf(id string, property map[string]any) field {
	f := field{id: id, label: id}
	if title, ok := property["title"].(string); ok && title != "" {
		f.label = title
	} else if description, ok := property["description"].(string); ok && description != "" {
		f.label = id + ": " + description
	}
	switch property["type"] {
	case "boolean":
		f.options = []option{{label: "yes", value: true}, {label: "no", value: false}}
	case "number", "integer":
		f.parse = func(text string) (any, error) {
			n, err := strconv.ParseFloat(text, 64)
			if err != nil || math.IsNaN(n) || math.IsInf(n, 0) { // of these JSON has none
				return nil, agent.NotUnderstood("%q is no number.", brief.Clip(text, 64))
			}
			if !isExact(text) && json.Valid([]byte(text)) {
				return json.Number(text), nil
			}
			return n, nil
		}
	case "array":
		items, _ := property["items"].(map[string]any)
		f.list, f.options = true, optionsOf(items, "anyOf")
	default:
		f.options = optionsOf(property, "oneOf")
	}
	return f
}

// optionsOf reads the values that a property may have, in any of the ways in
// which MCP says so.
func optionsOf(property map[string]any, titled string) []option {
	all, _ := property[titled].([]any)
	values, _ := property["enum"].([]any)
	options := make([]option, 0, len(all)+len(values))
	for _, one := range all {
		object, _ := one.(map[string]any)
		title, _ := object["title"].(string)
		options = append(options, option{label: title, value: object["const"]})
	}
	names, _ := property["enumNames"].([]any)
	for i, value := range values {
		o := option{label: fmt.Sprint(value), value: value}
		if n, ok := value.(float64); ok {
			o.label = strconv.FormatFloat(n, 'f', -1, 64)
		}
		if i < len(names) {
			o.label = fmt.Sprint(names[i])
		}
		options = append(options, o)
	}
	return options
}
