module github.com/preemptcheck/preemptcheck

go 1.26.0

require (
	github.com/beorn7/perks v0.0.0-20180321164747-3a771d992973
	github.com/blang/semver v3.5.0+incompatible
	github.com/coreos/etcd v3.3.17+incompatible
	github.com/coreos/go-systemd v0.0.0-20181012123002-c6f51f82210d
	github.com/coreos/pkg v0.0.0-20180108230652-97fdf19511ea
	github.com/davecgh/go-spew v1.1.1
	github.com/docker/distribution v2.7.1+incompatible
	github.com/evanphx/json-patch v4.9.0+incompatible
	github.com/gogo/protobuf v1.2.2-0.20190723190241-65acae22fc9d
	github.com/golang/groupcache v0.0.0-20160516000752-02826c3e7903
	github.com/golang/protobuf v1.3.1
	github.com/google/go-cmp v0.3.0
	github.com/google/gofuzz v1.0.0
	github.com/google/uuid v1.1.1
	github.com/googleapis/gnostic v0.0.0-20170729233727-0c5108395e2d
	github.com/hashicorp/golang-lru v0.5.1
	github.com/json-iterator/go v1.1.7
	github.com/matttproud/golang_protobuf_extensions v1.0.1
	github.com/modern-go/concurrent v0.0.0-20180306012644-bacd9c7ef1dd
	github.com/modern-go/reflect2 v1.0.2
	github.com/opencontainers/go-digest v1.0.0-rc1
	github.com/pkg/errors v0.8.1
	github.com/prometheus/client_golang v0.9.2
	github.com/prometheus/client_model v0.0.0-20180712105110-5c3871d89910
	github.com/prometheus/common v0.0.0-20181126121408-4724e9255275
	github.com/prometheus/procfs v0.0.0-20181204211112-1dc9a6cbc91a
	github.com/spf13/pflag v1.0.5
	go.uber.org/atomic v0.0.0-20181018215023-8dc6146f7569
	go.uber.org/multierr v0.0.0-20180122172545-ddea229ff1df
	go.uber.org/zap v0.0.0-20180814183419-67bc79d13d15
	golang.org/x/crypto v0.0.0-20200220183623-bac4c82f6975
	golang.org/x/net v0.0.0-20191004110552-13f9640d40b9
	golang.org/x/oauth2 v0.0.0-20190604053449-0f29369cfe45
	golang.org/x/sys v0.0.0-20190813064441-fde4db37ae7a
	golang.org/x/text v0.3.2
	golang.org/x/time v0.0.0-20190308202827-9d24e82272b4
	google.golang.org/genproto v0.0.0-20190502173448-54afdca5d873
	google.golang.org/grpc v1.23.0
	gopkg.in/inf.v0 v0.9.1
	gopkg.in/yaml.v2 v2.2.8
	k8s.io/api v0.16.15
	k8s.io/apiextensions-apiserver v0.16.15
	k8s.io/apimachinery v0.16.15
	k8s.io/apiserver v0.16.15
	k8s.io/client-go v0.16.15
	k8s.io/cloud-provider v0.16.15
	k8s.io/component-base v0.16.15
	k8s.io/csi-translation-lib v0.16.15
	k8s.io/klog v1.0.0
	k8s.io/kube-openapi v0.0.0-20200410163147-594e756bea31
	k8s.io/kubernetes v1.16.15
	k8s.io/utils v0.0.0-20190801114015-581e00157fb1
	sigs.k8s.io/json v0.0.0-20220713155537-f223a00ba0e2
	sigs.k8s.io/yaml v1.1.0
)
replace k8s.io/api => k8s.io/api v0.16.15
replace k8s.io/apiextensions-apiserver => k8s.io/apiextensions-apiserver v0.16.15
replace k8s.io/apimachinery => k8s.io/apimachinery v0.16.15
replace k8s.io/apiserver => k8s.io/apiserver v0.16.15
replace k8s.io/cli-runtime => k8s.io/cli-runtime v0.16.15
replace k8s.io/client-go => k8s.io/client-go v0.16.15
replace k8s.io/cloud-provider => k8s.io/cloud-provider v0.16.15
replace k8s.io/cluster-bootstrap => k8s.io/cluster-bootstrap v0.16.15
replace k8s.io/code-generator => k8s.io/code-generator v0.16.15
replace k8s.io/component-base => k8s.io/component-base v0.16.15
replace k8s.io/cri-api => k8s.io/cri-api v0.16.15
replace k8s.io/csi-translation-lib => k8s.io/csi-translation-lib v0.16.15
replace k8s.io/kube-aggregator => k8s.io/kube-aggregator v0.16.15
replace k8s.io/kube-controller-manager => k8s.io/kube-controller-manager v0.16.15
replace k8s.io/kube-proxy => k8s.io/kube-proxy v0.16.15
replace k8s.io/kube-scheduler => k8s.io/kube-scheduler v0.16.15
replace k8s.io/kubectl => k8s.io/kubectl v0.16.15
replace k8s.io/kubelet => k8s.io/kubelet v0.16.15
replace k8s.io/legacy-cloud-providers => k8s.io/legacy-cloud-providers v0.16.15
replace k8s.io/metrics => k8s.io/metrics v0.16.15
replace k8s.io/node-api => k8s.io/node-api v0.16.15
replace k8s.io/sample-apiserver => k8s.io/sample-apiserver v0.16.15
replace k8s.io/sample-cli-plugin => k8s.io/sample-cli-plugin v0.16.15
replace k8s.io/sample-controller => k8s.io/sample-controller v0.16.15
replace vbom.ml/util => ./stub
