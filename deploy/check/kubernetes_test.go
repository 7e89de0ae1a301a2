package check

import (
	"errors"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/compose-spec/compose-go/v2/types"
	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	podsecurity "k8s.io/pod-security-admission/api"
	"k8s.io/pod-security-admission/policy"
	"sigs.k8s.io/json"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"
	"sigs.k8s.io/yaml"
)

// built are the objects of one folder.
type built struct {
	sets     []appsv1.StatefulSet
	services []corev1.Service
	configs  []corev1.ConfigMap
	secrets  []corev1.Secret
	policies []networkingv1.NetworkPolicy
	budgets  []policyv1.PodDisruptionBudget
	scalers  []autoscalingv2.HorizontalPodAutoscaler
	spaces   []corev1.Namespace
	accounts []corev1.ServiceAccount
}

// build makes the objects of a folder of deploy/kubernetes as kubectl apply -k does, on
// a copy that has its credentials filled in, and reads them strictly: a misspelt field
// is an error. Changes are pairs of what stands in its kustomization, and of what is to stand there.
func build(t *testing.T, folder string, changes ...string) built {
	t.Helper()
	root := t.TempDir()
	if err := os.CopyFS(root, os.DirFS("../kubernetes")); err != nil {
		t.Fatal(err)
	}
	example, err := os.ReadFile(filepath.Join(root, folder, "credentials.env.example"))
	if err == nil {
		err = os.WriteFile(filepath.Join(root, folder, "credentials.env"), example, 0o600)
	}
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	prepare(t, filepath.Join(root, folder), changes)
	resources, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(filesys.MakeFsOnDisk(), filepath.Join(root, folder))
	if err != nil {
		t.Fatal(err)
	}
	var b built
	for _, r := range resources.Resources() {
		text, err := r.AsYAML()
		if err != nil {
			t.Fatal(err)
		}
		b.add(t, r.GetApiVersion()+" "+r.GetKind(), text)
	}
	return b
}

// prepare changes a kustomization, and has what machines are known by lie where that looks for it.
func prepare(t *testing.T, folder string, changes []string) {
	t.Helper()
	file := filepath.Join(folder, "kustomization.yaml")
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	changed := strings.NewReplacer(changes...).Replace(string(text))
	if len(changes) > 0 && changed == string(text) {
		t.Fatalf("%s has nothing of %q", file, changes)
	}
	err = os.WriteFile(file, []byte(changed), 0o600)
	identity := filepath.Join(folder, "identity")
	if strings.Contains(changed, "identity/") {
		err = errors.Join(err, os.MkdirAll(identity, 0o700))
		for _, name := range []string{"token", "cert.pem", "key.pem"} {
			err = errors.Join(err, os.WriteFile(filepath.Join(identity, name), []byte("the "+name), 0o600))
		}
	}
	if err != nil {
		t.Fatal(err)
	}
}

func (b *built) add(t *testing.T, kind string, text []byte) {
	t.Helper()
	switch kind {
	case "apps/v1 StatefulSet":
		b.sets = append(b.sets, read[appsv1.StatefulSet](t, text))
	case "v1 Service":
		b.services = append(b.services, read[corev1.Service](t, text))
	case "v1 ConfigMap":
		b.configs = append(b.configs, read[corev1.ConfigMap](t, text))
	case "v1 Secret":
		b.secrets = append(b.secrets, read[corev1.Secret](t, text))
	case "v1 Namespace":
		b.spaces = append(b.spaces, read[corev1.Namespace](t, text))
	case "v1 ServiceAccount":
		b.accounts = append(b.accounts, read[corev1.ServiceAccount](t, text))
	case "networking.k8s.io/v1 NetworkPolicy":
		b.policies = append(b.policies, read[networkingv1.NetworkPolicy](t, text))
	case "policy/v1 PodDisruptionBudget":
		b.budgets = append(b.budgets, read[policyv1.PodDisruptionBudget](t, text))
	case "autoscaling/v2 HorizontalPodAutoscaler":
		b.scalers = append(b.scalers, read[autoscalingv2.HorizontalPodAutoscaler](t, text))
	default:
		t.Errorf("no check knows %s", kind)
	}
}

func read[T any](t *testing.T, text []byte) T {
	t.Helper()
	var object T
	asJSON, err := yaml.YAMLToJSONStrict(text)
	if err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
	strict, err := json.UnmarshalStrict(asJSON, &object) // upper case and lower case count, as they do for the API
	if err = errors.Join(append(strict, err)...); err != nil {
		t.Errorf("%v in\n%s", err, text)
	}
	return object
}

// workspaces builds both examples, and hands on what there must be one of.
func workspaces(t *testing.T, look func(t *testing.T, b built, set appsv1.StatefulSet, runtime corev1.Container)) {
	for _, folder := range []string{"alone", "platform"} {
		t.Run(folder, func(t *testing.T) {
			b := build(t, folder)
			if len(b.sets) != 1 || len(b.services) != 1 || len(b.configs) != 1 || len(b.secrets) != 1 {
				t.Fatalf("got %d StatefulSets, %d Services, %d ConfigMaps, %d Secrets, want one of each",
					len(b.sets), len(b.services), len(b.configs), len(b.secrets))
			}
			pod := b.sets[0].Spec.Template.Spec
			if len(pod.Containers) != 1 {
				t.Fatalf("got %d containers", len(pod.Containers))
			}
			look(t, b, b.sets[0], pod.Containers[0])
		})
	}
}

