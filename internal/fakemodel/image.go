package fakemodel

import "net/http"

// Picture is the image that the model makes, in base64: a PNG of one dot. codex 0.169.0
// asks for it when the tool imagegen of the namespace image_gen is called, which it
// offers with a ChatGPT login only.
const Picture = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg=="

func paint(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write([]byte(marshal(map[string]any{"created": 1, "data": []any{map[string]any{"b64_json": Picture}}})))
}
