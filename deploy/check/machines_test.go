package check

import (
	"path"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/compose-spec/compose-go/v2/types"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
)

// onMachines is a line of an example that has its commands run on machines.
const onMachines = "# components: [../on-machines] #"

// machines builds the machines, and hands on what there must be one of.
func machines(t *testing.T) (b built, set appsv1.StatefulSet, machine corev1.Container) {
	t.Helper()
	b = build(t, "machines")
	if len(b.sets) != 1 || len(b.services) != 1 || len(b.scalers) != 1 || len(b.policies) != 1 || len(b.budgets) != 1 || len(b.secrets) != 2 {
		t.Fatalf("got %d StatefulSets, %d Services, %d autoscalers, %d policies, %d budgets, %d Secrets", len(b.sets), len(b.services), len(b.scalers), len(b.policies), len(b.budgets), len(b.secrets))
	}
	return b, b.sets[0], b.sets[0].Spec.Template.Spec.Containers[0]
}

// TestMachinesRestricted holds machines to the restricted profile as they are, and with a seccomp profile of the node's, in
// which codex's sandbox starts. Without any they are not let in.
func TestMachinesRestricted(t *testing.T) {
	_, set, _ := machines(t)
	pod := set.Spec.Template
	for _, why := range forbidden(t, &pod.ObjectMeta, &pod.Spec) {
		t.Error(why)
	}
	profile := "molecule/codex-sandbox.json"
	pod.Spec.SecurityContext.SeccompProfile = &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeLocalhost, LocalhostProfile: &profile}
	pod.Spec.SecurityContext.AppArmorProfile = &corev1.AppArmorProfile{Type: corev1.AppArmorProfileTypeLocalhost, LocalhostProfile: &profile}
	for _, why := range forbidden(t, &pod.ObjectMeta, &pod.Spec) {
		t.Errorf("with profiles of the node's: %s", why)
	}
	pod.Spec.SecurityContext.SeccompProfile = &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeUnconfined}
	if len(forbidden(t, &pod.ObjectMeta, &pod.Spec)) == 0 {
		t.Error("docs/operations.md says that a pod without a seccomp profile is not let in, and it is")
	}
}

// TestMachinesDrain holds that turns have the time to end that they are given, wherever the end comes from.
func TestMachinesDrain(t *testing.T) {
	b, set, machine := machines(t)
	drain, err := time.ParseDuration(variable(machine, "RUNTIME_MACHINE_DRAIN"))
	if err != nil {
		t.Fatal(err)
	}
	if grace := set.Spec.Template.Spec.TerminationGracePeriodSeconds; grace == nil || time.Duration(*grace)*time.Second < drain+20*time.Second {
		t.Errorf("turns have %v, and the pod has not", drain)
	}
	if !b.services[0].Spec.PublishNotReadyAddresses || b.services[0].Spec.ClusterIP != corev1.ClusterIPNone {
		t.Error("a machine that drains is not seen to")
	}
	budget := b.budgets[0].Spec
	if budget.MaxUnavailable.IntValue() != 1 || budget.UnhealthyPodEvictionPolicy == nil || *budget.UnhealthyPodEvictionPolicy != policyv1.AlwaysAllow {
		t.Errorf("the budget is %+v", budget)
	}
	project := withMachines(t)
	for name, s := range project.Services {
		if name != "machine" {
			continue
		}
		drain, err := time.ParseDuration(*s.Environment["RUNTIME_MACHINE_DRAIN"])
		if err != nil || s.StopGracePeriod == nil || time.Duration(*s.StopGracePeriod) < drain+20*time.Second {
			t.Errorf("compose: turns have %v, and the container %v, %v", drain, s.StopGracePeriod, err)
		}
	}
}

// TestMachinesScale holds that the autoscaler has a number to go by, and the number of pods to itself.
func TestMachinesScale(t *testing.T) {
	b, set, machine := machines(t)
	scaler := b.scalers[0].Spec
	if scaler.ScaleTargetRef.Kind != "StatefulSet" || scaler.ScaleTargetRef.Name != set.Name || set.Spec.Replicas != nil {
		t.Errorf("it scales %v; the set wants %v", scaler.ScaleTargetRef, set.Spec.Replicas)
	}
	if len(scaler.Metrics) != 1 || scaler.Metrics[0].Resource == nil || scaler.Metrics[0].Resource.Name != corev1.ResourceCPU || machine.Resources.Requests.Cpu().IsZero() {
		t.Errorf("it goes by %+v, and the pod requests %v", scaler.Metrics, machine.Resources.Requests)
	}
	if scaler.MinReplicas == nil || *scaler.MinReplicas < 2 {
		t.Error("a drain leaves no machine")
	}
}

