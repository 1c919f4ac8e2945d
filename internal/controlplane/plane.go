package controlplane

import (
	"context"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"time"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// Admin may do everything.
const Admin = "admin"

// User is one that the API server knows.
type User struct {
	Name   string
	Groups []string
}

// Options say what a control plane is for.
type Options struct {
	// Users are known besides Admin. They have the rights that roles and their groups give them.
	Users []User
	// Nodes says that kubelets and controllers will run. The API server then admits objects as it does by
	// default. Otherwise objects stay as they are written.
	Nodes bool
	// Flags are further ones of the API server.
	Flags []string
}

// Plane is a control plane that runs.
type Plane struct {
	// Host is the address of the API server.
	Host string
	// AuditLog is the file in which the API server notes each request.
	AuditLog string
	dir      string
	secret   string // part of each user's token
	running  []*Process
	ca       []byte
}

// auditPolicy notes who asked for what, and not with which content.
const auditPolicy = `apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
rules: [{level: Metadata}]
`

// Start starts etcd and the API server as StartWith does, for objects that stay as they are written. Besides
// Admin the users have no rights but those that roles give them.
func Start(ctx context.Context, binaries, dir string, users ...string) (*Plane, error) {
	var o Options
	for _, name := range users {
		o.Users = append(o.Users, User{Name: name})
	}
	return StartWith(ctx, binaries, dir, o)
}

// StartWith starts the programs in binaries, on free ports of loopback, with files in dir, and waits until
// the API server is ready.
func StartWith(ctx context.Context, binaries, dir string, o Options) (p *Plane, err error) {
	p = &Plane{dir: dir, AuditLog: filepath.Join(dir, "audit.log"), secret: rand.Text()}
	defer func() {
		if err != nil {
			err = fmt.Errorf("%w\n%s", err, p.lastWords())
			p.Stop()
		}
	}()
	ports, err := FreePorts(3)
	if err != nil {
		return p, err
	}
	client, peer := "http://127.0.0.1:"+ports[0], "http://127.0.0.1:"+ports[1]
	var tokens string
	for _, user := range append([]User{{Admin, []string{"system:masters"}}}, o.Users...) {
		tokens += fmt.Sprintf("%s,%s,%[2]s,%q\n", p.token(user.Name), user.Name, strings.Join(user.Groups, ","))
	}
	key, err := signingKey()
	if err != nil {
		return p, err
	}
	for file, content := range map[string]string{filepath.Join(dir, "tokens.csv"): tokens, filepath.Join(dir, "audit.yaml"): auditPolicy, p.SigningKey(): key} {
		if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
			return p, err
		}
	}
	// What is lost with the machine need not be on its disk.
	err = p.run(binaries, etcd, "--data-dir="+filepath.Join(dir, "etcd"), "--unsafe-no-fsync", "--log-level=error", "--quota-backend-bytes=4294967296",
		"--listen-client-urls="+client, "--advertise-client-urls="+client, "--listen-peer-urls="+peer, "--initial-advertise-peer-urls="+peer, "--initial-cluster=default="+peer)
	if err != nil {
		return p, err
	}
	authorization := "RBAC"
	if o.Nodes {
		authorization = "Node,RBAC"
	} else {
		// Objects are to stay as they are written, without the controllers that others wait for.
		o.Flags = append(o.Flags, "--disable-admission-plugins=ServiceAccount,TaintNodesByCondition,DefaultTolerationSeconds,Priority",
			"--feature-gates=GenericWorkload=true", "--runtime-config=scheduling.k8s.io/v1beta1=true")
	}
	err = p.run(binaries, "kube-apiserver", append(o.Flags, "--etcd-servers="+client, "--bind-address=127.0.0.1", "--advertise-address=127.0.0.1", "--secure-port="+ports[2],
		"--cert-dir="+filepath.Dir(p.Certificate()), "--token-auth-file="+filepath.Join(dir, "tokens.csv"), "--authorization-mode="+authorization,
		"--service-cluster-ip-range=10.0.0.0/24", "--endpoint-reconciler-type=none",
		"--service-account-key-file="+p.SigningKey(), "--service-account-signing-key-file="+p.SigningKey(), "--service-account-issuer=https://kubernetes.default.svc",
		"--audit-policy-file="+filepath.Join(dir, "audit.yaml"), "--audit-log-path="+p.AuditLog, "--audit-log-mode=blocking",
		"--enable-priority-and-fairness=false", "--max-requests-inflight=2000", "--max-mutating-requests-inflight=2000")...)
	if err != nil {
		return p, err
	}
	p.Host = "https://127.0.0.1:" + ports[2]
	return p, p.await(ctx, p.Certificate())
}

