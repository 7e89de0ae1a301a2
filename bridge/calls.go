package bridge

import (
	"fmt"
	"strings"
)

// calls shows how the requests to the model of a turn went, once.
func (p *Printer) calls(of any) {
	data, _ := of.(map[string]any)
	if !p.Verbose || data == nil {
		return
	}
	if text := callsIn(data); text != p.model {
		p.model = text
		p.line(dim, text)
	}
}

// callsIn says how the requests to the model went: how soon the first was answered, and the sum of all.
func callsIn(data map[string]any) string {
	number := func(key string) float64 {
		n, _ := data[key].(float64)
		return n
	}
	calls := "1 call"
	if n := number("count"); n != 1 {
		calls = fmt.Sprintf("%.0f calls", n)
	}
	if n := number("failed"); n > 0 {
		calls += fmt.Sprintf(" (%.0f failed)", n)
	}
	if transport, _ := data["transport"].(string); transport != "" {
		calls += " by " + transport
	}
	said := []string{calls}
	if first := number("firstByteSeconds"); first > 0 {
		text := fmt.Sprintf("first byte %.2f s", first)
		if connect := number("connectSeconds"); connect > 0 {
			text += fmt.Sprintf(" (connect %.2f s)", connect)
		}
		said = append(said, text)
	}
	if rate := number("tokensPerSecond"); rate > 0 {
		said = append(said, fmt.Sprintf("%.0f tokens/s", rate))
	}
	said = append(said, fmt.Sprintf("%.2f s in all", number("seconds")))
	return "model: " + strings.Join(said, ", ")
}
