package fakemodel

// BuiltInName is how the built-in model introduces itself.
const BuiltInName = "built-in scripted model"

// builtInPrefix begins each of its messages, so that nobody takes one for the
// words of a real model.
const builtInPrefix = "[" + BuiltInName + ", no intelligence behind it] "

const builtInHelp = `It does what a message's first line says, line by line:
  say TEXT              answers TEXT
  stream N BYTES [20ms] streams N pieces of text
  run COMMAND           runs a shell command through codex and answers its output
  background COMMAND    the same, without waiting for its end
  escalate COMMAND      wants to run it outside the sandbox, so that codex asks you
  patch FILE            has codex create FILE, which shows as a diff
  plan                  shows a plan
  think TEXT            shows reasoning, then answers
  remember TEXT, recall the second answers from the conversation's history
  wait 2s, hang         says nothing for a while, or until it is canceled
  fail 429, drop        refuses, or breaks off
Anything else is echoed. For answers with thought behind them, start the runtime with a
credential: OPENAI_API_KEY, or codex login before it.`

// Echo answers "echo: " and the user's last words.
func Echo(t *Turn) { t.Say("echo: " + t.LastUserText()) }

// Keywords does what the lines of the user's last message say; see the table
// of commands. Lines that are no command are skipped; a message without any
// command is echoed, as [Echo] does. It keeps no state: all that it knows
// stands in the request.
func Keywords(t *Turn) { interpreter{}.answer(t) }

// BuiltIn is the model of a runtime without a credential. It takes a message
// for commands only if the first line is one, answers as [Keywords] does, and
// says in every message what it is.
func BuiltIn(t *Turn) {
	interpreter{prefix: builtInPrefix, help: builtInHelp, strict: true}.answer(t)
}
