// Command tcksut is the system under test for the conformance suite of A2A
// (a2aproject/a2a-tck): the runtime's own server and task engine over a runner
// that plays the suite's scripts instead of codex. A script is chosen by the
// prefix of a message's id, as the suite wants it; see [scriptFor].
//
// scripts/tck.sh does all of what follows with a checkout of the suite.
//
// # The 1.0 suite (branch 1.0-dev)
//
// One run for each line; the suite's --sut-host is http://127.0.0.1:9999.
//
//	go run ./internal/test/tcksut --addr 127.0.0.1:9999
//	go run ./internal/test/tcksut --addr 127.0.0.1:9999 --required-extension urn:a2a:tck:required-extension
//	go run ./internal/test/tcksut --addr 127.0.0.1:9999 --no-streaming
//	go run ./internal/test/tcksut --addr 127.0.0.1:9999 --push
//
//	./run_tck.py --sut-host http://127.0.0.1:9999 --transport jsonrpc,http_json
//
// The first is the run that counts; the others are for CORE-CAP-004, CORE-CAP-002
// and the requirements on push notifications. In the second the suite fails in all else,
// for it names no extension; in the third in one test that reads the text of a stream
// without having read the stream. The card is that of 1.0 alone (--card v1, the default): the suite
// refuses the additional members of the union form.
//
// # The 0.3 suite (branch 0.3.x)
//
//	go run ./internal/test/tcksut --addr 127.0.0.1:9999 --card union --public-url http://0.0.0.0:9999
//
//	./run_tck.py --sut-url http://localhost:9999 --category mandatory --transports jsonrpc
//	./run_tck.py --sut-url http://localhost:9999 --category capabilities --transports jsonrpc
//
// With --push the capabilities have push notifications among them; the mandatory
// category wants to see them refused.
//
// The suite refuses a card with the URL of a private network or of loopback in
// it, and a --sut-url without TLS that is not localhost. With another
// TCK_STREAMING_TIMEOUT than 2 s, --hold is twice that.
//
// # What differs from the product
//
//   - The suite sends many messages under one id. The product takes that for one
//     message that is sent again; the journal here, [messageIDs], forgets ids.
//   - A script may answer with a message and without a task ([direct]). The
//     product always makes a task.
//   - In the place of the executor and codex is the [runner], which plays all jobs
//     at the same time: nothing is queued, no queue is ever full.
//   - The state directory is a temporary one, and there is no token.
//   - The Host header may say anything. The product turns its list of names off
//     only with a token, in a workspace, or on a listener beyond loopback.
//   - The card has another name, description and skills: the 0.3.x suite takes
//     words of the product's for secrets. --card, --no-streaming and
//     --required-extension change it as a run of the suite needs it.
//
// All else, the extended card included, is the product's. docs/conformance.md
// maps each requirement of both suites to a test of ours.
//
// The runner and its goroutines are owned by the [sut], which waits for them.
package main
