// Package desk has the messages of inboxes wait until an agent fetches and answers them, behind an MCP host that
// nothing can wake. It is a [channel.Engine] that runs nothing.
//
// # A message's way
//
// The channel gives a message ([Desk.Give]), and it lies on the desk in the order of acceptance. [Desk.Wait] shows the
// first and leaves it there; [Desk.Reply] has the channel keep its answer, and [Desk.Pop] that it gets none. Both return
// when that is in the store. What is on the desk is nowhere but in the store: after a restart the channel gives it anew,
// and before what was there is back, no later message is shown.
//
// # Answers on another way
//
// The agent may also tell a sender something by itself. [Desk.Telling] notes that, before it happens, with each message of
// that sender that was shown, so that an agent which is asked anew after a death can see that it may have answered.
package desk