// TestRestricted holds the pods to the restricted profile, by the code that admits them.
func TestRestricted(t *testing.T) {
	workspaces(t, func(t *testing.T, _ built, set appsv1.StatefulSet, _ corev1.Container) {
		for _, why := range forbidden(t, &set.Spec.Template.ObjectMeta, &set.Spec.Template.Spec) {
			t.Error(why)
		}
	})
	if b := build(t, "namespace"); len(b.spaces) != 1 || b.spaces[0].Labels[podsecurity.EnforceLevelLabel] != string(podsecurity.LevelRestricted) {
		t.Errorf("the namespace does not enforce the restricted profile: %v", b.spaces)
	}
}

func forbidden(t *testing.T, meta *metav1.ObjectMeta, spec *corev1.PodSpec) []string {
	t.Helper()
	evaluator, err := policy.NewEvaluator(policy.DefaultChecks(), nil)
	if err != nil {
		t.Fatal(err)
	}
	var why []string
	restricted := podsecurity.LevelVersion{Level: podsecurity.LevelRestricted, Version: podsecurity.LatestVersion()}
	for _, result := range evaluator.EvaluatePod(restricted, meta, spec) {
		if !result.Allowed {
			why = append(why, result.ForbiddenReason+": "+result.ForbiddenDetail)
		}
	}
	return why
}

// TestRestore reads the pod that docs/operations.md restores with.
func TestRestore(t *testing.T) {
	text, err := os.ReadFile("../kubernetes/restore.yaml")
	if err != nil {
		t.Fatal(err)
	}
	pod := read[corev1.Pod](t, text)
	for _, why := range forbidden(t, &pod.ObjectMeta, &pod.Spec) {
		t.Error(why)
	}
	set := build(t, "alone").sets[0]
	want := set.Spec.VolumeClaimTemplates[0].Name + "-" + set.Name + "-0"
	if got := pod.Spec.Volumes[0].PersistentVolumeClaim.ClaimName; got != want || pod.Namespace != set.Namespace {
		t.Errorf("it holds %s in %s, and the workspace's is %s in %s", got, pod.Namespace, want, set.Namespace)
	}
}

// TestState holds that all that must survive a pod stands on a volume of its own, and
// that there is one owner of it.
func TestState(t *testing.T) {
	workspaces(t, func(t *testing.T, _ built, set appsv1.StatefulSet, runtime corev1.Container) {
		claimed := map[string]bool{}
		for _, claim := range set.Spec.VolumeClaimTemplates {
			claimed[claim.Name] = true
		}
		durable := func(path string) bool {
			for _, mount := range runtime.VolumeMounts {
				if claimed[mount.Name] && strings.HasPrefix(path+"/", mount.MountPath+"/") {
					return true
				}
			}
			return false
		}
		for _, name := range []string{"RUNTIME_STATE_DIR", "CODEX_HOME", "RUNTIME_WORKDIR"} {
			if value := variable(runtime, name); !durable(value) {
				t.Errorf("%s=%q stands on no volume that is claimed", name, value)
			}
		}
		if set.Spec.Replicas == nil || *set.Spec.Replicas != 1 {
			t.Errorf("the state has one owner, and there are to be %v", set.Spec.Replicas)
		}
		// What is not on a volume can be written nowhere else but there.
		for _, path := range []string{"/tmp", "/home/agent"} {
			if !mounted(runtime, path) {
				t.Errorf("%s is read-only", path)
			}
		}
	})
}

// TestProbes holds that a login that is wanted takes nobody the way to the login link,
// and that a stop has the time that it needs.
func TestProbes(t *testing.T) {
	workspaces(t, func(t *testing.T, b built, set appsv1.StatefulSet, runtime corev1.Container) {
		if !b.services[0].Spec.PublishNotReadyAddresses {
			t.Error("a workspace that waits for its login gets no messages")
		}
		for name, probe := range map[string]*corev1.Probe{
			"/healthz": runtime.LivenessProbe, "/readyz": runtime.ReadinessProbe, "/healthz\x00": runtime.StartupProbe,
		} {
			if probe == nil || probe.HTTPGet == nil || probe.HTTPGet.Path != strings.TrimRight(name, "\x00") || probe.HTTPGet.Port.StrVal != runtime.Ports[0].Name {
				t.Errorf("no probe of %s: %v", name, probe)
			}
		}
		if l := runtime.LivenessProbe; l.PeriodSeconds*l.FailureThreshold < 60 {
			t.Error("a backup has less than a minute")
		}
		if grace := set.Spec.Template.Spec.TerminationGracePeriodSeconds; grace == nil || *grace < 10 {
			t.Errorf("a stop has %v seconds", grace)
		}
	})
}

