/** Why an error occurs and what to do about it, for the page of error codes. */
export interface ErrorCure {
  readonly cause: string
  readonly cure: string
  /** Texts that the source does not contain as a literal. */
  readonly messages?: readonly string[]
}

/** The cause and the cure of every code. The check of the site reports codes that are missing here. */
export const errorCures: Readonly<Record<string, ErrorCure>> = {
  KW_CLOCK_BUSY: {
    cause: 'A test calls `advance` twice without awaiting the first call.',
    cure: '`await` every call of `advance` and `runUntilIdle`.',
  },
  KW_CLOCK_HOT_LOOP: {
    cause: 'A timer with delay 0 sets itself again, so virtual time cannot pass.',
    cure: 'Give the timer that the message names a delay, or end the loop that sets it.',
  },
  KW_CLOCK_NOT_IDLE: {
    cause: 'Some code sets timers for ever, such as a resync or a poll.',
    cure: 'Advance by a duration instead of waiting until no timer is left.',
  },
  KW_DEADLINE_EXCEEDED: {
    cause:
      'A request, a reconcile or a wait took longer than its limit. For a reconcile, the limit is `timeout` of the controller.',
    cure: 'Pass `signal` to every call, so that it ends in time. Look at the latency of the system that the message names, or raise the limit.',
  },
  KW_QUEUE_CLOSED: {
    cause: 'Code uses a queue after its owner has stopped.',
    cure: 'Stop the producers before the queue, or ignore the error during a shutdown.',
  },
  KW_USAGE: {
    cause: 'A flag, an argument or an environment variable is missing, unknown or has a wrong value.',
    cure: 'Follow the message. `--help` lists the flags, and the [reference of commands](cli.md) describes them.',
  },
  KW_ALREADY_OWNED: {
    cause: 'The object already has an owner with `controller: true`. An object has at most one.',
    cure: 'Give the child another name, or add an owner reference that is not a controller with `setOwnerReference`.',
  },
  KW_API: {
    cause: 'The API server answered with an error. The message is the text of Kubernetes.',
    cure: 'Tell the cases apart with `isNotFound`, `isConflict`, `isForbidden` and the other guards. [Troubleshooting](../guides/troubleshooting.md) lists frequent messages.',
    messages: [
      'Operation cannot be fulfilled on …: the object has been modified',
      '… "…" not found',
      '… is forbidden: User "…" cannot …',
    ],
  },
  KW_NOT_REGISTERED: {
    cause: 'The program reads or writes a kind that was not added to its scheme.',
    cure: 'Add the kind to the scheme, or pass the kind itself instead of its name.',
  },
  KW_OWNER_NAMESPACE: {
    cause:
      'The owner and the child are in different namespaces, or a cluster-scoped child has a namespaced owner. The garbage collector would delete such a child.',
    cure: 'Make the kind of the owner [cluster-scoped](../concepts/kinds-and-versions.md#scope), or use `client.apply` and delete the objects in `cleanup`, as [SecSynch](../tutorials/sec-synch.md) does.',
  },
  KW_SYNTAX: {
    cause: 'A selector, an `apiVersion`, a JSONPath, JSON or YAML has a wrong form.',
    cure: 'Correct the text that the message quotes. Columns of kinds are JSONPaths that start with a dot: `.spec.replicas`.',
  },
  KW_CONFIG: {
    cause: 'No kubeconfig was found, or it is not valid.',
    cure: 'Correct the file and the field that the message names. The order is `--kubeconfig`, `$KUBECONFIG`, `~/.kube/config`, the service account of the pod. `npx kubewright up` starts a control plane without any cluster.',
  },
  KW_CONNECTION: {
    cause:
      'The API server is down or another network, proxy or firewall is in between. After a write, the server may have made it.',
    cure: 'Try `kubectl get --raw /readyz` with the same kubeconfig. Controllers retry by themselves.',
    messages: [
      'https://…: connection refused',
      'https://…: connection reset',
      'https://…: self-signed certificate',
      '…; the server may require https',
      'ECONNREFUSED',
      'ECONNRESET',
      'ENOTFOUND',
      'socket hang up',
    ],
  },
  KW_CREDENTIALS: {
    cause: 'The credential plugin of the kubeconfig failed, or its program is not installed.',
    cure: 'Run `kubectl version` with the same kubeconfig and log in again. In a pod, use the service account instead of a kubeconfig.',
    messages: ['…: plugin … failed', '…: plugin … not found'],
  },
  KW_NO_MATCH: {
    cause: 'The CRD is not installed in this cluster, or it does not serve this version.',
    cure: 'Run `kubectl get crd`, then `npx kubewright install`. For kinds of other projects, install their CRDs first.',
  },
  KW_ACCESS: {
    cause: 'The role in the cluster is older than the code, or a rule is missing in `rbac`.',
    cure: 'Run `npx kubewright generate && npx kubewright deploy`, or apply `config/rbac`. The operator is not ready until the permissions are there.',
    messages: ['Missing permissions: …', '… cannot list …'],
  },
  KW_CACHE_NOT_SYNCED: {
    cause:
      'The CRD is not installed, the role has no permission to list or watch the kind, or the API server cannot be reached. The message names each missing list and its problem.',
    cure: 'Run `npx kubewright install` for the CRD and `kubectl auth can-i list homes --as …` for the role. `npx kubewright doctor` checks both.',
  },
  KW_CERTIFICATE: {
    cause:
      'The files of a certificate are missing or do not match, or the Secret for certificates belongs to another program.',
    cure: 'Mount the Secret with `tls.crt` and `tls.key`, or omit the folder: the operator then creates certificates itself.',
  },
  KW_CHANNEL_FULL: {
    cause: 'A channel source got keys before a controller that uses it started.',
    cure: 'Start the controller first, push fewer keys, or raise `capacity`.',
  },
  KW_CHILD: {
    cause: 'The kind of the child is not in `owns`, or its name or namespace is missing or wrong.',
    cure: 'Follow the message. For objects in other namespaces use `client.apply` and a `cleanup`: [SecSynch](../tutorials/sec-synch.md).',
    messages: [
      "Cannot apply … as a child of …: it has no 'metadata.name': derive it from the owner's name, so that the next apply finds the child",
      'Cannot apply … as a child of …: a namespaced object cannot own a cluster-scoped one',
    ],
  },
  KW_CONTROLLER_RUNNING: {
    cause: 'A controller was run twice, or after it was disposed.',
    cure: 'Create a new controller for each run. A manager runs its controllers by itself.',
  },
  KW_CONVERSION: {
    cause:
      'Converting an object to another version and back loses or changes a field. The message contains the smallest object that shows it.',
    cure: 'Store fields that the other version lacks in an annotation: [conversion](../guides/conversion-and-migration.md).',
  },
  KW_HANDLED_TOO_LARGE: {
    cause: 'The fields that handlers watch are too large to remember in an annotation.',
    cure: 'Use handlers of smaller fields, or `defineController`, which stores nothing.',
  },
  KW_LEADERSHIP_LOST: {
    cause:
      'The process was paused (CPU limits, a long synchronous computation), or the API server did not answer until the Lease ended. Another replica may lead now, so the process exits.',
    cure: 'Kubernetes restarts the pod. If it happens often, look at CPU throttling and at the latency of the API server, or set a longer `leaseDuration`.',
  },
  KW_LISTEN: {
    cause: 'Another process uses the port, or the process may not open it (EADDRINUSE, EACCES).',
    cure: 'Stop the other process or change the port: `--health-probe-bind-address=:8082`, `--webhook-port=9444`, `--metrics-bind-address=…`.',
    messages: [
      'Cannot serve … as that address is already in use',
      'EADDRINUSE: address already in use',
      'EACCES: permission denied',
    ],
  },
  KW_MANAGER_STARTED: {
    cause: '`start` was called twice on one manager.',
    cure: 'Create a new manager for each run.',
  },
  KW_MANAGER_STOPPED: {
    cause: 'Code adds a controller or another part while the manager stops.',
    cure: 'Stop adding parts when the signal of the manager aborts.',
  },
  KW_NOT_LEADER: {
    cause: 'This replica could not renew its Lease, or never held it. The write was not sent.',
    cure: 'Nothing, if it is rare: the leader repeats the work. Otherwise see KW_LEADERSHIP_LOST.',
  },
  KW_NOT_OUR_CHILD: {
    cause: 'An object with the name of the child exists. Another controller owns it, or a user created it.',
    cure: "Delete the object, choose another name for the child, or set `adopt: 'orphans'` to adopt objects without a controller.",
    messages: [
      "Cannot apply … as a child of …: it exists and has no controller: delete it, choose another name, or adopt it with adopt: 'orphans'",
      'Cannot apply … as a child of …: it is controlled by … …: choose another name',
      'ErrResourceExists',
    ],
  },
  KW_NO_STATUS: {
    cause: '`reconcile` returns a status, but the kind is defined without one, so its CRD has no status subresource.',
    cure: 'Add `status: s.object({ … })` to `defineResource`, then run `npx kubewright generate` and install the CRD.',
  },
  KW_PART_FAILED: {
    cause: 'A controller, server or runnable threw. The message has its name, and `cause` has its error.',
    cure: 'Look up the error that follows “failed:”.',
    messages: ['… failed: …'],
  },
  KW_RECONCILE: {
    cause: 'The reconciler threw a `ReconcileError`, to write a status and to be retried.',
    cure: 'The message and the status say what is wrong. [Status and errors](../guides/status-and-errors.md) describes the back-off.',
  },
  KW_RETRY_LATER: {
    cause: 'The reconciler threw a `RetryLater`. This is no failure.',
    cure: 'Nothing: the controller reconciles the object again after the delay.',
  },
  KW_SOURCE_FAILED: {
    cause: 'A source of the controller threw, or its first list failed.',
    cure: 'Look up the error at the end of the message.',
  },
  KW_STOP_TIMEOUT: {
    cause: 'A reconcile or a runnable ignores its `signal` and still runs when the manager wants to end.',
    cure: 'Pass `signal` to every call that waits, or raise `gracefulTimeout`.',
  },
  KW_TERMINAL: {
    cause: 'The reconciler threw a `TerminalError`: the object is wrong, and a retry cannot help.',
    cure: 'Correct the object. The message is in its condition and in an Event. The next change of the object starts a reconcile.',
  },
  KW_WEBHOOK_REGISTRATION: {
    cause: 'An operator outside the cluster registers its webhooks at start and lacks the permission to do so.',
    cure: 'Use credentials that may write webhook configurations, or install the webhooks with `npx kubewright deploy`.',
  },
  KW_STORAGE_CLOSED: {
    cause: 'Code uses a store after `close`.',
    cure: 'Close the store after the server that uses it.',
  },
  KW_STORAGE_COMPACTED: {
    cause: 'A read or a watch asks for a revision that compaction has removed.',
    cure: 'List again and watch from the new revision. Clients of Kubernetes do so by themselves when they get 410 Gone.',
  },
  KW_STORAGE_CORRUPT: {
    cause: 'A file of the store was damaged, deleted or does not belong to it.',
    cure: 'Run `npx kubewright check FOLDER`, then restore a backup: [operating the store](../guides/operating-the-store.md).',
  },
  KW_STORAGE_FOLDER: {
    cause: 'The folder does not exist, is not empty, or the user may not write to it.',
    cure: 'Choose another folder with `--data`, or correct its owner and permissions.',
  },
  KW_STORAGE_FORMAT: {
    cause: 'A newer version of Kubewright wrote the folder or the backup.',
    cure: 'Use that version or a newer one. Downgrades need a backup from before the upgrade.',
  },
  KW_STORAGE_FUTURE: {
    cause: 'A client asks for a revision of another store, for example after a restore of an older backup.',
    cure: 'Restart the client, so that it lists again.',
  },
  KW_STORAGE_LOCKED: {
    cause: 'Another `kubewright up` or `dev` uses the data folder.',
    cure: 'Stop that process; the message names it. Or choose another folder with `--data`.',
  },
  KW_STORAGE_UNAVAILABLE: {
    cause: 'etcd cannot be reached, has no quorum, or rejects the credentials. Nothing was written.',
    cure: 'Check `etcdctl endpoint health` with the same certificates. The server continues when etcd is back.',
  },
  KW_STORAGE_UNCERTAIN: {
    cause: 'The connection to etcd or the disk failed during a write, so its result is unknown.',
    cure: 'With a folder, all further writes fail: repair the disk and restart `up`. Read the object before you repeat the write. Controllers do so by themselves.',
  },
  KW_STORAGE_WRITE: {
    cause:
      'The disk is full, etcd has reached its quota (`NOSPACE`), or the lock file was deleted. Nothing was written.',
    cure: 'Free space, or compact and defragment etcd. If the lock file was deleted, restart `up`. Reads continue to work meanwhile.',
    messages: ['ENOSPC: no space left on device', 'etcdserver: mvcc: database space exceeded'],
  },
  KW_CONTROLLER_UNKNOWN: {
    cause: '`--controllers`, or the option `controllers`, contains a name that does not exist.',
    cure: 'Use a name of the list in the message; `*` stands for all of them and `-name` disables one.',
  },
  KW_CONSOLE_PAGE: {
    cause: 'The page of the console was not built. This happens only in a checkout of Kubewright.',
    cure: 'Run `npm run build`.',
  },
  KW_CONSOLE_RECORDING: {
    cause: 'The file is not a recording, is cut off, or a newer version wrote it.',
    cure: 'Export the recording again.',
  },
  KW_SIMULATION: {
    cause:
      'The operator violated a property: the message contains the story of the shortest failing run that was found.',
    cure: 'The first line names the difference, the second the check, which the option `without` turns off. Read on from the first `Fault:`, and replay it with the ID in the last line: [simulating](../guides/simulating.md#read-a-failure) names usual causes.',
    messages: [
      'The end state depends on the fault: Service default/nginx-app is missing',
      'The end state depends on the history of the objects: …',
      'Reconciles still fail 15 minutes after the last fault: …',
      'The operator sent more than 3000 requests',
    ],
  },
  KW_SIMULATION_NONDETERMINISTIC: {
    cause:
      'The operator uses files, sockets, worker threads or state of the process, so two runs of one schedule differ.',
    cure: 'Pass such state as `world`, and create it in each run: [simulating](../guides/simulating.md).',
    messages: [
      "Cannot simulate the operator: two runs of the same schedule differ, because it uses files, sockets, worker threads or state of the process; pass such state as 'world'",
    ],
  },
  KW_SIMULATION_REPLAY: {
    cause: 'The ID was not copied completely.',
    cure: 'Copy the ID that the failed simulation printed.',
  },
  KW_SIMULATION_SAMPLES: {
    cause:
      'None of the samples has a kind and version that the operator controls, and none could be generated; or the server refused an object of another kind among the samples, for example because its namespace does not exist.',
    cure: 'Add a file to `config/samples`, or pass `samples` to `simulate`.',
  },
  KW_TEST_CLUSTER: {
    cause: '`KUBEWRIGHT_TEST_CLUSTER` names a context or file that does not exist, or a cluster that does not respond.',
    cure: 'Set the variable to a context of the kubeconfig or to a kubeconfig file, or unset it to use the embedded control plane.',
  },
  KW_TEST_HOT_LOOP: {
    cause:
      'In virtual time, a controller sent the same write thousands of times without time passing. It causes its own next reconcile.',
    cure: 'Write only values that have changed, and ignore changes of your own with a predicate: [hot loops](../guides/debugging.md#hot-loops).',
  },
  KW_TEST_MISSING_RIGHT: {
    cause: 'The operator sent a request that the roles generated from its code do not allow.',
    cure: "Add the rule of the message to `rbac` of the controller or webhook. `rights: 'all'` disables the check for one test environment.",
  },
  KW_TEST_NOT_SETTLED: {
    cause: 'Controllers still had work at the timeout. A controller with a short `requeueAfter` never settles.',
    cure: 'Use `until` with the state you expect. For objects that keep changing, see hot loops.',
  },
  KW_TEST_ON_CLUSTER: {
    cause:
      'The test uses virtual time or another feature of the embedded control plane, and `KUBEWRIGHT_TEST_CLUSTER` is set.',
    cure: 'Skip the test when the variable is set, or split it.',
  },
  KW_TEST_OPERATOR_ENDED: {
    cause: 'The operator under test threw or was stopped, so the state can no longer be reached.',
    cure: 'Look up the error at the end of the message.',
  },
  KW_TEST_REAL_TIME: {
    cause: '`advance` was called in an environment that runs in real time.',
    cure: "Start it with `startTestEnv({ time: 'virtual' })`.",
  },
  KW_TEST_TIMEOUT: {
    cause: 'The expected state was not reached. The message contains the object, its Events and its last reconciles.',
    cure: 'Read the last reconcile first: if there is none, the controller does not watch the object that should trigger it. Then check the condition that you pass to `until`.',
  },
}
