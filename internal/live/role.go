package live

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// RoleName names the role, and its binding.
const RoleName = "preemptcheck"

// Role is what it takes to read a cluster: to list each of the kinds, and nothing else. What any
// client may ask without a role, the version and the groups of the API server, is not in it.
func Role() *rbacv1.ClusterRole {
	role := &rbacv1.ClusterRole{
		TypeMeta:   metav1.TypeMeta{APIVersion: rbacv1.SchemeGroupVersion.String(), Kind: "ClusterRole"},
		ObjectMeta: metav1.ObjectMeta{Name: RoleName},
	}
	for _, kind := range Kinds() {
		i := slices.IndexFunc(role.Rules, func(r rbacv1.PolicyRule) bool { return r.APIGroups[0] == kind.Group })
		if i < 0 {
			i = len(role.Rules)
			role.Rules = append(role.Rules, rbacv1.PolicyRule{APIGroups: []string{kind.Group}, Verbs: []string{"list"}})
		}
		role.Rules[i].Resources = append(role.Rules[i].Resources, kind.Resource)
	}
	return role
}

// RBAC are the objects that let a service account read a cluster: itself, the role, and their
// binding.
func RBAC(namespace, account string) []runtime.Object {
	role := Role()
	return []runtime.Object{
		&corev1.ServiceAccount{
			TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "ServiceAccount"},
			ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: account},
		},
		role,
		&rbacv1.ClusterRoleBinding{
			TypeMeta:   metav1.TypeMeta{APIVersion: rbacv1.SchemeGroupVersion.String(), Kind: "ClusterRoleBinding"},
			ObjectMeta: metav1.ObjectMeta{Name: RoleName},
			RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role.Name},
			Subjects:   []rbacv1.Subject{{Kind: "ServiceAccount", Namespace: namespace, Name: account}},
		},
	}
}
