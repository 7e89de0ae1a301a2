package binding

import "github.com/go-chi/chi/v5"

// Routes mounts all bindings at their paths.
func (b *Bindings) Routes(r chi.Router) {
	r.Post("/", b.JSONRPC)
	r.Post("/a2a", b.JSONRPC)
	b.restRoutes(r)
	b.restRoutesV0(r)
}
