package settings

import (
	"cmp"
	"net/url"
	"strings"
)

// Traces says where traces go; "" if none are made. Why is the reason, where somebody may
// have expected some: the variables are read as OpenTelemetry has them, and what is odd in
// them is never a reason not to start.
func (s Settings) Traces() (endpoint, why string) {
	base := strings.TrimSpace(s.OTLPEndpoint)
	endpoint = strings.TrimSpace(s.OTLPTraces)
	exact := endpoint != ""
	protocol := strings.TrimSpace(cmp.Or(s.OTLPTracesProtocol, s.OTLPProtocol))
	switch {
	case base == "" && !exact, strings.EqualFold(s.OTelDisabled, "true"), s.OTelExporter == "none":
		return "", ""
	case s.OTelExporter != "" && s.OTelExporter != "otlp":
		return "", "OTEL_TRACES_EXPORTER: this runtime exports otlp or none"
	case protocol != "" && protocol != "http/protobuf":
		return "", "OTEL_EXPORTER_OTLP_PROTOCOL: this runtime speaks http/protobuf, which collectors take at port 4318"
	case !exact:
		endpoint = strings.TrimRight(base, "/") + "/v1/traces"
	}
	u, err := url.Parse(endpoint)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return "", "OTEL_EXPORTER_OTLP_ENDPOINT: want http://host[:port] or https://host[:port]"
	}
	if u.User != nil || u.RawQuery != "" || u.Fragment != "" { // it would not be sent, and be in the log
		return "", "OTEL_EXPORTER_OTLP_ENDPOINT: it has a user name or a query in it; send credentials by OTEL_EXPORTER_OTLP_HEADERS"
	}
	return endpoint, ""
}

// TracesHeaders are sent to where traces go.
func (s Settings) TracesHeaders() map[string]string {
	headers := map[string]string{}
	for _, list := range []Secret{s.OTLPHeaders, s.OTLPTracesHeaders} {
		for pair := range strings.SplitSeq(list.Reveal(), ",") {
			name, value, ok := strings.Cut(pair, "=")
			if name = strings.TrimSpace(name); !ok || name == "" {
				continue
			}
			value = strings.TrimSpace(value)
			if plain, err := url.PathUnescape(value); err == nil {
				value = plain
			}
			headers[name] = value
		}
	}
	return headers
}

// headerSecrets are what must not be shown of them. Of one that is not written as it should be, as
// "Authorization: Basic …", that is what stands behind the name: who reads it says it in an error.
func (s Settings) headerSecrets() []string {
	var secrets []string
	for _, value := range s.TracesHeaders() {
		secrets = append(secrets, value)
		if _, credential, ok := strings.Cut(value, " "); ok { // behind Bearer or Basic
			secrets = append(secrets, credential)
		}
	}
	for _, list := range []Secret{s.OTLPHeaders, s.OTLPTracesHeaders} {
		for pair := range strings.SplitSeq(list.Reveal(), ",") {
			name, _, _ := strings.Cut(strings.TrimSpace(pair), "=")
			if strings.ContainsFunc(name, isNoName) {
				secrets = append(secrets, name)
			}
			if at := strings.IndexAny(name, ": \t"); at >= 0 {
				behind := strings.Trim(name[at:], ": \t")
				secrets = append(secrets, behind, behind[strings.LastIndex(behind, " ")+1:])
			}
		}
	}
	return secrets
}

// isNoName reports whether a character stands in no header's name.
func isNoName(r rune) bool {
	return r > '~' || r <= ' ' || strings.ContainsRune(`"(),/:;<=>?@[\]{}`, r)
}
