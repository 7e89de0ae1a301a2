// Package rollout reads, measures and removes the files in which codex keeps its threads, below CODEX_HOME. What
// it knows of them is in no promise of codex (docs/fidelity.md).
//
// A rollout file is one of a thread, and has a JSON object a line. It knows more than the thread's history
// shows, and than stdout has had time to say. Seen on 0.169.0, with codex killed by SIGKILL at many instants:
//
//   - The user's message stands in the file, with its client id, before the model
//     is asked (12 of 12 kills by the model as it was asked). Killed earlier, a
//     turn has left task_started and no message, and the very first turn of a
//     thread an empty file or none.
//   - A tool call (function_call, or custom_tool_call for the tool "exec")
//     stands there before the tool runs: codex killed by the first command of the
//     call itself, 53 of 53 times, also when the model's answer had not ended, and
//     with several calls in one answer. item/started was on stdout not once in
//     those 53; and the history shows no call that was cut.
//   - What a killed codex had written is whole lines. A turn/interrupt and the end
//     of stdin add turn_aborted; a text that was cut is not there at all.
//
// The kernel keeps what a killed process has written. A machine that loses its
// power may lose it.
package rollout
