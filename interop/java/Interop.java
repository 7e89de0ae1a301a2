// The Java SDK: A2A 0.3 over JSON-RPC. Prints a line for each case.
import io.a2a.A2A;
import io.a2a.client.Client;
import io.a2a.client.TaskEvent;
import io.a2a.client.TaskUpdateEvent;
import io.a2a.client.config.ClientConfig;
import io.a2a.client.transport.jsonrpc.JSONRPCTransport;
import io.a2a.client.transport.jsonrpc.JSONRPCTransportConfigBuilder;
import io.a2a.spec.Artifact;
import io.a2a.spec.Message;
import io.a2a.spec.Part;
import io.a2a.spec.Task;
import io.a2a.spec.TaskArtifactUpdateEvent;
import io.a2a.spec.TaskIdParams;
import io.a2a.spec.TaskState;
import io.a2a.spec.TaskStatusUpdateEvent;
import io.a2a.spec.TextPart;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

public class Interop {
  static final String URL = System.getenv("INTEROP_URL");
  static final String ANSWER = answer();
  static boolean good = true;

  interface Case { void run() throws Exception; }

  static String answer() {
    var text = new StringBuilder("[built-in scripted model, no intelligence behind it] ");
    for (int n = 0; n < 12; n++) text.append(String.format("%07d ", n));
    return text.toString();
  }

  static String asksForChanges() { return "patch " + UUID.randomUUID() + ".txt\nstream 12 8 20ms"; }

  static void check(boolean holds, Object what) {
    if (!holds) throw new AssertionError(String.valueOf(what));
  }

  static String text(List<Part<?>> parts) {
    var all = new StringBuilder();
    if (parts != null) for (var p : parts) if (p instanceof TextPart t) all.append(t.getText());
    return all.toString();
  }

  static Client client(boolean streaming) throws Exception {
    return Client.builder(A2A.getAgentCard(URL))
        .clientConfig(new ClientConfig.Builder().setStreaming(streaming).build())
        .withTransport(JSONRPCTransport.class, new JSONRPCTransportConfigBuilder())
        .build();
  }

  /** What a message leads to: the task in the end, and all texts on the way. */
  record Seen(Task task, List<String> artifacts, List<String> statuses) {}

  static Seen send(boolean streaming, Message message) throws Exception {
    var artifacts = new ArrayList<String>();
    var statuses = new ArrayList<String>();
    var end = new CompletableFuture<Task>();
    client(streaming).sendMessage(message, List.of((event, card) -> {
      if (event instanceof TaskEvent e && !streaming) end.complete(e.getTask());
      if (!(event instanceof TaskUpdateEvent e)) return;
      if (e.getUpdateEvent() instanceof TaskArtifactUpdateEvent u) artifacts.add(text(u.getArtifact().parts()));
      if (e.getUpdateEvent() instanceof TaskStatusUpdateEvent u) {
        if (u.getStatus().message() != null) statuses.add(text(u.getStatus().message().getParts()));
        if (u.isFinal()) end.complete(e.getTask());
      }
    }), end::completeExceptionally);
    return new Seen(end.get(60, TimeUnit.SECONDS), artifacts, statuses);
  }

  static int times(String text) { return (text.length() - text.replace(ANSWER, "").length()) / ANSWER.length(); }

  static void once(Task task) {
    check(task.getStatus().state() == TaskState.COMPLETED, task);
    var all = new StringBuilder();
    String last = "";
    for (Artifact a : task.getArtifacts()) all.append(last = text(a.parts()));
    check(last.equals(ANSWER), "the last artifact is " + last);
    if (task.getStatus().message() != null) all.append(text(task.getStatus().message().getParts()));
    check(times(all.toString()) == 1, all);
  }

  static void ask() throws Exception { once(send(false, A2A.toUserMessage(asksForChanges())).task()); }

  static void stream() throws Exception {
    Seen seen = send(true, A2A.toUserMessage(asksForChanges()));
    once(seen.task());
    check(times(String.join("", seen.artifacts()) + String.join("", seen.statuses())) == 1, seen);
    check(seen.artifacts().stream().noneMatch(String::isBlank), seen.artifacts());
  }

  static void question() throws Exception {
    Task asked = send(false, A2A.toUserMessage("escalate echo it ran")).task();
    check(asked.getStatus().state() == TaskState.INPUT_REQUIRED, asked);
    Message answer = new Message.Builder(A2A.toUserMessage("accept")).taskId(asked.getId()).contextId(asked.getContextId()).build();
    Task task = send(false, answer).task();
    check(task.getStatus().state() == TaskState.COMPLETED, task);
    check(task.getArtifacts().stream().anyMatch(a -> text(a.parts()).contains("it ran")), task);
  }

  static void cancel() throws Exception {
    var started = new CompletableFuture<String>();
    client(true).sendMessage(A2A.toUserMessage("hang"), List.of((event, card) -> {
      if (event instanceof TaskUpdateEvent e) started.complete(e.getTask().getId());
    }), started::completeExceptionally);
    Task task = client(false).cancelTask(new TaskIdParams(started.get(60, TimeUnit.SECONDS)));
    check(task.getStatus().state() == TaskState.CANCELED, task);
  }

  static void run(String name, String chosen, Case test) {
    String line = "java 0.3.3, " + name;
    if (!line.contains(chosen)) return;
    try {
      test.run();
      System.out.println("ok   " + line);
    } catch (Throwable err) {
      good = false;
      System.out.println("FAIL " + line + ": " + String.valueOf(err).replaceAll("\\s+", " "));
    }
  }

  public static void main(String[] args) {
    String chosen = args.length > 0 ? args[0] : "";
    run("ask", chosen, Interop::ask);
    run("stream", chosen, Interop::stream);
    run("question", chosen, Interop::question);
    run("cancel", chosen, Interop::cancel);
    System.exit(good ? 0 : 1);
  }
}
