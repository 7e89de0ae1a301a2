package check

import (
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
)

// TestReferences holds that names and labels that point somewhere do.
func TestReferences(t *testing.T) {
	shared := build(t, "namespace")
	workspaces(t, func(t *testing.T, b built, set appsv1.StatefulSet, runtime corev1.Container) {
		pod := set.Spec.Template
		matches := func(what string, selector *metav1.LabelSelector) {
			t.Helper()
			s, err := metav1.LabelSelectorAsSelector(selector)
			if err != nil || s.Empty() || !s.Matches(labels.Set(pod.Labels)) {
				t.Errorf("%s does not select the pod: %v, %v", what, selector, err)
			}
		}
		matches("the StatefulSet", set.Spec.Selector)
		matches("the Service", &metav1.LabelSelector{MatchLabels: b.services[0].Spec.Selector})
		matches("the NetworkPolicy", &shared.policies[0].Spec.PodSelector)
		matches("the PodDisruptionBudget", shared.budgets[0].Spec.Selector)
		if got := runtime.EnvFrom[0].ConfigMapRef.Name; got != b.configs[0].Name {
			t.Errorf("settings come from %s, not %s", got, b.configs[0].Name)
		}
		if got := runtime.EnvFrom[1].SecretRef.Name; got != b.secrets[0].Name {
			t.Errorf("credentials come from %s, not %s", got, b.secrets[0].Name)
		}
		if set.Spec.ServiceName != b.services[0].Name {
			t.Errorf("the StatefulSet's Service is %s, not %s", set.Spec.ServiceName, b.services[0].Name)
		}
		if pod.Spec.ServiceAccountName != shared.accounts[0].Name {
			t.Errorf("the pod's account is %s, not %s", pod.Spec.ServiceAccountName, shared.accounts[0].Name)
		}
		for name, value := range b.configs[0].Data {
			url := "http://" + b.services[0].Name + "." + b.services[0].Namespace + ".svc:8000"
			if (name == "RUNTIME_PUBLIC_URL" || name == "MOLECULE_WORKSPACE_URL") && value != url {
				t.Errorf("%s is %s, and the Service is at %s", name, value, url)
			}
		}
		if set.Namespace != shared.spaces[0].Name {
			t.Errorf("the workspace is in the namespace %s", set.Namespace)
		}
	})
}
