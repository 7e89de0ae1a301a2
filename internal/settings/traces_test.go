package settings

import (
	"maps"
	"slices"
	"strings"
	"testing"
)

func TestTraces(t *testing.T) {
	for _, test := range []struct {
		name, environ, want string
		explained           bool
	}{
		{"nothing", "", "", false},
		{"base", "OTEL_EXPORTER_OTLP_ENDPOINT=http://c:4318", "http://c:4318/v1/traces", false},
		{"base with a path", "OTEL_EXPORTER_OTLP_ENDPOINT=https://c/otlp/", "https://c/otlp/v1/traces", false},
		{"exact", "OTEL_EXPORTER_OTLP_ENDPOINT=http://c:4318 OTEL_EXPORTER_OTLP_TRACES_ENDPOINT=http://t/x", "http://t/x", false},
		{"disabled", "OTEL_EXPORTER_OTLP_ENDPOINT=http://c OTEL_SDK_DISABLED=true", "", false},
		{"none", "OTEL_EXPORTER_OTLP_ENDPOINT=http://c OTEL_TRACES_EXPORTER=none", "", false},
		{"another", "OTEL_EXPORTER_OTLP_ENDPOINT=http://c OTEL_TRACES_EXPORTER=zipkin", "", true},
		{"grpc", "OTEL_EXPORTER_OTLP_ENDPOINT=http://c:4317 OTEL_EXPORTER_OTLP_PROTOCOL=grpc", "", true},
		{"grpc but for traces", "OTEL_EXPORTER_OTLP_ENDPOINT=http://c OTEL_EXPORTER_OTLP_PROTOCOL=grpc OTEL_EXPORTER_OTLP_TRACES_PROTOCOL=http/protobuf", "http://c/v1/traces", false},
		{"a password", "OTEL_EXPORTER_OTLP_ENDPOINT=https://me:s3cret@c", "", true},
		{"a query", "OTEL_EXPORTER_OTLP_ENDPOINT=https://c/otlp?key=s3cret", "", true},
		{"no URL", "OTEL_EXPORTER_OTLP_ENDPOINT=collector:4317", "", true},
	} {
		t.Run(test.name, func(t *testing.T) {
			s, _, err := load(append([]string{"HOME=/home/u"}, strings.Fields(test.environ)...), fakeHost{dir: "/src"})
			if err != nil {
				t.Fatal(err)
			}
			got, why := s.Traces()
			if got != test.want || (why != "") != test.explained {
				t.Errorf("%q, %q", got, why)
			}
		})
	}
}

func TestTracesHeadersAreSecret(t *testing.T) {
	s, _, err := load([]string{"HOME=/home/u", "OTEL_EXPORTER_OTLP_HEADERS=api-key=s3cret%20x, other = y", "OTEL_EXPORTER_OTLP_TRACES_HEADERS=Authorization=Bearer t0ken,odd"}, fakeHost{dir: "/src"})
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{"api-key": "s3cret x", "other": "y", "Authorization": "Bearer t0ken"}
	if got := s.TracesHeaders(); !maps.Equal(got, want) {
		t.Errorf("headers %v", got)
	}
	for _, secret := range []string{"s3cret x", "t0ken"} {
		if !slices.Contains(s.Secrets(), secret) {
			t.Errorf("%s is not among the secrets", secret)
		}
	}
}

// TestTracesHeadersWrittenWrongly are secret, too, in as much of them as an error would quote.
func TestTracesHeadersWrittenWrongly(t *testing.T) {
	for list, secret := range map[string]string{
		"Authorization: Basic dXNlcjpwYXNzd29yZDEyMw==": "dXNlcjpwYXNzd29yZDEyMw",
		"a=b, Api Key dd0c1f8a0011=x":                   "dd0c1f8a0011",
		"Authorization:tok_0123456789":                  "tok_0123456789",
		"Authorization Bearer tok_0123456789":           "tok_0123456789",
		"glc_eyJvIjoi/MTIzNDU2Nzg5MA==":                 "glc_eyJvIjoi/MTIzNDU2Nzg5MA",
		"Authorization;tok_0123456789=":                 "Authorization;tok_0123456789",
	} {
		s := mustLoad(t, nil, "OTEL_EXPORTER_OTLP_ENDPOINT=http://c", "OTEL_EXPORTER_OTLP_HEADERS="+list)
		if !slices.Contains(s.Secrets(), secret) {
			t.Errorf("%s: %q are secret", list, s.Secrets())
		}
	}
}
