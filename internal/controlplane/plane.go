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
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// Admin may do everything.
const Admin = "admin"

// Plane is a control plane that runs.
type Plane struct {
	// Host is the address of the API server.
	Host string
	// AuditLog is the file in which the API server notes each request.
	AuditLog string
	dir      string
	running  []*exec.Cmd
	ca       []byte
}

// auditPolicy notes who asked for what, and not with which content.
const auditPolicy = `apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
rules: [{level: Metadata}]
`

// Start starts the programs in binaries, on free ports of loopback, with files in dir, and waits until
// the API server is ready. Besides Admin the users have no rights but those that roles give them; each
// user's token is its name.
func Start(ctx context.Context, binaries, dir string, users ...string) (p *Plane, err error) {
	p = &Plane{dir: dir, AuditLog: filepath.Join(dir, "audit.log")}
	defer func() {
		if err != nil {
			err = fmt.Errorf("%w\n%s", err, p.lastWords())
			p.Stop()
		}
	}()
	ports, err := freePorts(3)
	if err != nil {
		return p, err
	}
	client, peer := "http://127.0.0.1:"+ports[0], "http://127.0.0.1:"+ports[1]
	tokens := fmt.Sprintf("%s,%[1]s,%[1]s,system:masters\n", Admin)
	for _, user := range users {
		tokens += fmt.Sprintf("%s,%[1]s,%[1]s\n", user)
	}
	key, err := signingKey()
	if err != nil {
		return p, err
	}
	for name, content := range map[string]string{"tokens.csv": tokens, "audit.yaml": auditPolicy, "key.pem": key} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
			return p, err
		}
	}
	// What is lost with the machine need not be on its disk.
	err = p.run(binaries, "server", "--data-dir="+filepath.Join(dir, "etcd"), "--unsafe-no-fsync", "--log-level=error", "--quota-backend-bytes=4294967296",
		"--listen-client-urls="+client, "--advertise-client-urls="+client, "--listen-peer-urls="+peer, "--initial-advertise-peer-urls="+peer, "--initial-cluster=default="+peer)
	if err != nil {
		return p, err
	}
	certs := filepath.Join(dir, "certs")
	err = p.run(binaries, "kube-apiserver", "--etcd-servers="+client, "--bind-address=127.0.0.1", "--advertise-address=127.0.0.1", "--secure-port="+ports[2], "--cert-dir="+certs,
		"--token-auth-file="+filepath.Join(dir, "tokens.csv"), "--authorization-mode=RBAC", "--service-cluster-ip-range=10.0.0.0/24", "--endpoint-reconciler-type=none",
		"--service-account-key-file="+filepath.Join(dir, "key.pem"), "--service-account-signing-key-file="+filepath.Join(dir, "key.pem"), "--service-account-issuer=https://kubernetes.default.svc",
		// Objects are to stay as they are written, without the controllers that others wait for.
		"--disable-admission-plugins=ServiceAccount,TaintNodesByCondition,DefaultTolerationSeconds,Priority",
		"--feature-gates=GenericWorkload=true", "--runtime-config=scheduling.k8s.io/v1beta1=true",
		"--audit-policy-file="+filepath.Join(dir, "audit.yaml"), "--audit-log-path="+p.AuditLog, "--audit-log-mode=blocking",
		"--enable-priority-and-fairness=false", "--max-requests-inflight=2000", "--max-mutating-requests-inflight=2000")
	if err != nil {
		return p, err
	}
	p.Host = "https://127.0.0.1:" + ports[2]
	return p, p.await(ctx, filepath.Join(certs, "apiserver.crt"))
}

// run starts a program. Should this process die, the program does, too.
func (p *Plane) run(binaries, name string, args ...string) error {
	log, err := os.Create(filepath.Join(p.dir, name+".log"))
	if err != nil {
		return err
	}
	defer log.Close()
	cmd := exec.Command(filepath.Join(binaries, name), args...)
	cmd.Stdout, cmd.Stderr, cmd.SysProcAttr = log, log, &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := cmd.Start(); err != nil {
		return err
	}
	p.running = append(p.running, cmd)
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

// Config is how a user reaches the API server.
func (p *Plane) Config(user string) *rest.Config {
	return &rest.Config{Host: p.Host, BearerToken: user, TLSClientConfig: rest.TLSClientConfig{CAData: p.ca}}
}

// Kubeconfig writes how a user reaches the API server to a file.
func (p *Plane) Kubeconfig(user string) (file string, err error) {
	config := clientcmdapi.NewConfig()
	config.Clusters["loopback"] = &clientcmdapi.Cluster{Server: p.Host, CertificateAuthorityData: p.ca}
	config.AuthInfos[user] = &clientcmdapi.AuthInfo{Token: user}
	config.Contexts[user] = &clientcmdapi.Context{Cluster: "loopback", AuthInfo: user}
	config.CurrentContext = user
	file = filepath.Join(p.dir, user+".kubeconfig")
	return file, clientcmd.WriteToFile(*config, file)
}

// Processes are the ids of the processes of etcd and of the API server.
func (p *Plane) Processes() (ids []int) {
	for _, cmd := range p.running {
		ids = append(ids, cmd.Process.Pid)
	}
	return ids
}

// Stop ends the programs, and waits until they are gone.
func (p *Plane) Stop() {
	for i := len(p.running) - 1; i >= 0; i-- {
		_ = p.running[i].Process.Kill()
		_ = p.running[i].Wait()
	}
	p.running = nil
}

// lastWords are the ends of the logs.
func (p *Plane) lastWords() string {
	var all []string
	for _, name := range []string{"server", "kube-apiserver"} {
		if log, err := os.ReadFile(filepath.Join(p.dir, name+".log")); err == nil {
			all = append(all, name+": "+string(log[max(0, len(log)-2000):]))
		}
	}
	return strings.Join(all, "\n")
}

// freePorts are ports of loopback that nobody listens on.
func freePorts(n int) (ports []string, err error) {
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

// signingKey is a key for service accounts, which nobody uses.
func signingKey() (string, error) {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		return "", err
	}
	return string(pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(key)})), nil
}