// SigningKey is the file with the key that signs the tokens of service accounts.
func (p *Plane) SigningKey() string { return filepath.Join(p.dir, "key.pem") }

// Certificate is the file with the certificate of the API server, which signs itself.
func (p *Plane) Certificate() string { return filepath.Join(p.dir, "certs", "apiserver.crt") }

// run starts a program.
func (p *Plane) run(binaries, name string, args ...string) error {
	started, err := Run(p.dir, name, filepath.Join(binaries, name), args...)
	if err != nil {
		return err
	}
	p.running = append(p.running, started)
	return nil
}

// await waits until the API server says that it is ready.
func (p *Plane) await(ctx context.Context, certificate string) error {
	ctx, cancel := context.WithTimeoutCause(ctx, 2*time.Minute, errors.New("the API server is not ready after two minutes"))
	defer cancel()
	for ; ; time.Sleep(50 * time.Millisecond) {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		var err error
		if p.ca, err = os.ReadFile(certificate); err != nil {
			continue // it makes its certificate first
		}
		client, err := rest.UnversionedRESTClientFor(raw(p.Config(Admin)))
		if err != nil {
			continue
		}
		if _, err := client.Get().AbsPath("/readyz").Do(ctx).Raw(); err == nil {
			return nil
		}
	}
}

func (p *Plane) token(user string) string { return user + "." + p.secret }

// Config is how a user reaches the API server.
func (p *Plane) Config(user string) *rest.Config {
	return &rest.Config{Host: p.Host, BearerToken: p.token(user), TLSClientConfig: rest.TLSClientConfig{CAData: p.ca}}
}

// Kubeconfig writes how a user reaches the API server to a file.
func (p *Plane) Kubeconfig(user string) (file string, err error) {
	config := clientcmdapi.NewConfig()
	config.Clusters["loopback"] = &clientcmdapi.Cluster{Server: p.Host, CertificateAuthorityData: p.ca}
	config.AuthInfos[user] = &clientcmdapi.AuthInfo{Token: p.token(user)}
	config.Contexts[user] = &clientcmdapi.Context{Cluster: "loopback", AuthInfo: user}
	config.CurrentContext = user
	file = filepath.Join(p.dir, user+".kubeconfig")
	return file, clientcmd.WriteToFile(*config, file)
}

// Processes are the ids of the processes of etcd and of the API server.
func (p *Plane) Processes() (ids []int) {
	for _, running := range p.running {
		ids = append(ids, running.PID())
	}
	return ids
}

// Stop ends the programs, and waits until they are gone.
func (p *Plane) Stop() {
	for i := len(p.running) - 1; i >= 0; i-- {
		p.running[i].Kill()
	}
	p.running = nil
}

// lastWords are the ends of the logs.
func (p *Plane) lastWords() string {
	var all []string
	for _, running := range p.running {
		all = append(all, running.LastWords())
	}
	return strings.Join(all, "\n")
}

// FreePorts are ports of loopback that nobody listens on.
func FreePorts(n int) (ports []string, err error) {
	for range n {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return nil, err
		}
		defer l.Close()
		_, port, _ := net.SplitHostPort(l.Addr().String())
		ports = append(ports, port)
	}
	return ports, nil
}

// signingKey is a key for the tokens of service accounts.
func signingKey() (string, error) {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		return "", err
	}
	return string(pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(key)})), nil
}
