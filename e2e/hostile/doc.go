// Package hostile attacks the built program, on the real codex with a scripted model
// behind it, as a stranger, a page in a browser, a peer, a platform, an endpoint and a
// codex would that mean harm.
//
// # Worlds
//
// Starting the program is what costs, so that a test starts one for many rows: standing
// alone without a token and with one, as a workspace that its platform reaches, and as a
// channel. Each has secrets planted in it, see [world]: tokens, the key of the model, the
// words of a conversation, a file beside the working directory.
//
// # Rows
//
// A row says what is sent and whether it is let in. What must not have happened is looked
// at for all rows alike: an answer to a stranger has no secret in it, and a request that
// is refused leaves its mark, which begins with "refused-", neither with the model nor in
// a file. In the end the program answers as before, and its log has no secret.
//
// Without flags the tests take what fits into a minute; make hostile takes all.
package hostile
