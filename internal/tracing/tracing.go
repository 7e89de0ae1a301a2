package tracing

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"sync"
	"time"

	"github.com/go-logr/logr"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/sdk/resource"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
)

// A Config says what traces say of the runtime, and where they go.
type Config struct {
	Version   string
	Workspace string            // "" standing alone
	Endpoint  string            // URL that traces are sent to, by OTLP over HTTP
	Headers   map[string]string // of it
	Exporter  sdk.SpanExporter  // in place of it
	Logger    *slog.Logger
}

// A Tracing makes traces. Create it with [Open].
type Tracing struct {
	provider *sdk.TracerProvider
	tracer   trace.Tracer

	mu   sync.Mutex // guards jobs
	jobs map[string]*work
}

// Open starts to make traces. It connects to nothing.
func Open(ctx context.Context, cfg Config) (*Tracing, error) {
	exporter := cfg.Exporter
	if exporter == nil {
		quiet(cfg.Logger)
		made, err := otlptracehttp.New(ctx, otlptracehttp.WithEndpointURL(cfg.Endpoint), otlptracehttp.WithHeaders(cfg.Headers), otlptracehttp.WithProxy(staying))
		if err != nil {
			return nil, fmt.Errorf("the exporter of traces: %w", err)
		}
		exporter = made
	}
	attrs := []attribute.KeyValue{attribute.String("service.name", "molecule-codex-runtime"), attribute.String("service.version", cfg.Version)}
	if cfg.Workspace != "" {
		attrs = append(attrs, attribute.String("molecule.workspace.id", cfg.Workspace))
	}
	// What of it is odd in the environment leaves the rest as it is.
	about, err := resource.New(ctx, resource.WithTelemetrySDK(), resource.WithAttributes(attrs...), resource.WithFromEnv())
	if err != nil {
		cfg.Logger.Warn("a part of OTEL_RESOURCE_ATTRIBUTES cannot be used", "err", err)
	}
	provider := sdk.NewTracerProvider(sdk.WithResource(about), sdk.WithBatcher(&exports{SpanExporter: exporter, log: cfg.Logger}))
	return &Tracing{provider: provider, tracer: provider.Tracer("github.com/Molecule-AI/molecule-codex-runtime"), jobs: map[string]*work{}}, nil
}

// staying refuses to follow a redirect: to another host go all headers but those that Go knows to
// be credentials, and a collector's key has a name of its maker's. The exporter asks for the proxy
// of each request, and a client of ours would be without what its variables say of TLS.
func staying(r *http.Request) (*url.URL, error) {
	if r.Response != nil {
		return nil, errors.New("the collector redirects to " + r.URL.Host + ", which is not followed")
	}
	return http.ProxyFromEnvironment(r)
}

// closeLimit is what is left to the spans that have not been handed over at the end.
const closeLimit = 2 * time.Second

// Close hands over what is left, for as long as that may take.
func (t *Tracing) Close() error {
	if t == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), closeLimit)
	defer cancel()
	err := t.provider.Shutdown(ctx)
	if errors.Is(err, context.DeadlineExceeded) { // said already, if it is news
		return nil
	}
	return err
}

// quiet has what OpenTelemetry has to say in our log, where secrets are taken out of it: it
// quotes variables that it cannot read.
func quiet(log *slog.Logger) {
	otel.SetLogger(logr.FromSlogHandler(log.Handler()))
	otel.SetErrorHandler(otel.ErrorHandlerFunc(func(err error) { log.Debug("tracing met an error", "err", err) }))
}

// sayEvery is how often the log says that spans are lost.
const sayEvery = time.Minute

// exports is an exporter that says what is wrong at most once in a while.
type exports struct {
	sdk.SpanExporter
	log *slog.Logger

	// Only the one goroutine that exports uses these.
	said time.Time
	lost int
}

// ExportSpans implements [sdk.SpanExporter].
func (e *exports) ExportSpans(ctx context.Context, spans []sdk.ReadOnlySpan) error {
	err := e.SpanExporter.ExportSpans(ctx, spans)
	if err == nil {
		return nil
	}
	e.lost += len(spans)
	if time.Since(e.said) >= sayEvery {
		e.log.Warn("traces cannot be handed over and are lost; look at OTEL_EXPORTER_OTLP_ENDPOINT and at what listens there", "spans", e.lost, "err", err)
		e.said, e.lost = time.Now(), 0
	}
	return nil // it would be said again, and nobody could do anything about it
}
