// Package ask takes apart what codex asks by requests of its own, puts it into words and data for
// those who answer, and makes codex's answer of theirs.
//
// [Read] is the table of the methods. What it returns is posed ([Request.Pose]) with what is known
// beside it, a [View], and answered ([Posed.Answer]) by what was posed. Where no question is put,
// codex is told [Request.Grant] or [Request.Refusal].
//
// The package is pure: it reads no file, takes no lock and keeps nothing between calls. Where paths
// lead, what has begun, and what commands can write, is asked by functions that it is given.
package ask
