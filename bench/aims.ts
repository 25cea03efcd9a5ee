// The targets of the project. RESULTS.md lists them with the figures of the recorded suites.
import type { Aim } from './report/aims.ts'

const client = { suite: 'client', column: 'kubewright' } as const
const controlPlane = { suite: 'controlplane' } as const
const server = { suite: 'server', column: 'CPU' } as const
const size = { suite: 'size', column: 'result' } as const
const start = { suite: 'start', column: 'CPU', unit: 'ms' } as const

const fanOutNote =
  'A write to a TLS socket takes 13 µs in Node, half of it in the kernel and 1 µs for encryption, which is more than the limit for one event per write: only events that share a write can meet it. Since commit a75336ef, events wait for up to 100 ms under load: 0.20 to 0.21 writes per event. With 100 watchers, about half of the samples are the update itself, of which each event pays a hundredth: 4 µs of 8. Before commit 109a7ebb, both servers were measured after 300 updates, when V8 had not optimized the code: 3.5 and 3.1 times. It would take cheaper updates, encryption in the kernel, which Node does not offer, and watchers that read events only when their connection sends them.'
const wakeNote =
  'With 10 clients the limit is met. With one, the process sleeps between requests: the same work costs up to twice as much, probably because of wake-ups with cold caches. On a machine that is busy with other work, and therefore never sleeps, a get of one client takes 0.094 to 0.102 ms.'
const getNote = `${wakeNote} Commit c689aa2b reduced the promises of a get from 72 to 16, which took 4 to 7 % of the CPU, compared in turns on a busy machine. A get has one read, one write and 1.3 calls of epoll. The exchange of the same bytes over a bare TLS socket takes 22 µs. A fifth of the samples is the handler (authentication, permissions, flow control, metrics, the object), an eighth the wait for the next request, a seventh the write; the rest is spread over TLS, the streams of Node, the HPACK decoder and the response headers.`
const createNote = `${wakeNote} Each write also waits for a sync of its own, which concurrent clients share: it takes about 0.08 ms, and the caches of the processor are cold after it. The suite measures after 15,000 creates (3,000 before commit 109a7ebb, when a sixth of the CPU was V8 compiling): 0.50 to 0.39 ms together with the commits 86f07887 to 7df22f43, which copy and check less. A create has 40 promises instead of 224 since commit d1c0fe99, which saved 6 %. The profile is flat: kernel and sockets 25 %, garbage 5 %, JSON and managed fields 4 % each. Since commit ecadf1b8, the blocks of the log exist before they are written: 0.11 to 0.08 ms for the store’s part of a create. The peer became cheaper by a sixth between the two runs too. It would take a sync without a wake-up of its own, and half of the work.`
const listNote =
  'Since commit 0d7ab3a5, a list is encoded once until its resource changes: 39 to 25 ms, compared in turns on a busy machine. Since commit 13b89cb0, a write of frames needs no memory of its own: 16 to 12 ms.'

