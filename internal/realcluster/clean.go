package realcluster

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// Clean removes what a cluster has left that was killed: processes, mounts, cgroups, files, and what its
// kubelets have set in the kernel.
func Clean() error {
	if err := Check(); err != nil {
		return err
	}
	lock, err := lockRoot()
	if err != nil {
		return err
	}
	defer lock.Unlock()
	return errors.Join(clean(), os.RemoveAll(Scratch))
}

// clean is Clean, for the holder of the lock.
func clean() error {
	var all []error
	for number := 1; number <= 9; number++ {
		all = append(all, endNode(number), removeCgroups(number))
	}
	all = append(all, endProcesses(Root, "server", "kube-apiserver", "kube-scheduler", "kube-controller-manager", "storage"), unmount(Root))
	// The kubelet links each log, wherever it is.
	const logs = "/var/log/containers"
	links, _ := os.ReadDir(logs)
	for _, link := range links {
		if to, err := os.Readlink(filepath.Join(logs, link.Name())); err == nil && below(to, Root) {
			all = append(all, os.Remove(filepath.Join(logs, link.Name())))
		}
	}
	return errors.Join(append(all, restore(), os.RemoveAll(Root))...)
}

// endNode ends all processes of a node, and unmounts what they had mounted.
func endNode(number int) error {
	dir := nodeDir(number)
	// What would start containers anew goes first.
	err := endProcesses(dir, "kubelet", "containerd")
	sockets, _ := filepath.Glob(filepath.Join(dir, "state/io.containerd.runtime.v2.task/*/*/address"))
	err = errors.Join(err, endProcesses(dir, "containerd-shim-runc-v2", "runc"), endContainers(number))
	// The sockets of shims are not below the directory of their containerd.
	for _, file := range sockets {
		if address, err := os.ReadFile(file); err == nil {
			if socket, ok := strings.CutPrefix(string(address), "unix:///run/containerd/s/"); ok {
				_ = os.Remove(filepath.Join("/run/containerd/s", filepath.Base(socket)))
			}
		}
	}
	return errors.Join(err, unmount(dir))
}