// TestUnready holds that a pod which is not ready can be replaced: one that waits for a
// login is given its key by a change of its template.
func TestUnready(t *testing.T) {
	workspaces(t, func(t *testing.T, _ built, set appsv1.StatefulSet, _ corev1.Container) {
		if got := set.Spec.PodManagementPolicy; got != appsv1.ParallelPodManagement {
			t.Errorf("the policy %q waits for the pod to be ready before it is replaced", got)
		}
	})
	if budget := build(t, "namespace").budgets[0]; budget.Spec.UnhealthyPodEvictionPolicy == nil || *budget.Spec.UnhealthyPodEvictionPolicy != policyv1.AlwaysAllow {
		t.Error("a pod that waits for a login holds up a drain")
	}
}

// TestMemoryAlarm holds that the alarm of memory sounds before the kernel ends the container.
func TestMemoryAlarm(t *testing.T) {
	var above float64
	for _, rule := range rules(t) {
		if _, number, ok := strings.Cut(rule.Expr, " > "); ok && rule.Alert == "WorkspaceCodexMemory" {
			above, _ = strconv.ParseFloat(strings.TrimSpace(number), 64)
		}
	}
	const runtime = 64 << 20 // what the runtime itself takes, and more
	workspaces(t, func(t *testing.T, _ built, _ appsv1.StatefulSet, c corev1.Container) {
		limit := c.Resources.Limits.Memory().AsApproximateFloat64()
		if above < limit/2 || above+runtime > limit {
			t.Errorf("it sounds above %.3g bytes, and the limit is %.3g", above, limit)
		}
	})
	project, err := load(t, types.Mapping{"RUNTIME_TOKEN": "secret"}, "compose.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if limit := float64(project.Services["workspace"].MemLimit); above+runtime > limit {
		t.Errorf("it sounds above %.3g bytes, and compose's limit is %.3g", above, limit)
	}
}

// TestCallers holds that the label lets a pod in from wherever it is, as docs/operations.md
// says, and that nothing else does but the label of a namespace and being a workspace.
func TestCallers(t *testing.T) {
	policy := build(t, "namespace").policies[0]
	label := map[string]string{"molecule.ai/calls-workspaces": "true"}
	for _, caller := range []struct {
		name, namespace string
		pod, space      labels.Set
		want            bool
	}{
		{"a stranger here", policy.Namespace, nil, nil, false},
		{"a stranger elsewhere", "other", nil, nil, false},
		{"the label here", policy.Namespace, label, nil, true},
		{"the label elsewhere", "other", label, nil, true},
		{"the label on the namespace", "other", nil, label, true},
		{"a workspace", policy.Namespace, labels.Set{"app.kubernetes.io/name": "workspace"}, nil, true},
		{"a workspace of somebody else", "other", labels.Set{"app.kubernetes.io/name": "workspace"}, nil, false},
	} {
		got := false
		for _, from := range policy.Spec.Ingress[0].From {
			space := from.NamespaceSelector == nil && caller.namespace == policy.Namespace || from.NamespaceSelector != nil && selects(t, from.NamespaceSelector, caller.space)
			got = got || space && (from.PodSelector == nil || selects(t, from.PodSelector, caller.pod))
		}
		if got != caller.want {
			t.Errorf("%s: let in is %v", caller.name, got)
		}
	}
}

func selects(t *testing.T, selector *metav1.LabelSelector, set labels.Set) bool {
	t.Helper()
	s, err := metav1.LabelSelectorAsSelector(selector)
	if err != nil {
		t.Fatal(err)
	}
	return s.Matches(set)
}

// TestMetadata holds that what clouds tell their machines is not told to commands.
func TestMetadata(t *testing.T) {
	for _, address := range []string{
		"169.254.169.254", "fd00:ec2::254", // most of them
		"168.63.129.16", "100.100.100.200", "192.0.0.192", // Azure's, Alibaba's, Oracle's
		"64:ff9b::a9fe:a9fe", "64:ff9b::a83f:8110", // by NAT64
		"10.0.0.1",
	} {
		for _, rule := range build(t, "namespace").policies[0].Spec.Egress {
			for _, to := range rule.To {
				if to.IPBlock != nil && within(t, address, to.IPBlock) {
					t.Errorf("%s can be reached by %s", address, to.IPBlock.CIDR)
				}
			}
		}
	}
}

func within(t *testing.T, address string, block *networkingv1.IPBlock) bool {
	t.Helper()
	in := func(cidr string) bool {
		prefix, err := netip.ParsePrefix(cidr)
		if err != nil {
			t.Fatal(err)
		}
		return prefix.Contains(netip.MustParseAddr(address))
	}
	return in(block.CIDR) && !slices.ContainsFunc(block.Except, in)
}

func variable(c corev1.Container, name string) string {
	for _, v := range c.Env {
		if v.Name == name {
			return v.Value
		}
	}
	return ""
}

func mounted(c corev1.Container, path string) bool {
	for _, mount := range c.VolumeMounts {
		if mount.MountPath == path && !mount.ReadOnly {
			return true
		}
	}
	return false
}