export const aims: readonly Aim[] = [
  // Watch fan-out
  {
    ...server,
    title: 'watch event to one of 100 watchers, compared with kube-apiserver',
    row: 'watch event to one of 100 watchers, HTTP/2, memory',
    column: 'factor',
    unit: '×',
    atLeast: 5,
    missing: fanOutNote,
  },
  {
    ...server,
    title: 'watch event to one of 1,000 watchers, compared with kube-apiserver',
    row: 'watch event to one of 1,000 watchers, HTTP/2, memory',
    column: 'factor',
    unit: '×',
    atLeast: 5,
    missing: fanOutNote,
  },
  {
    ...server,
    title: 'memory of an idle watch of a client with 100 watches',
    row: 'idle watch, one of 2,000, HTTP/2, 100 per connection',
    unit: 'KiB',
    atMost: 20,
    missing:
      'It would take fewer async functions and closures on the way of a watch. A watch with a TLS connection of its own takes 25 to 35 KiB more.',
  },
  // Requests
  { ...server, title: 'get, 1 client over TLS, CPU', row: 'get, 1 client', unit: 'ms', atMost: 0.1, missing: getNote },
  {
    ...server,
    title: 'create, 1 client over TLS, CPU',
    row: 'create, 1 client',
    unit: 'ms',
    atMost: 0.4,
    missing: createNote,
  },
  {
    ...server,
    title: 'list of 10,000, CPU',
    row: 'list of 10,000 objects, memory',
    unit: 'ms',
    atMost: 25,
    missing: listNote,
  },
  ...[
    ['get, 1 client', getNote],
    ['create, 1 client', createNote],
    ['list of 10,000 objects, memory', listNote],
  ].map(([row = '', note]) => ({
    ...server,
    title: `${row.replace(', memory', '')}, compared with kube-apiserver`,
    row,
    column: 'factor',
    unit: '×',
    atLeast: 8,
    missing: `${note} The peer varies by a third between runs.`,
  })),
  {
    suite: 'machinery',
    title: 'validation of a custom resource, compared with ajv',
    row: 'validate a custom resource',
    column: 'factor',
    unit: '×',
    atLeast: 1,
    missing:
      'ajv generates JavaScript for each schema. Generated code saved 1.6 µs of a create that takes 72 µs, so it was removed (ADR 24).',
  },
  // Size
  {
    ...size,
    title: '5,000 nodes and 150,000 pods, memory',
    row: '5,000 nodes and 150,000 pods, memory',
    unit: 'MiB',
    atMost: 3072,
    missing:
      'A pod takes 4 KB in the store, 3.4 KB in the cache of the controllers, and 4 to 5 KB in indexes and in the state of the scheduler, the nodes and the garbage collector. 50,000 old versions add 150 MB. About 2.1 GiB are in use after a collection; the rest is garbage that V8 has not collected, and fragmentation. To meet the target, the store and the controllers must share one copy of the bytes.',
  },
  {
    ...size,
    title: 'pods created until Running',
    row: 'pods created until Running, per second',
    unit: '/s',
    atLeast: 1000,
    missing:
      'A pod needs three writes (create, binding, status) and a third of a write of its owners. By allocation, JSON.stringify takes 12 %, managed fields 11 %, the parsing of requests and responses 8 %, the simulated nodes 8 %, and handlers, the informer of pods and validation 7 % each; no other part takes more. The cost grows from 2.1 ms of CPU with 25,000 pods to 3.3 with 130,000, because each collection of garbage visits the whole heap; commit f78b2b2d, which put the values of large stores into shared buffers, lowered the average from 4.1 to 3.0 ms on a quiet machine. To meet the target, requests inside the process must pass objects instead of text, the server and the informers must share one parsed object, and the controllers need a thread of their own.',
  },
  // A client lists and watches from there on, or starts with a watch that sends the existing objects first.
  ...['list of 150,000 pods', 'watch start with 150,000 pods'].map((row) => ({
    ...size,
    title: row,
    row,
    unit: 's',
    atMost: 2,
    missing:
      '600 MB are copied for each. It would take stored bytes that contain the resource version, so that they are sent without a copy.',
  })),
  {
    ...size,
    title: 'heartbeats of 5,000 nodes, share of one core',
    row: 'heartbeats of 5,000 nodes, share of one core',
    unit: '%',
    atMost: 10,
    missing:
      '5,000 nodes send 167 updates of Leases per second, each 0.5 to 0.6 ms of CPU with everything else that an idle control plane does. Without pods, that is 7 to 9 % of a core; with 150,000 pods it is twice as much, because each collection of garbage visits all of them. In 30 seconds, one run had a collection and 17 %, another none and 6 %; since then the suite measures five minutes. Of the samples, a quarter is garbage collection, a quarter the write path of the server, an eighth requests inside the process, and a tenth the list of all Leases every ten seconds. To meet the target, the history must keep fewer objects per version.',
  },
  {
    ...size,
    title: '1,000,000 ConfigMaps, durable: restart to ready',
    row: '1,000,000 ConfigMaps, durable: restart to ready',
    unit: 's',
    atMost: 10,
  },
  {
    ...size,
    title: 'custom resource definitions served by one process',
    row: 'CRDs that are served by one process',
    unit: '',
    atLeast: 10_000,
  },
  {
    ...size,
    title: 'deletion of a namespace with 10,000 objects',
    row: 'deletion of a namespace with 10,000 objects',
    unit: 's',
    atMost: 5,
  },
  // Start
  { ...start, title: '`up` to ready in memory, CPU', row: 'start to ready, memory', atMost: 200 },
  { ...start, title: '`up` to ready, durable, CPU', row: 'start to ready, durable', atMost: 230 },
  {
    ...controlPlane,
    title: 'first test environment of a process',
    row: 'test environment, first of a process',
    column: 'elapsed',
    unit: 'ms',
    atMost: 150,
    missing:
      'Almost all of it is code that runs for the first time: of the samples of such a process, a third is V8 compiling functions, an eighth V8 optimizing them in other threads, an eighth the first execution of property accesses. With the compile cache of Node 24 it took 332 to 334 ms of CPU instead of 331 to 372 on a busy machine, so that a cache helps little. Monitors and keys that are created when they are needed saved 6 %, compared in turns on a busy machine. Half of the time is the control plane with 34 controllers, a fifth the installation of the custom resource definition. It would take less code that runs at the start.',
  },
  {
    ...controlPlane,
    title: 'later test environments of a process',
    row: 'test environment, later ones',
    column: 'elapsed',
    unit: 'ms',
    atMost: 40,
    missing:
      'Half of it is the control plane, of which the server takes a fifth (5 ms) and the controllers the rest; a quarter is the installation of the custom resource definition, at the same time as the first objects of the controllers. The garbage collector creates informers with the first object of a resource, and the key of tokens is generated when it is needed: a tenth less CPU, compared in turns on a busy machine. The profile is flat: garbage collection 12 %, modules of Node 12 % (half of it abort signals, 340 of them), 60 requests. It would take informers and controllers that create neither promises nor signals before their first object, and an environment that starts from a snapshot of a running one.',
  },
  {
    ...controlPlane,
    title: '50 test environments at once, peak memory',
    row: '50 test environments at once, each in use',
    column: 'peak memory',
    unit: 'MiB',
    atMost: 400,
    missing:
      'Monitors that the garbage collector creates with the first object of a resource reduced it from 479 to 462 MiB, and starts of two at a time (commit 3f961f60) from 426 to 395. An environment keeps more than 4 MiB alive: 0.75 in buffers, the rest in small objects without a dominant kind. The peak is more than twice the sum, because V8 lets the old generation of a small heap grow to four times its size before it collects it, and concurrent starts promote their garbage. It would take fewer objects that survive the start, mostly the promises, closures and abort signals of idle controllers.',
  },
  // Operators
  {
    ...client,
    title: 'watch event whose handler reads the new object, CPU',
    row: 'watch event, handler reads the spec of the new object, like the peers, CPU',
    unit: 'µs',
    atMost: 12,
    missing:
      'The event of a handler that reads the key only takes two thirds of this: reading and finding the object in the bytes (a third of it), V8 compiling the code (a quarter, spread over 100,000 events), copies of the old and the new contents, promises per chunk. The spec that the handler reads takes another 3 µs to parse and freeze. Garbage collection fell from a quarter to a tenth: nearly everything that an event allocated was promoted, because of maps whose outgrown tables refer to the next one, of old objects that referred to new copies, and of literals that V8 allocated in the old generation. It would take a search for the ends of values that is faster than JavaScript, and a stream without promises per chunk.',
  },
  {
    ...client,
    title: 'watch event whose handler reads both objects, CPU',
    row: 'watch event, handler reads the specs of both objects, CPU',
    unit: 'µs',
    atMost: 20,
    missing: 'The causes are those of the row above, with the spec of the old object.',
  },
  {
    ...client,
    title: '10,000 objects with 100,000 events, peak memory',
    row: 'peak memory with the events, handler reads the spec of the new object',
    unit: 'MiB',
    atMost: 100,
    missing:
      'The live heap has 9 to 18 MiB, the bytes of the objects 15, Node and the code 56. The rest is the young generation, which V8 enlarges to two times 16 MiB because the objects of the initial list survive, and parsed objects that were cached and replaced, which V8 does not collect before the heap has doubled. With `--max-semi-space-size=2`, the heap of a handler that reads the key only stays at 22 MiB. A library must not set such flags (ADR 26).',
  },
  {
    suite: 'runtime',
    column: 'kubewright',
    title: '1,000 custom resources end to end, peak memory',
    row: 'peak memory, 10 workers',
    unit: 'MiB',
    atMost: 80,
    missing:
      'Since commit 0eeddfb4, `run` makes V8 collect garbage early, which reduced it from 134 to 88 MiB, compared in turns. Less loaded code, in one file of `kubewright build`: 87 to 82 MiB, compared in turns. A program of ten lines with a watch over HTTP/2 and TLS needs 46 MiB on Node 20; the flags `--optimize-for-size --max-semi-space-size=2` gain no more.',
  },
  {
    suite: 'runtime',
    column: 'kubewright',
    title: 'idle operator, memory',
    row: 'idle after that, memory',
    unit: 'MiB',
    atMost: 50,
    missing:
      'A program of ten lines with one watch over HTTP/2 and TLS needs 46 MiB on Node 20 and 57 on Node 24: 39 MiB are pages of the Node executable, which other processes share. The heap has 16 MiB, of which 10 are in use after a collection, and that of an empty process has 4. Without code that is loaded and not used, it is 60.0 instead of 62.3 MiB, in one file of `kubewright build` 59.5, and names of one letter would save 0.4 more.',
  },
  {
    suite: 'import',
    column: 'CPU',
    title: 'import of the façade, CPU',
    row: 'kubewright',
    unit: 'ms',
    atMost: 50,
    missing:
      'It took 87 ms before function tables of CEL, HTTP/2, zlib and child processes were loaded on demand, and 70 before the modules of Node and the code that runs an operator were. Half of the rest is V8 parsing CEL, schemas and API machinery, 700 KB. The schema builder needs CEL to check defaults against rules, so CEL could only be loaded on demand if a module could be loaded synchronously.',
  },
  // Durability
  {
    suite: 'durability',
    column: 'result',
    title: 'longest computation of a snapshot between two writes',
    row: 'longest computation of a snapshot of 100000 keys between two writes',
    unit: 'ms',
    atMost: 5,
  },
]