// endContainers ends the processes in the cgroups of a node.
func endContainers(number int) error {
	for try := 0; ; try++ {
		pids := processesOf(number)
		if len(pids) == 0 {
			return nil
		}
		if try == 100 {
			return fmt.Errorf("processes %v in the cgroup %s do not end", pids, cgroupName(number))
		}
		for _, pid := range pids {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
		time.Sleep(50 * time.Millisecond)
	}
}

// endProcesses ends the processes of the programs that were told of a file below dir, and waits until they
// are gone.
func endProcesses(dir string, programs ...string) error {
	for try := 0; ; try++ {
		pids, err := running(dir, programs...)
		if err != nil {
			return err
		}
		if len(pids) == 0 {
			return nil
		}
		if try == 100 {
			return fmt.Errorf("processes %v do not end", pids)
		}
		for _, pid := range pids {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
		time.Sleep(50 * time.Millisecond)
	}
}

// running are the processes of the programs that were told of a file below dir; of any, if dir is "".
func running(dir string, programs ...string) (pids []int, err error) {
	all, err := os.ReadDir("/proc")
	if err != nil {
		return nil, err
	}
	for _, entry := range all {
		pid, err := strconv.Atoi(entry.Name())
		if err != nil {
			continue
		}
		line, _ := os.ReadFile(filepath.Join("/proc", entry.Name(), "cmdline")) // it may be gone by now
		args := strings.Split(string(line), "\x00")
		if slices.Contains(programs, filepath.Base(args[0])) && (dir == "" || slices.ContainsFunc(args[1:], func(arg string) bool {
			_, value, found := strings.Cut(arg, "=")
			return below(arg, dir) || found && below(value, dir)
		})) {
			pids = append(pids, pid)
		}
	}
	return pids, nil
}

func below(path, dir string) bool { return path == dir || strings.HasPrefix(path, dir+"/") }

// unmount unmounts all that is mounted below dir, the last first.
func unmount(dir string) error {
	var all []error
	mounted, err := mounts()
	if err != nil {
		return err
	}
	for _, m := range slices.Backward(mounted) {
		if below(m.at, dir) {
			if err := syscall.Unmount(m.at, syscall.MNT_DETACH); err != nil {
				all = append(all, fmt.Errorf("unmounting %s: %w", m.at, err))
			}
		}
	}
	return errors.Join(all...)
}

// mount is a file system that is mounted.
type mount struct{ at, kind string }

func mounts() (all []mount, err error) {
	data, err := os.ReadFile("/proc/self/mounts")
	if err != nil {
		return nil, err
	}
	for lines := bufio.NewScanner(bytes.NewReader(data)); lines.Scan(); {
		fields := strings.Fields(lines.Text())
		all = append(all, mount{strings.ReplaceAll(fields[1], `\040`, " "), fields[2]})
	}
	return all, nil
}

// hierarchies are the directories of all hierarchies of cgroups.
func hierarchies() (all []string, err error) {
	mounted, err := mounts()
	if err != nil {
		return nil, err
	}
	for _, m := range mounted {
		if m.kind == "cgroup" || m.kind == "cgroup2" {
			all = append(all, m.at)
		}
	}
	if len(all) == 0 {
		return nil, errors.New("no cgroups are mounted here")
	}
	return all, nil
}

// cgroupName is that of a node, in each hierarchy.
func cgroupName(number int) string { return fmt.Sprintf("preemptcheck-n%d", number) }

// makeCgroups makes the cgroup of a node in each hierarchy.
func makeCgroups(number int) error {
	all, err := hierarchies()
	if err != nil {
		return err
	}
	for _, h := range all {
		// The second version gives a cgroup the controllers only that the one above it passes on.
		if controllers, err := os.ReadFile(filepath.Join(h, "cgroup.controllers")); err == nil {
			for _, name := range strings.Fields(string(controllers)) {
				if err := os.WriteFile(filepath.Join(h, "cgroup.subtree_control"), []byte("+"+name), 0o644); err != nil {
					return err
				}
			}
		}
		dir := filepath.Join(h, cgroupName(number))
		if err := os.Mkdir(dir, 0o755); err != nil {
			return err
		}
		// The first version lets no process into a set of no CPUs, and a new one has none.
		for _, file := range []string{"cpuset.cpus", "cpuset.mems"} {
			if set, err := os.ReadFile(filepath.Join(h, file)); err == nil {
				if err := os.WriteFile(filepath.Join(dir, file), set, 0o644); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// removeCgroups removes the cgroups of a node. They have to be without processes.
func removeCgroups(number int) error {
	all, err := hierarchies()
	if err != nil {
		return err
	}
	var failed []error
	for _, h := range all {
		var dirs []string
		err := filepath.WalkDir(filepath.Join(h, cgroupName(number)), func(path string, d fs.DirEntry, err error) error {
			if err == nil && d.IsDir() {
				dirs = append(dirs, path)
			}
			return err
		})
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			failed = append(failed, err)
		}
		for _, dir := range slices.Backward(dirs) {
			failed = append(failed, os.Remove(dir))
		}
	}
	return errors.Join(failed...)
}

// processesOf are the processes in the cgroups of a node: those of its containers.
func processesOf(number int) (pids []int) {
	all, err := hierarchies()
	if err != nil {
		return nil
	}
	for _, h := range all {
		_ = filepath.WalkDir(filepath.Join(h, cgroupName(number)), func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.Name() != "cgroup.procs" {
				return nil // it may be gone by now
			}
			data, _ := os.ReadFile(path)
			for _, field := range strings.Fields(string(data)) {
				if pid, err := strconv.Atoi(field); err == nil && pid > 0 && !slices.Contains(pids, pid) {
					pids = append(pids, pid)
				}
			}
			return nil
		})
	}
	return pids
}

// before is what of this machine a cluster changes outside of Root, as it was.
type before struct {
	// Sysctls are values by their names.
	Sysctls map[string]string
	// Absent are the directories that were not there.
	Absent []string
}

const beforeFile = Root + "/before.json"

// sysctls are what a kubelet sets in the kernel.
var sysctls = []string{"vm/overcommit_memory", "vm/panic_on_oom", "kernel/panic", "kernel/panic_on_oops", "kernel/keys/root_maxkeys", "kernel/keys/root_maxbytes"}

// made are directories that kubelets and containerd make, wherever they are told to keep their files.
var made = []string{"/var/lib/kubelet", "/var/log/containers", "/run/containerd/s", "/run/containerd"}

// note writes down how this machine is before kubelets run.
func note() error {
	b := before{Sysctls: map[string]string{}}
	for _, name := range sysctls {
		if value, err := os.ReadFile(filepath.Join("/proc/sys", name)); err == nil {
			b.Sysctls[name] = string(value)
		}
	}
	for _, dir := range made {
		if _, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) {
			b.Absent = append(b.Absent, dir)
		}
	}
	data, err := json.Marshal(b)
	if err != nil {
		return err
	}
	return os.WriteFile(beforeFile, data, 0o600)
}

// restore makes this machine what it was, if kubelets may have run.
func restore() error {
	data, err := os.ReadFile(beforeFile)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	} else if err != nil {
		return err
	}
	var b before
	if err := json.Unmarshal(data, &b); err != nil {
		return fmt.Errorf("%s: %w", beforeFile, err)
	}
	var all []error
	for name, value := range b.Sysctls {
		file := filepath.Join("/proc/sys", name)
		if now, err := os.ReadFile(file); err == nil && string(now) != value {
			all = append(all, os.WriteFile(file, []byte(value), 0o644))
		}
	}
	for _, dir := range b.Absent {
		// The sockets of kubelets for plugins of devices.
		_ = os.RemoveAll(filepath.Join(dir, "device-plugins"))
		_ = os.Remove(dir) // what others have put there since stays
	}
	return errors.Join(all...)
}
