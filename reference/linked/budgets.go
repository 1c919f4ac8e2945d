package linked

import (
	"time"

	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"

	"github.com/preemptcheck/preemptcheck/model"
)

// Budgets is the informer of budgets, by whose lister they come in the order of the
// cluster. That of the real one is that of a map, and with overlapping budgets victims depend on it.
type Budgets struct {
	cache.SharedIndexInformer
	store budgetStore
}

// budgetStore lists what it is given.
type budgetStore struct {
	cache.Indexer
	budgets []any
}

// NewBudgets registers the informer with the factory, before upstream asks for it.
func NewBudgets(factory informers.SharedInformerFactory) *Budgets {
	inf := &Budgets{SharedIndexInformer: cache.NewSharedIndexInformer(&cache.ListWatch{}, &policyv1.PodDisruptionBudget{}, 0,
		cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc})}
	inf.store.Indexer = inf.SharedIndexInformer.GetIndexer()
	factory.InformerFor(&policyv1.PodDisruptionBudget{}, func(kubernetes.Interface, time.Duration) cache.SharedIndexInformer { return inf })
	return inf
}

// GetIndexer implements cache.SharedIndexInformer.
func (i *Budgets) GetIndexer() cache.Indexer { return &i.store }

// Set makes these the budgets of the cluster.
func (i *Budgets) Set(budgets []*policyv1.PodDisruptionBudget) {
	i.store.budgets = nil
	for _, o := range model.ObjectsOf(budgets) {
		i.store.budgets = append(i.store.budgets, o)
	}
}

// List implements cache.Store.
func (s *budgetStore) List() []any { return s.budgets }
