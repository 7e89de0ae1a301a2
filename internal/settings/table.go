package settings

import (
	"net/netip"
	"time"
	"unicode/utf8"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/asuser"
)

// Settings is the table of settings, one field a row, and the values that
// [Load] read. The tags are:
//
//	env         the variable
//	envDefault  its default, if that is a fixed value
//	default     the default in words, where it depends on the surroundings
//	group       the heading it stands under
//	oneof       the values allowed
//	min, max    the bounds of a number or a duration
//	kind        "url" for an absolute http(s) URL, "path" for a file or directory,
//	            "networks" for a list of CIDR ranges, "labels" for a list of name=value,
//	            "switch" for a yes or no in the words that the platform takes
//	help        what it means
type Settings struct {
	Addr      string `group:"Listening" env:"RUNTIME_ADDR" default:"127.0.0.1:8000; 0.0.0.0:8000 in a workspace" help:"Listen address, host:port. 0.0.0.0 is every address, those of IPv6 too."`
	Token     Secret `group:"Listening" env:"RUNTIME_TOKEN" help:"Bearer token asked of callers when set. Needed to listen beyond loopback when standing alone, and then of 16 characters or more: openssl rand -hex 32 makes one."`
	Insecure  bool   `group:"Listening" env:"RUNTIME_INSECURE" envDefault:"false" help:"Allows listening beyond loopback without a token. Whoever reaches the port can run commands."`
	PublicURL string `group:"Listening" env:"RUNTIME_PUBLIC_URL" kind:"url" default:"taken from the request's Host" help:"URL under which callers reach the runtime; it stands in the agent card, and its host is let in."`
	Card      string `group:"Listening" env:"RUNTIME_CARD" oneof:"union,1.0" envDefault:"union" help:"Shape of the agent card: union is read by A2A 1.0 and 0.3 clients alike, 1.0 is the plain one."`
	Reply     string `group:"Listening" env:"RUNTIME_REPLY" oneof:"message,task" default:"task; message in a workspace" help:"What a blocking A2A 0.3 message/send is answered with."`

	Threads string `group:"Turns" env:"RUNTIME_THREADS" oneof:"workspace,context" default:"context; workspace in a workspace" help:"Which messages share a codex thread. context: those with the same contextId, and each without one has a thread of its own. workspace: those without one, and those of the canvas, share the main thread; others as in context. In a workspace other agents have theirs either way."`
	MidTurn string `group:"Turns" env:"RUNTIME_MID_TURN" oneof:"queue,steer" default:"queue; in a workspace steer, for messages of its user" help:"What becomes of a message that names no task and comes while a turn of its context runs: queue gives it a task of its own, which waits; steer makes it part of that turn and its task."`

	URL string `group:"Calling a runtime" env:"RUNTIME_URL" kind:"url" envDefault:"http://127.0.0.1:8000" help:"Where runtime task, runtime machines and runtime mcp find the runtime. RUNTIME_TOKEN is the token that they show."`

	Push     bool   `group:"Calling out" env:"RUNTIME_PUSH" envDefault:"true" help:"Callers may ask for push notifications: a POST to a URL of theirs with each state of a task and each finished artifact. The agent card says so."`
	Networks string `group:"Calling out" env:"RUNTIME_ALLOW_NETWORKS" kind:"networks" default:"none" help:"Networks beside the public internet that URLs of callers may lead to: a list of CIDR ranges, such as 10.0.0.0/8,127.0.0.0/8. What stands there is reached by whoever may send a message."`

	WorkDir          string `group:"Files" env:"RUNTIME_WORKDIR" kind:"path" default:"/workspace if it is there, else the current directory; ~/codex-work where that holds what commands must not write, as a home does" help:"Directory that codex works in. In the sandbox its commands write there, so CODEX_HOME, RUNTIME_STATE_DIR and the workspace's configuration must lie elsewhere."`
	StateDir         string `group:"Files" env:"RUNTIME_STATE_DIR" kind:"path" default:"$XDG_STATE_HOME or ~/.local/state, then molecule-codex-runtime; CONFIGS_DIR/.runtime in a workspace" help:"Directory of the runtime's own state."`
	FilesMiB         int    `group:"Files" env:"RUNTIME_FILES_MIB" envDefault:"1024" min:"0" max:"1048576" help:"Room in RUNTIME_STATE_DIR, in MiB, for copies of the files that replies name and of pictures that turns make, which callers get; other agents have a quarter of it, and where it is full the oldest go. 0 hands out none, but to the platform of a workspace."`
	UploadsMiB       int    `group:"Files" env:"RUNTIME_UPLOADS_MIB" envDefault:"2048" min:"1" max:"1048576" help:"Room in .molecule/chat-uploads of RUNTIME_WORKDIR, in MiB and a quarter of its disk at most, for files that messages bring and for copies of those that replies to the platform name; other agents have a quarter of it. Where it is full, files go whose tasks have ended."`
	ConversationsMiB int    `group:"Files" env:"RUNTIME_CONVERSATIONS_MIB" envDefault:"1024" min:"1" max:"1048576" help:"Room in CODEX_HOME, in MiB and a quarter of its disk at most, for codex's files of conversations; those with other agents have a quarter of it. Where it is full, those go that were not used for the longest time; the user's not within an hour. Codex's databases can take twice as much beside them."`
	ConfigsDir       string `group:"Files" env:"CONFIGS_DIR" kind:"path" default:"/configs if it can be written, else ~/.molecule-workspace" help:"Directory of the workspace's configuration. Read in a workspace only."`

	MaxTurns int `group:"Limits" env:"RUNTIME_MAX_TURNS" envDefault:"4" min:"1" max:"256" help:"Turns that run at the same time, of which other agents' leave one to the user. One that does nothing until a question is answered does not count."`

	MaxQuestions int `group:"Limits" env:"RUNTIME_MAX_QUESTIONS" envDefault:"64" min:"1" max:"1024" help:"Turns that may wait for answers without counting among those that run. One that asks beyond that goes on counting, so that fewer others run."`

	MaxContextQuestions int `group:"Limits" env:"RUNTIME_MAX_CONTEXT_QUESTIONS" envDefault:"16" min:"1" max:"1024" help:"Questions that may be open in one context: its turn and the agents of that can ask several at a time. What is asked beyond that is declined."`

	MaxQueue int `group:"Limits" env:"RUNTIME_MAX_QUEUE" envDefault:"32" min:"1" max:"10000" help:"Messages that wait in one context."`

	MaxQueueMiB int `group:"Limits" env:"RUNTIME_MAX_QUEUE_MIB" envDefault:"64" min:"1" max:"65536" help:"Memory, in MiB, that messages may take whose turns have not ended, without their files; one context may have a quarter. What is beyond that is refused, but a message that has nothing beside it."`

	MaxThreads int `group:"Limits" env:"RUNTIME_MAX_THREADS" envDefault:"16" min:"1" max:"1024" help:"Threads kept loaded in codex; others are resumed when they are needed."`

	CodexBin       string        `group:"Codex" env:"CODEX_BIN" kind:"path" default:"codex in PATH" help:"The codex binary."`
	CodexHome      string        `group:"Codex" env:"CODEX_HOME" kind:"path" default:"~/.codex; CONFIGS_DIR/.codex in a workspace" help:"Codex's home: its login, configuration and threads. Must not lie in RUNTIME_WORKDIR."`
	CodexUser      string        `group:"Codex" env:"CODEX_USER" default:"the user of the runtime" help:"User that codex and its commands run as: a name, or numbers as 1000:1000. They then cannot read the runtime's state and tokens. It takes Linux, and root or CAP_SETUID and CAP_SETGID. CODEX_HOME and RUNTIME_WORKDIR are that user's, and prompts, plugins, skills and secrets.d are read as that user. The image sets it."`
	Sandbox        string        `group:"Codex" env:"CODEX_SANDBOX" oneof:"auto,read-only,workspace-write,danger-full-access" envDefault:"auto" help:"Sandbox of codex's commands. auto is workspace-write, but danger-full-access in the image in a workspace, where the container is the boundary."`
	ApprovalPolicy string        `group:"Codex" env:"CODEX_APPROVAL_POLICY" oneof:"auto,untrusted,on-request,never" envDefault:"auto" help:"When codex asks before it acts. What it asks is put to whoever sent the message; with never nobody is asked, and it is declined. auto is on-request, but never in the image in a workspace."`
	Rules          string        `group:"Codex" env:"CODEX_RULES" oneof:"operator,callers" envDefault:"operator" help:"Who may make rules of commands that codex runs outside the sandbox unasked, in every conversation. operator: only who writes CODEX_HOME/rules. callers: also who answers codex's question about a command, with the rule that codex proposes, which the model has worded."`
	TurnTimeout    time.Duration `group:"Codex" env:"CODEX_TURN_TIMEOUT" envDefault:"60m" min:"0s" max:"168h" help:"Limit of a whole turn. 0 is off."`
	IdleTimeout    time.Duration `group:"Codex" env:"CODEX_IDLE_TIMEOUT" envDefault:"10m" min:"0s" max:"168h" help:"Limit of silence while no tool runs. 0 is off."`
	ItemTimeout    time.Duration `group:"Codex" env:"CODEX_ITEM_TIMEOUT" envDefault:"30m" min:"0s" max:"168h" help:"Limit of silence while a tool runs. 0 is off."`
	QuestionTTL    time.Duration `group:"Codex" env:"CODEX_QUESTION_TTL" envDefault:"15m" min:"0s" max:"168h" help:"How long a question of codex waits for its answer before it is declined. The three limits above rest meanwhile. 0 is for ever."`
	CodexFeatures  string        `group:"Codex" env:"RUNTIME_CODEX_FEATURES" oneof:"lean,codex" envDefault:"lean" help:"lean switches off what calls out by itself or costs time for nothing, and the plan tool on; codex leaves both as codex has them. See docs/codex-features.md."`

	RefreshOwner string `group:"Codex" env:"CODEX_AUTH_REFRESH_OWNER" oneof:"auto,0,1" envDefault:"auto" help:"Whether this runtime has codex renew its ChatGPT login about every hour, before it expires. Its refresh tokens work once, so at most one process may own a login. auto is 1 standing alone with a CODEX_HOME other than ~/.codex, else 0."`

	OpenAIKey     Secret `group:"Model" env:"OPENAI_API_KEY" default:"codex's own login" help:"API key. It reaches codex through its environment, never through arguments or files."`
	OpenAIBaseURL string `group:"Model" env:"OPENAI_BASE_URL" kind:"url" default:"https://api.openai.com/v1 with a key" help:"Endpoint that speaks the Responses API."`
	Model         string `group:"Model" env:"MODEL" default:"that of config.yaml in a workspace, else codex's own choice" help:"Model that threads are started with."`
	PlatformModel string `group:"Model" env:"MOLECULE_MODEL" help:"Goes before MODEL, in a workspace."`
	BuiltinModel  string `group:"Model" env:"RUNTIME_MODEL" oneof:"scripted" help:"scripted runs on the built-in scripted model, which needs no credential and is not intelligent."`

	ResolvedProvider string `group:"Providers" env:"MOLECULE_RESOLVED_PROVIDER" help:"Name of the provider that a workspace's model is reached by, as the platform has decided. See docs/workspace-config.md."`
	LLMProvider      string `group:"Providers" env:"LLM_PROVIDER" help:"Likewise; counts where MOLECULE_RESOLVED_PROVIDER is not set."`
	ModelProvider    string `group:"Providers" env:"MODEL_PROVIDER" help:"Likewise, after LLM_PROVIDER. If it names no provider it is the model, as on older platforms."`
	LLMBaseURL       string `group:"Providers" env:"MOLECULE_LLM_BASE_URL" default:"the platform's own endpoint" help:"Endpoint of the provider platform, which the platform bills."`
	LLMToken         Secret `group:"Providers" env:"MOLECULE_LLM_USAGE_TOKEN" help:"Key of the provider platform."`
	MiniMaxKey       Secret `group:"Providers" env:"MINIMAX_API_KEY" help:"Key of the provider minimax-token-plan."`
	CodexAuth        Secret `group:"Providers" env:"CODEX_AUTH_JSON" help:"Text of codex's auth.json with a ChatGPT login. In a workspace it is written to CODEX_HOME before codex starts, in the place of an older one."`
	AuthSync         int    `group:"Providers" env:"CODEX_AUTH_SYNC_INTERVAL_SECONDS" envDefault:"3600" min:"0" max:"604800" help:"How often a workspace asks the platform for a newer CODEX_AUTH_JSON. 0 asks at the start only."`

	WorkspaceID    string `group:"Workspace" env:"WORKSPACE_ID" help:"Id of the workspace on the platform. With PLATFORM_URL it makes this a workspace; without, the runtime stands alone."`
	PlatformURL    string `group:"Workspace" env:"PLATFORM_URL" kind:"url" help:"URL of the platform."`
	ConfigPath     string `group:"Workspace" env:"WORKSPACE_CONFIG_PATH" kind:"path" default:"CONFIGS_DIR" help:"Directory of config.yaml and of secrets.d. Where it is set, a config.yaml that is not there yet is waited for, 60 s at most."`
	WorkspaceToken Secret `group:"Workspace" env:"MOLECULE_WORKSPACE_TOKEN" help:"The workspace's token, where no file holds it. CONFIGS_DIR/.auth_token, which the platform writes, goes before it."`
	TokenFile      string `group:"Workspace" env:"MOLECULE_WORKSPACE_TOKEN_FILE" kind:"path" help:"File that holds the workspace's token; goes before CONFIGS_DIR/.auth_token. It is read with each call."`
	OrgID          string `group:"Workspace" env:"MOLECULE_ORG_ID" help:"Id of the organisation, which platforms of many organisations ask for."`
	Tools          string `group:"Workspace" env:"RUNTIME_TOOLS" oneof:"dynamic,mcp,off" envDefault:"dynamic" help:"How codex gets the workspace tools: dynamic in its threads, mcp from an MCP server that it starts (runtime mcp; the token must stand in a file), off not at all. Where a conversation would lose tools or gain some, it goes on in a new thread."`
	DelegationSecs int    `group:"Workspace" env:"DELEGATION_TIMEOUT" envDefault:"300" min:"1" max:"1500" help:"Seconds that delegate_task waits for a peer."`
	ViaInbox       bool   `group:"Workspace" env:"DELEGATION_SYNC_VIA_INBOX" envDefault:"false" help:"Has delegate_task go by the platform's delegations, and not send to the peer."`
	WorkspaceURL   string `group:"Workspace" env:"MOLECULE_WORKSPACE_URL" kind:"url" default:"http://, the host's name and the port" help:"URL under which the platform and other workspaces reach this one. It is registered as it is."`
	DeliveryMode   string `group:"Workspace" env:"MOLECULE_DELIVERY_MODE" default:"push" help:"How the platform brings messages. This runtime takes those that are pushed to it and registers so, whatever stands here; anything else is warned about."`
	ParentID       string `group:"Workspace" env:"PARENT_ID" help:"Id of the workspace above this one, whose shared context codex is told."`
	PluginsDir     string `group:"Workspace" env:"PLUGINS_DIR" kind:"path" default:"none" help:"Folder with plugins beside CONFIGS_DIR/plugins."`
	A2AAuth        string `group:"Workspace" env:"MOLECULE_A2A_REQUIRE_AUTH" kind:"switch" default:"no" help:"1, true, yes or on asks callers of A2A for the secret that the platform has given the workspace (CONFIGS_DIR/.platform_inbound_secret). Set it only if the platform sends it. RUNTIME_TOKEN will do, too."`
	InContainer    bool   `group:"Workspace" env:"RUNTIME_IN_CONTAINER" envDefault:"false" help:"Says that the container is the boundary. Set by the image."`

	Machines       string        `group:"Machines" env:"RUNTIME_MACHINES" default:"none: commands run here" help:"Machines that commands of conversations run on, each with runtime machine on it: a list as https://host:port#sha256:FINGERPRINT, with commas between them; file: and a path, with an entry a line, which is watched; or dns:name:port, whose addresses are followed. See docs/machines.md."`
	MachinesToken  Secret        `group:"Machines" env:"RUNTIME_MACHINES_TOKEN" help:"The token of those machines, one for all: runtime machine token prints it there."`
	MachinesSecret string        `group:"Machines" env:"RUNTIME_MACHINES_TOKEN_FILE" kind:"path" help:"File that holds it; goes before it, and is read again when it changes."`
	MachinesCA     string        `group:"Machines" env:"RUNTIME_MACHINES_CA" kind:"path" default:"the system's" help:"File with the certificates that machines are trusted by which have no fingerprint in the list."`
	MachinesFiles  string        `group:"Machines" env:"RUNTIME_MACHINES_FILES" oneof:"shared,git" envDefault:"shared" help:"shared: all machines see RUNTIME_WORKDIR, under the same name, as on a volume. git: each conversation has a worktree and a branch of its own, whose commits this runtime keeps."`
	MachinesLabels string        `group:"Machines" env:"RUNTIME_MACHINES_LABELS" default:"none" help:"Labels that machines must have to be used, as key=value with commas between them. A message may ask for more of them in its metadata, not for fewer."`
	MachinesWait   time.Duration `group:"Machines" env:"RUNTIME_MACHINES_WAIT" envDefault:"30m" min:"0s" max:"24h" help:"How long a message waits for a machine with room, until it fails."`
	MachinesRepo   string        `group:"Machines" env:"RUNTIME_MACHINES_REPO" default:"RUNTIME_WORKDIR, if that is one" help:"With RUNTIME_MACHINES_FILES=git: the repository that the branches of conversations begin at, as a path or a URL."`

	Workspaces   Secret        `group:"Channel" env:"MOLECULE_WORKSPACES" default:"the one that WORKSPACE_ID, PLATFORM_URL and MOLECULE_WORKSPACE_TOKEN name" help:"The workspaces whose inboxes runtime channel reads, as JSON: [{\"id\":\"…\",\"token\":\"…\",\"platform_url\":\"…\"}]. A token_file, which names a file, does in place of token. Without a platform_url it is PLATFORM_URL."`
	PollInterval time.Duration `group:"Channel" env:"CHANNEL_POLL_INTERVAL" envDefault:"5s" min:"20ms" max:"10m" help:"How often runtime channel asks for new messages."`
	ChannelDir   string        `group:"Channel" env:"CODEX_CHANNEL_MOLECULE_STATE_DIR" kind:"path" default:"~/.codex-channel-molecule" help:"Directory of the state of runtime channel, unless RUNTIME_STATE_DIR is set. The sessions.json of an older bridge is looked for in it."`

	MachineAddr      string        `group:"Machine" env:"RUNTIME_MACHINE_ADDR" envDefault:"127.0.0.1:7443" help:"Listen address of runtime machine, host:port. Runtimes elsewhere reach it beyond loopback alone, such as 0.0.0.0:7443; it is HTTPS, and asks for its token either way."`
	MachineName      string        `group:"Machine" env:"RUNTIME_MACHINE_NAME" default:"the name of the host" help:"Name of the machine, by which conversations are kept on it. No two machines of a runtime may have the same."`
	MachineRoot      string        `group:"Machine" env:"RUNTIME_MACHINE_ROOT" kind:"path" default:"as RUNTIME_WORKDIR" help:"Directory of the machine below which the folders of conversations lie."`
	MachineLabels    string        `group:"Machine" env:"RUNTIME_MACHINE_LABELS" kind:"labels" default:"none" help:"What the machine is, for runtimes that choose by it: name=value,name=value, such as gpu=yes,arch=arm64."`
	MachineTurns     int           `group:"Machine" env:"RUNTIME_MACHINE_TURNS" envDefault:"0" min:"0" max:"4096" help:"Turns that run on the machine at the same time, of all runtimes. 0 is two for each CPU, and four at least."`
	MachineDrain     time.Duration `group:"Machine" env:"RUNTIME_MACHINE_DRAIN" envDefault:"10m" min:"0s" max:"168h" help:"How long turns go on that run on the machine when it is told to stop."`
	MachineCert      string        `group:"Machine" env:"RUNTIME_MACHINE_CERT" kind:"path" default:"one that the machine makes, known by its fingerprint" help:"Certificate of the machine, with those that it is signed by, as a file in PEM. It is read again when it changes."`
	MachineKey       string        `group:"Machine" env:"RUNTIME_MACHINE_KEY" kind:"path" default:"RUNTIME_MACHINE_CERT, with the key in it" help:"Key of that certificate, as a file in PEM."`
	MachineToken     Secret        `group:"Machine" env:"RUNTIME_MACHINE_TOKEN" default:"one that the machine makes; runtime machine token prints it" help:"Token that the machine asks of runtimes, of 16 characters or more. Who has it can run commands there."`
	MachineTokenFile string        `group:"Machine" env:"RUNTIME_MACHINE_TOKEN_FILE" kind:"path" help:"File that holds this token; it is read with each request."`

	AgentName        string `group:"MCP host" env:"MOLECULE_AGENT_NAME" default:"what the MCP host calls itself" help:"Name of the agent on the canvas, where runtime mcp keeps the inbox of a workspace."`
	AgentDescription string `group:"MCP host" env:"MOLECULE_AGENT_DESCRIPTION" help:"What the agent does, in a sentence."`
	AgentSkills      string `group:"MCP host" env:"MOLECULE_AGENT_SKILLS" default:"none" help:"Names of its skills, with commas between them, as other agents see them."`

	Log       string `group:"Logs" env:"RUNTIME_LOG" oneof:"debug,info,warn,error" envDefault:"info" help:"Least level that is logged: coloured lines on a terminal, JSON otherwise."`
	DebugWire string `group:"Logs" env:"RUNTIME_DEBUG_WIRE" kind:"path" help:"File to which everything said to and by codex is appended, prompts included, secrets not."`

	OTLPEndpoint       string `group:"Traces" env:"OTEL_EXPORTER_OTLP_ENDPOINT" default:"none" help:"Collector that traces are sent to, by OTLP over HTTP, as /v1/traces below this URL. Without it no traces are made. The other variables of OpenTelemetry count, too: see docs/tracing.md."`
	OTLPTraces         string `group:"Traces" env:"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT" help:"URL that traces are sent to; goes before the one above, and is used as it is."`
	OTLPHeaders        Secret `group:"Traces" env:"OTEL_EXPORTER_OTLP_HEADERS" help:"Headers for the collector, as name=value,name=value with what is special written as %XX."`
	OTLPTracesHeaders  Secret `group:"Traces" env:"OTEL_EXPORTER_OTLP_TRACES_HEADERS" help:"Likewise; goes before the one above, header by header."`
	OTLPProtocol       string `group:"Traces" env:"OTEL_EXPORTER_OTLP_PROTOCOL" default:"http/protobuf" help:"http/protobuf. With any other no traces are made, and the log says so."`
	OTLPTracesProtocol string `group:"Traces" env:"OTEL_EXPORTER_OTLP_TRACES_PROTOCOL" help:"Likewise; goes before the one above."`
	OTelExporter       string `group:"Traces" env:"OTEL_TRACES_EXPORTER" default:"otlp" help:"none makes no traces."`
	OTelDisabled       string `group:"Traces" env:"OTEL_SDK_DISABLED" default:"false" help:"true makes no traces."`

	// What follows is not set by a variable of its own.

	User            *asuser.User      // that CodexUser names; nil if it is the runtime's own
	TempDir         string            // $TMPDIR, or /tmp
	UserHome        string            // $HOME of codex, else the home of its account; empty if it has none
	MadeWorkDir     bool              // WorkDir is one of ours, to be made
	AllowedNetworks []netip.Prefix    // the list of Networks
	Exposed         string            // why no message can have a sandbox in which commands write WorkDir; empty if it can
	SandboxNote     string            // why the sandbox is what it is, for the log, the card and readiness
	OwnsLogin       bool              // what RefreshOwner comes to
	ConfigFile      string            // config.yaml; empty standing alone
	SecretsDir      string            // the files of secrets; empty standing alone
	ConfigLate      bool              // config.yaml may be written after our start
	Labels          map[string]string // that MachineLabels lists; only [LoadMachine] fills them in
	Spaces          []Space           // whose inboxes are read; only [LoadChannel] fills them in
}

