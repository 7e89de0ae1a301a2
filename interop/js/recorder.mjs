// A fetch that remembers what went over the wire: for the proof that a client
// speaks the version it is said to speak, and for the report of a failure.
export class Recorder {
  calls = [];

  fetch = async (input, init = {}) => {
    const headers = new Headers(init.headers);
    const call = {
      verb: init.method ?? "GET",
      path: new URL(input).pathname + new URL(input).search,
      version: headers.get("A2A-Version"),
      body: init.body ?? "",
      answer: "",
    };
    this.calls.push(call);
    const response = await fetch(input, init);
    call.status = `${response.status} ${response.headers.get("Content-Type")}`;
    if (!call.status.includes("event-stream")) call.answer = (await response.clone().text()).trim();
    return response;
  };

  get last() {
    const call = this.calls.at(-1);
    if (!call) return "nothing was sent";
    const version = call.version ? ` (A2A-Version ${call.version})` : "";
    return `${call.verb} ${call.path}${version} ${call.body}\n      < ${call.status} ${call.answer}`;
  }

  /** The calls that are not of the client's version and binding. */
  foreign({ version, binding }) {
    return this.calls.map(describe).filter((call) => {
      if (call.path.startsWith("/.well-known/")) return false;
      if (version === "1.0" && call.version !== "1.0") return true;
      if (binding === "JSONRPC") return call.rpc === undefined || call.rpc.includes("/") !== (version === "0.3");
      return call.rpc !== undefined || call.path.startsWith("/v1/") !== (version === "0.3");
    });
  }
}

function describe({ path, version, body }) {
  return { path, version, rpc: body ? JSON.parse(body).method : undefined };
}