// TestMachinesAreReached by workspaces and by nothing else, and reach none of them, nor what is the cluster's own.
func TestMachinesAreReached(t *testing.T) {
	b, set, machine := machines(t)
	policy, port := b.policies[0], machine.Ports[0].ContainerPort
	its := labels.Set(set.Spec.Template.Labels)
	workspace := labels.Set(build(t, "alone").sets[0].Spec.Template.Labels)
	if !selects(t, &policy.Spec.PodSelector, its) || selects(t, &policy.Spec.PodSelector, workspace) {
		t.Errorf("the policy is one for %v", policy.Spec.PodSelector)
	}
	shared := build(t, "namespace").policies[0]
	if selects(t, &shared.Spec.PodSelector, its) {
		t.Error("the policy of workspaces is the machines', too")
	}
	for _, caller := range []struct {
		name string
		pod  labels.Set
		want bool
	}{{"a workspace", workspace, true}, {"a machine", its, false}, {"a caller of workspaces", labels.Set{"molecule.ai/calls-workspaces": "true"}, false}} {
		if got := lets(t, policy.Spec.Ingress[0].From, caller.pod); got != caller.want || len(policy.Spec.Ingress) != 1 || policy.Spec.Ingress[0].Ports[0].Port.IntVal != port {
			t.Errorf("%s: let in is %v", caller.name, got)
		}
	}
	for _, rule := range policy.Spec.Egress {
		for _, pod := range []labels.Set{workspace, its} {
			if lets(t, rule.To, pod) {
				t.Errorf("pods %v can be reached", pod)
			}
		}
		for _, to := range rule.To {
			if to.IPBlock != nil && (within(t, "10.0.0.1", to.IPBlock) || within(t, "169.254.169.254", to.IPBlock)) {
				t.Errorf("what is the cluster's own can be reached by %s", to.IPBlock.CIDR)
			}
		}
	}
	if !slices.ContainsFunc(shared.Spec.Egress, func(rule networkingv1.NetworkPolicyEgressRule) bool {
		return lets(t, rule.To, its) && rule.Ports[0].Port.IntVal == port
	}) {
		t.Error("a workspace does not reach a machine")
	}
}

// lets reports whether peers have pods of the same namespace with these labels among them.
func lets(t *testing.T, peers []networkingv1.NetworkPolicyPeer, pod labels.Set) bool {
	t.Helper()
	return slices.ContainsFunc(peers, func(peer networkingv1.NetworkPolicyPeer) bool {
		return peer.NamespaceSelector == nil && peer.PodSelector != nil && selects(t, peer.PodSelector, pod)
	})
}

// TestMachinesReferences holds that names and labels that point somewhere do, and that a workspace gets what it needs to join
// machines, and not their key.
func TestMachinesReferences(t *testing.T) {
	b, set, machine := machines(t)
	pod := set.Spec.Template
	for what, selector := range map[string]*metav1.LabelSelector{
		"the StatefulSet": set.Spec.Selector, "the Service": {MatchLabels: b.services[0].Spec.Selector}, "the PodDisruptionBudget": b.budgets[0].Spec.Selector,
		"the spread": pod.Spec.TopologySpreadConstraints[0].LabelSelector,
	} {
		if !selects(t, selector, labels.Set(pod.Labels)) || selects(t, selector, nil) {
			t.Errorf("%s does not select the pod: %v", what, selector)
		}
	}
	if set.Spec.ServiceName != b.services[0].Name || pod.Spec.ServiceAccountName != build(t, "namespace").accounts[0].Name {
		t.Errorf("its Service is %s, its account %s", set.Spec.ServiceName, pod.Spec.ServiceAccountName)
	}
	for _, name := range []string{"RUNTIME_STATE_DIR", "RUNTIME_MACHINE_ROOT"} {
		if !mounted(machine, path.Dir(variable(machine, name)+"/x")) && !mounted(machine, path.Dir(variable(machine, name))) {
			t.Errorf("%s=%s is read-only", name, variable(machine, name))
		}
	}
	given(t, b, pod.Spec, machine, "machines", "RUNTIME_MACHINE_CERT", "RUNTIME_MACHINE_KEY", "RUNTIME_MACHINE_TOKEN_FILE")

	for _, folder := range []string{"alone", "platform"} {
		w := build(t, folder, onMachines, "components: [../on-machines] #").sets[0].Spec.Template.Spec
		runtime := w.Containers[0]
		if want := "dns:" + b.services[0].Name + "." + b.services[0].Namespace + ".svc:7443"; variable(runtime, "RUNTIME_MACHINES") != want {
			t.Errorf("%s: machines are at %s, not %s", folder, want, variable(runtime, "RUNTIME_MACHINES"))
		}
		if variable(runtime, "CODEX_SANDBOX") != variable(machine, "CODEX_SANDBOX") {
			t.Errorf("%s: commands run with %s, and machines try %s", folder, variable(runtime, "CODEX_SANDBOX"), variable(machine, "CODEX_SANDBOX"))
		}
		given(t, b, w, runtime, "joins-machines", "RUNTIME_MACHINES_CA", "RUNTIME_MACHINES_TOKEN_FILE")
		if strings.Contains(string(b.secret("joins-machines").Data["key.pem"]), "key") {
			t.Errorf("%s: a workspace has the key of the machines", folder)
		}
		if variable(build(t, folder).sets[0].Spec.Template.Spec.Containers[0], "RUNTIME_MACHINES") != "" {
			t.Errorf("%s: it has machines without asking for them", folder)
		}
	}
}

