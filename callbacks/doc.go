// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

// Package callbacks is a chain of guards for agents built with Google's Agent
// Development Kit for Go. ADK bounds nothing by itself and lets streaming tools,
// nested agents and panics walk past its callbacks; a chain declared once holds
// for every call, streamed tool and nested agent it is attached to.
//
//	chain := callbacks.New(guards.CallBudget(6), guards.AllowTools("lookup"))
//	a, err := chain.NewAgent(llmagent.Config{Name: "researcher", …})
//
// # Reading path
//
// Five files, some 750 lines, explain everything else: this one (the rules), guard.go (what a guard is),
// chain.go (how guards are ordered and attached), and two guards of package guards,
// allowtools.go (a hook that refuses) and args.go (a hook that reads arguments and says
// what was wrong). What ADK does that makes the wrappers necessary stands in docs/traps.md.
//
// # The law of the chain
//
//  1. Hooks run in the order their guards stand in, before and after hooks alike.
//     The first non-nil value or error ends that hook's chain and decides the
//     step. Wrappers nest: New(a, b) calls a(b(model)); the first guard is the
//     outermost.
//  2. A map or response means replace. To refuse, return [Deny] (this call), [End]
//     (this agent), [Fail] (this agent, as an error) or [Stop] (the Run). Any other error
//     refuses the call too, with a neutral text.
//  3. To change something and let the next hook see it, change the copy you were
//     handed and return nil: fields of the response, top-level keys of arguments
//     or result. Replace nested values, never edit them: ADK shares them with the
//     stored session. So are the contents and parts of a request.
//  4. Observers are told once per step, after the whole chain, with the final
//     value. They decide nothing.
//  5. A hook that panics refuses the step and never takes the process down.
//  6. What a model reads is safe by construction: an unexpected error becomes a
//     short neutral text, its cause goes to the observers. An error with a method
//     ModelText() string says itself what the model may read.
//  7. before_tool returning the very arguments it was given is denied as a faulty
//     guard; after_model or after_tool returning the value handed in is a last
//     word.
//  8. Chunks of a stream keep their Partial flag, usage is read once from the final
//     response, a nil result with a nil error stays nil, and ADK's confirmation
//     errors pass untouched.
//  9. No answer steps around the gate. Directly before each effect, an attempt of a
//     model or a run of a tool, inside all wrappers and after every wait, the Gate of
//     each guard is asked with what was decided, guards that judge arguments look
//     again where anything may have changed them, and the Run's stop is looked at.
//  10. No answer steps around the last pass. What was decided, by whichever hook, goes
//     through the after hooks of the guards with a LastPass before it is stored,
//     streamed, reported or handed on.
//  11. A stopped Run refuses every effect that has not begun, ends what waits and cancels
//     the contexts of what is in flight. A stop that is [Refusal.Graceful], as those of
//     budgets are, lets the steps that have begun finish.
//
// # What a hook's answer becomes
//
//	hook           Deny                    End                       Stop
//	before_agent   content, agent skipped  the same                  the same, Run stopped
//	before_model   refusal response        the same                  the same, Run stopped
//	after_model    refusal response        the same                  the same, Run stopped
//	on_model_error refusal response        the same                  the same, Run stopped
//	before_tool    {"error": text}         and SkipSummarization     and Escalate, Run stopped
//	after_tool     {"error": text}         and SkipSummarization     and Escalate, Run stopped
//	on_tool_error  {"error": text}         and SkipSummarization     and Escalate, Run stopped
//	wrap_model     as on_model_error       (yield the refusal as the error)
//	wrap_tool      as before_tool          (return the refusal as the error)
//	on_event       text and results of the event withheld, calls stay paired
//	on_user_message  the run ends with the refusal as its error, whatever its scope
//	before_run       as before_agent of the first agent, and the Run is stopped
//
// [Fail] ends the agent with an error, a [FailedError], for something around the agent
// to contain: at once from a model hook; from a tool hook the model's call is answered
// as by Deny and the agent fails in place of its next model call; from before_agent it
// is an End.
//
// ADK shares one state delta among the events of a step, which goes on and may write to it while
// a chunk is read. Chunks have an empty one of their own in [Run.Events], under a plugin and from
// a node of [Chain.Node]; elsewhere leave Actions of a partial event alone.
//
// An agent that is refused five times in a row without a call of its model in between,
// which is what an unbounded loop around an ended agent does, stops the Run.
//
// A refusal response is final, so on the model side Deny ends the agent's turn as
// End does. A panic is a Deny with code [codes.GuardPanicked].
//
// # Forms of attachment
//
//	hook                                      on an agent      as a plugin
//	before/after/on error of model and tool   yes              yes
//	before_agent, after_agent                 yes              yes
//	on_user_message, before_run, after_run,
//	on_event                                  refused if needed  yes
//	wrap_tool                                 yes              yes
//	gate of tools                             yes              yes
//	gate of models                            each attempt     once a step, after before_model
//	wrap_model                                yes              refused if needed
//	wrap_agent                                NewAgent only    refused if needed
//	observe                                   yes              yes
//
// In a graph both forms need [Chain.Edges] and [Chain.Tool] too, see below.
//
// "Refused if needed" means at construction, with [ErrForm], where the guard's
// Info says that it does not do its work without that hook; a hook that is only
// an extra is left out. On an agent the chain covers function tools, streaming
// tools, agents used as tools, toolsets and the model itself. As a plugin it
// covers every agent of the runner, but not the inside of an agent used as a
// tool: ADK runs that without plugins, so attach the chain there as well; where
// both meet, each call passes the hooks once. A response that a plugin's
// after_model hook changed is not seen by callbacks on the agent.
//
// A call resumed after a confirmation meets a plugin with its raw tool. The chain runs
// it itself where a hook changed the arguments or a guard wraps tools, before the
// callbacks that come later; a tool that answers later is refused there.
//
// A plugin of somebody else's that answers in the model's place leaves the model
// hooks unrun, those of the same chain's plugin too where it comes first; an answer in
// a tool's place passes the tool hooks. Put the chain's plugin before all others.
//
// # Graphs
//
// Of ADK's graph of nodes (workflow, workflowagent) hooks see the agents only, and nothing but a
// node's error ends it. Build it with
//
//	edges, err := chain.Edges(workflow.Chain(workflow.Start, ask, pay))
//
// so that a stop ends it before the next node, and a refusal in a node ends it with an error
// that is [ErrStopped], [ErrEnded], [ErrDenied] or [ErrFailed] and has a [FailedError]: a
// refusal's text is never an output. Give a tool node a tool of [Chain.Tool], and make with
// [Chain.Node] what a parallel worker or workflow.RunNode runs. What can be seen to run uncovered
// is refused, with [ErrUncovered]; [Check] reads the nodes of a graph that is built.
//
// Runs of agents of one name at once in one branch are kept apart where each is a node of
// [Chain.Node], or an agent that a guard wraps ([Guard].WrapAgent). Use one agent object for
// each: ADK itself has a data race on one that two run. A gap that a guard leaves in a node's
// place (guards.Contain) is no output, and in a later round of a cycle a join takes the one of
// the round before.
//
// # What no chain can cover
//
// In a graph: the code of function nodes, dynamic nodes and node types of your own, but for what
// they run of the above; nodes given to RunNode bare, of which a refusal is an output; a join,
// where a node beside it is bare; a pause: ADK asks for approvals under an LLM agent only, and
// runs all children of a dynamic node again when it is resumed. RunNode keeps of an error its
// text alone, and a dynamic node that goes on after one may pay: the stop is looked at before
// each guarded node and step.
//
// Live mode, which skips model hooks: an agent with a chain refuses to start it, and
// a run under a chain's plugin ends with an error. Tools that run on the provider's
// servers. Code in your process that holds the API key.
//
// As a plugin, a model that panics or yields nothing: only the model wrapper, on an
// agent, makes an error of it.
//
// Streams: chunks that were handed out before a refusal or a fallback can't be taken
// back. Only the final response is stored.
//
// # What ADK does beside the hooks
//
// It writes the arguments of every tool call into its execute_tool span before any
// hook has run. It drops what a step without an event leaves behind, one whose model
// failed or whose long-running tool answered nil: state, artifacts and actions; and the
// record of artifacts that model hooks save, always. What must last belongs in the
// [Run].
//
// It hands thoughts on as text: to the agents that read another agent's turns, and to
// the outer agent of an agent used as a tool.
//
// It calls after_run at a pause for an approval as well as at the end. Most contexts
// that hooks get return nil from Agent, Session, RunConfig, Memory and WithAgentTimeout,
// and EndInvocation does nothing: use their strings, their State, and [End] or [Stop].
package callbacks
