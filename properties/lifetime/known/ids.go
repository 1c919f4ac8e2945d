package known

// The known findings that show in timelines, by their ids in the ledger.
const (
	// VainPreemption: the victims are gone before the preemption that keeps its pod gated
	// comes to them, and nothing wakes the pod up.
	VainPreemption = "gated-by-vain-preemption"
	// GateMeetsDeletion: the deletion of a victim is met by the gate, and no later event helps.
	GateMeetsDeletion = "victim-deletion-met-by-gate"
	// NominationComesBack: a withdrawn nomination is restored by a late update.
	NominationComesBack = "withdrawn-nomination-comes-back"
	// VictimsEndUnnoticed: a pod waits for its victims, and is not tried when they are gone.
	VictimsEndUnnoticed = "end-of-victims-wakes-nobody"
	// ChanceUnnoticed: preemption has become possible, and no plugin takes notice.
	ChanceUnnoticed = "preemption-chance-unnoticed"
	// SecondPreemption: a pod preempts again before the scheduler has seen its own
	// nomination of it.
	SecondPreemption = "preempts-before-nomination-is-seen"
	// SynchronousFailure: a synchronous preemption fails, or deletes nothing, and nothing tries it again.
	SynchronousFailure = "failed-synchronous-preemption-waits"
	// StaleNomination: the write that clears a nomination fails, and is not repeated.
	StaleNomination = "failed-write-leaves-nomination"
	// Namesake: the victim is gone, and another pod that was created under its name is
	// evicted in its place.
	Namesake = "evicts-namesake"
	// VictimBack: the victim was on its way to the node, its binding failed before it was
	// evicted, and its deletion is no event that wakes the preemptor up.
	VictimBack = "victim-back-in-queue-wakes-nobody"
	// FirstUnnoticed: the last pod is gone that a pod has to be with, which may go anywhere
	// now as the first of its kind, and the plugin that rejected it takes no notice.
	FirstUnnoticed = "first-of-its-kind-unnoticed"
	// NodeForShunned: a node comes on which a pod fits that pods on the other nodes shun, and the
	// plugin that rejected it takes no notice.
	NodeForShunned = "node-for-shunned-pod-unnoticed"
	// SpreadEased: a pod terminates that a topology spread constraint counted until then, and the
	// plugin that rejected another one for it takes no notice.
	SpreadEased = "spread-eased-unnoticed"
	// SkippedUnnoticed: a nominated pod that terminates is skipped when it is its turn. It is in
	// no queue then, and the room that was kept for it is free without an event.
	SkippedUnnoticed = "skipped-pod-frees-room-unnoticed"
	// KeptRoomFreed: a nominated pod goes to another node, or it is deleted or loses its nomination
	// before that was written, and those that it kept from the node are not told.
	KeptRoomFreed = "kept-room-freed-unnoticed"
	// BoundElsewhere: a pod is bound, and not to the node on which the scheduler had assumed it, or to which it was nominated. Those
	// that it kept from that node are not told.
	BoundElsewhere = "bound-elsewhere-wakes-nobody"
	// OldCopy: a pod is in two attempts at once, and the end of the first puts a copy of it into
	// the queue that nothing keeps up to date.
	OldCopy = "old-copy-stays-in-queue"
	// EarlierOpensGate: a pod preempts while the goroutine of its preemption before is still on, and
	// that one opens the gate for it.
	EarlierOpensGate = "earlier-preemption-opens-gate"
	// NoPause: a pod is tried again past its backoff when its preemption has failed, or a victim
	// was preempted in memory, and preempts again.
	NoPause = "preempts-again-without-pause"
	// RecreatedAsUpdate: a pod that was deleted and created again while the watch was down comes
	// as one update, and the scheduler takes the two for one pod.
	RecreatedAsUpdate = "recreated-pod-seen-as-update"
	// GateOutlives: a pod is still gated when its preemption is over, and an event that would
	// help is met by the gate, as it is no deletion of a pod; or such an event was met while the
	// preemption went on, and the pod has not been tried on that node since.
	GateOutlives = "gate-outlives-preemption"
	// StaleDeletion: a new list shows that a pod is gone that was on a node, or assumed there, of
	// which the informer had not stored that, and its deletion does not wake those that wait for
	// its room.
	StaleDeletion = "stale-deletion-wakes-nobody"
	// BoundPreempts: a pod preempts that is bound by the version of it which the preemption has
	// looked up.
	BoundPreempts = "preempts-for-bound-pod"
	// NamesakePreempts: a pod that is gone preempts as the one that was created under its name.
	NamesakePreempts = "preempts-as-namesake"
	// UnitInPart: an eviction fails, or the scheduler dies, in the middle of a group that can only be evicted
	// as a whole, and its preemptor fits by then.
	UnitInPart = "unit-evicted-in-part"
	// MemberGone: a pod of a group is deleted that alone kept the group out of the queue, or that alone was rejected
	// by a plugin whose events could bring the group back.
	MemberGone = "deleted-member-keeps-group-out"
	// RejectionsForgotten: a composite group preempts, and which plugins rejected its pods is lost.
	RejectionsForgotten = "composite-group-forgets-rejections"
	// FirstRejection: a group preempts, and the pods of it that were rejected wait for something else than the end of its victims.
	FirstRejection = "first-rejection-stands-for-group"
	// CycleCutShort: a pod without a group is put back while a group is in its cycle, and pods of the group come back as if it was in none.
	CycleCutShort = "failed-binding-cuts-group-cycle"
	// LateDeletion: a pod is deleted in the cycle of its group, and keeps the room that it is given at the end of that.
	LateDeletion = "late-deletion-holds-room"
	// NominationOutlives: a pod is created again in the cycle of its group, and nominated as the one before it was.
	NominationOutlives = "recreated-member-keeps-nomination"
	// Relabelled: the labels of a pod are changed on its way to a node. That counts when it is bound, and
	// the plugin that rejected another pod for the old ones takes no notice.
	Relabelled = "relabelled-on-its-way-unnoticed"
	// Resized: a pod that is nominated, or on its way to a node, comes to ask for less, and nobody else is told.
	Resized = "resized-on-its-way-unnoticed"
	// MemberAtOnce: the binding of a member of a group fails, and the group is tried again at once.
	MemberAtOnce = "failed-member-does-not-back-off"
	// MemberTwice: a pod of a group is changed as its binding fails, and is in its group twice, once more than its deletion takes out.
	MemberTwice = "member-queued-twice"
	// GoneCounts: a pod of a group is deleted while it waits for permission, and counts in its group for ever.
	GoneCounts = "deleted-member-still-counts"
	// SpreadIgnored: a pod goes where a nominated pod does not fit beside it for its spread constraints, and is preempted for that.
	SpreadIgnored = "nominated-spread-ignored"
)

// Those that only older releases have.
const (
	// Meanwhile: a pod preempts its victims once more while the call that deletes the last one is
	// not answered.
	Meanwhile = "second-preemption-meanwhile"
	// StaysInFlight: a pod is deleted and created again in its cycle, and that never counts as over.
	StaysInFlight = "recreated-pod-stays-in-flight"
	// NominationKept: a pod whose binding fails stays nominated.
	NominationKept = "failed-binding-keeps-nomination"
	// DeletedStays: a pod that is deleted on its way to a node counts there until its binding has
	// failed.
	DeletedStays = "deleted-pod-stays-assumed"
	// VictimRejected: a pod that is preempted while it waits for permission counts as rejected, and
	// no event makes it be tried again.
	VictimRejected = "victim-in-permit-waits"
	// ShunnerGone: a pod that shuns another one is gone, and the plugin that rejected that one takes no notice.
	ShunnerGone = "shunning-pod-gone-unnoticed"
	// NamesakeGated: a pod is deleted in its cycle and created again, and the new one is gated as if
	// it preempted.
	NamesakeGated = "recreated-preemptor-stays-gated"
)