// given holds that files which settings name are in a Secret that is mounted there, readable for the pod's user.
func given(t *testing.T, b built, pod corev1.PodSpec, c corev1.Container, secret string, settings ...string) {
	t.Helper()
	from := map[string]*corev1.SecretVolumeSource{}
	for _, v := range pod.Volumes {
		if v.Secret != nil {
			from[v.Name] = v.Secret
		}
	}
	for _, name := range settings {
		at, found := variable(c, name), false
		for _, m := range c.VolumeMounts {
			s := from[m.Name]
			if s == nil || s.SecretName != secret || path.Dir(at) != m.MountPath {
				continue
			}
			found = len(b.secret(secret).Data[path.Base(at)]) > 0 && m.ReadOnly && s.DefaultMode != nil && *s.DefaultMode == 0o440
		}
		if !found {
			t.Errorf("%s=%s is not given by the Secret %s", name, at, secret)
		}
	}
}

func (b built) secret(name string) corev1.Secret {
	i := slices.IndexFunc(b.secrets, func(s corev1.Secret) bool { return s.Name == name })
	if i < 0 {
		return corev1.Secret{}
	}
	return b.secrets[i]
}

// withMachines is compose.yaml with machines.
func withMachines(t *testing.T, more ...string) *types.Project {
	t.Helper()
	env := types.Mapping{"RUNTIME_TOKEN": "secret", "WORKSPACE_ID": "one", "MOLECULE_WORKSPACE_TOKEN": "t"}
	project, err := load(t, env, slices.Concat([]string{"compose.yaml"}, more, []string{"compose.machines.yaml"})...)
	if err != nil {
		t.Fatal(err)
	}
	return project
}

// TestComposeMachines holds that machines are found by the name of their service, have the files of the workspace under the
// same name, are reached by nothing outside, and leave the workspace what it is without them.
func TestComposeMachines(t *testing.T) {
	withMachines(t, "compose.platform.yaml")
	project := withMachines(t)
	w, m, identity := project.Services["workspace"], project.Services["machine"], project.Services["identity"]
	if got := *w.Environment["RUNTIME_MACHINES"]; got != "dns:machine:7443" || *identity.Environment["RUNTIME_MACHINE_ADDR"] != "machine:7443" {
		t.Errorf("machines are looked for at %s, and their certificate is for %s", got, *identity.Environment["RUNTIME_MACHINE_ADDR"])
	}
	if len(m.Ports) != 0 || m.ContainerName != "" || m.Hostname != "" {
		t.Errorf("machines are published as %v, and called %q and %q: there can be more than one only without", m.Ports, m.ContainerName, m.Hostname)
	}
	if !w.ReadOnly || len(w.CapAdd) == 0 || w.Environment["RUNTIME_TOKEN"] == nil {
		t.Errorf("the workspace is not what it was: %+v", w)
	}
	if mountOf(w, "/workspace") != mountOf(m, "/workspace") || *m.Environment["RUNTIME_MACHINE_ROOT"] != *w.Environment["RUNTIME_WORKDIR"] {
		t.Error("they do not see the same files")
	}
	if *m.Environment["CODEX_SANDBOX"] != *w.Environment["CODEX_SANDBOX"] {
		t.Error("commands run in another sandbox than machines try")
	}
	for _, s := range []types.ServiceConfig{m, identity} {
		if !s.ReadOnly || !slices.Equal(s.CapDrop, []string{"ALL"}) || !slices.Equal(s.SecurityOpt, []string{"no-new-privileges:true"}) {
			t.Errorf("%s has rights that it does not need", s.Name)
		}
	}
	for _, s := range []types.ServiceConfig{w, m} {
		if s.DependsOn["identity"].Condition != types.ServiceConditionCompletedSuccessfully {
			t.Errorf("%s does not wait for what machines are known by", s.Name)
		}
	}
	if mountOf(w, "/machines") != "" || mountOf(w, "/joins") != mountOf(identity, "/joins") || mountOf(m, "/machines") != mountOf(identity, "/machines") {
		t.Error("keys are not where they belong")
	}
}

// mountOf is the volume that a service has at a path.
func mountOf(s types.ServiceConfig, at string) string {
	for _, v := range s.Volumes {
		if v.Target == at {
			return v.Source
		}
	}
	return ""
}