// A Space is a workspace whose inbox is read.
type Space struct {
	ID        string
	URL       string // of its platform
	Token     Secret
	TokenFile string
}

// InWorkspace reports whether the runtime belongs to a workspace of a platform,
// rather than standing alone on a machine.
func (s Settings) InWorkspace() bool { return s.WorkspaceID != "" && s.PlatformURL != "" }

// WorkspaceIDs are those of the workspaces that the runtime works for; none standing alone.
func (s Settings) WorkspaceIDs() (ids []string) {
	if s.InWorkspace() {
		ids = append(ids, s.WorkspaceID)
	}
	for _, space := range s.Spaces {
		ids = append(ids, space.ID)
	}
	return ids
}

// leastToken is how many characters a token has that is not found by trying.
const leastToken = 16

// WeakToken reports whether there is a token that could be found by trying.
func (s Settings) WeakToken() bool {
	return s.Token.Set() && utf8.RuneCountInString(s.Token.Reveal()) < leastToken
}

// HandsOutFiles reports whether readers get the files that replies name: the platform of a
// workspace always does, others from copies, for which RUNTIME_FILES_MIB has room.
func (s Settings) HandsOutFiles() bool { return s.InWorkspace() || s.FilesMiB > 0 }

// RequireAuth reports whether callers of A2A are asked for the platform's secret.
func (s Settings) RequireAuth() bool {
	on, _ := isOn(s.A2AAuth)
	return on && s.InWorkspace()
}

// Scripted reports whether the built-in scripted model is to be used.
func (s Settings) Scripted() bool { return s.BuiltinModel == "scripted" }

// Secrets returns the values that must not be shown, for the log's redaction.
func (s Settings) Secrets() []string {
	var out []string
	for _, v := range []Secret{s.Token, s.OpenAIKey, s.LLMToken, s.MiniMaxKey, s.WorkspaceToken, s.MachineToken} {
		if v.Set() {
			out = append(out, v.Reveal())
		}
	}
	out = append(out, s.headerSecrets()...)
	for _, space := range s.Spaces {
		if space.Token.Set() {
			out = append(out, space.Token.Reveal())
		}
	}
	return out
}
