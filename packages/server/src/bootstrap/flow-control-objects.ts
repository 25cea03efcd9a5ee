import { formatRFC3339, instantFromMillis } from '@kubewright/base'
import type { MutableObject } from '../resource/object.ts'

const apiVersion = 'flowcontrol.apiserver.k8s.io/v1'
const annotations = { 'apf.kubernetes.io/autoupdate-spec': 'true' }

/**
 * A priority level in short form: shares, lendable percent, and queues with hand size. Without queues it rejects; without shares it
 * is exempt.
 */
type Level = readonly [name: string, shares: number, lendable: number, queues?: number, handSize?: number]

const levels: readonly Level[] = [
  ['catch-all', 5, 0],
  ['exempt', 0, 0],
  ['global-default', 20, 50, 128, 6],
  ['leader-election', 10, 0, 16, 4],
  ['node-high', 40, 25, 64, 6],
  ['system', 30, 33, 64, 6],
  ['workload-high', 40, 50, 128, 6],
  ['workload-low', 100, 90, 128, 6],
]

/** A flow schema in short form. Subjects are `Group name`, `User name` or `ServiceAccount namespace name`. */
interface Schema {
  readonly name: string
  readonly level: string
  readonly precedence: number
  readonly by?: 'ByUser' | 'ByNamespace' | undefined
  readonly subjects: readonly string[]
  /** `verbs groups resources scope`. Lists are separated by commas; `core` stands for the core group. @default all */
  readonly resources?: readonly string[] | undefined
  /** Verbs and paths; lists are separated by commas, the empty string means none. @default all */
  readonly paths?: string | undefined
}

const everyone = ['Group system:unauthenticated', 'Group system:authenticated']
const schemas: readonly Schema[] = [
  { name: 'catch-all', level: 'catch-all', precedence: 10_000, by: 'ByUser', subjects: everyone },
  { name: 'exempt', level: 'exempt', precedence: 1, subjects: ['Group system:masters'] },
  { name: 'global-default', level: 'global-default', precedence: 9900, by: 'ByUser', subjects: everyone },
  {
    name: 'kube-controller-manager',
    level: 'workload-high',
    precedence: 800,
    by: 'ByNamespace',
    subjects: ['User system:kube-controller-manager'],
  },
  {
    name: 'kube-scheduler',
    level: 'workload-high',
    precedence: 800,
    by: 'ByNamespace',
    subjects: ['User system:kube-scheduler'],
  },
  {
    name: 'kube-system-service-accounts',
    level: 'workload-high',
    precedence: 900,
    by: 'ByNamespace',
    subjects: ['ServiceAccount kube-system *'],
  },
  {
    name: 'probes',
    level: 'exempt',
    precedence: 2,
    subjects: everyone,
    resources: [],
    paths: 'get /healthz,/readyz,/livez',
  },
  {
    name: 'service-accounts',
    level: 'workload-low',
    precedence: 9000,
    by: 'ByUser',
    subjects: ['Group system:serviceaccounts'],
  },
  {
    name: 'system-leader-election',
    level: 'leader-election',
    precedence: 100,
    by: 'ByUser',
    subjects: ['User system:kube-controller-manager', 'User system:kube-scheduler', 'ServiceAccount kube-system *'],
    resources: ['get,create,update coordination.k8s.io leases namespaces'],
    paths: '',
  },
  {
    name: 'system-node-high',
    level: 'node-high',
    precedence: 400,
    by: 'ByUser',
    subjects: ['Group system:nodes'],
    resources: ['* core nodes,nodes/status all', '* coordination.k8s.io leases namespaces'],
    paths: '',
  },
  { name: 'system-nodes', level: 'system', precedence: 500, by: 'ByUser', subjects: ['Group system:nodes'] },
]

/** The priority levels of every cluster. */
export function priorityLevelObjects(): MutableObject[] {
  return levels.map(([name, shares, lendable, queues, handSize]) => {
    const share = { nominalConcurrencyShares: shares, lendablePercent: lendable }
    const limitResponse =
      queues === undefined ? { type: 'Reject' } : { type: 'Queue', queuing: { queues, handSize, queueLengthLimit: 50 } }
    const spec =
      name === 'exempt' ? { type: 'Exempt', exempt: share } : { type: 'Limited', limited: { ...share, limitResponse } }
    return { apiVersion, kind: 'PriorityLevelConfiguration', metadata: { name, annotations }, spec }
  })
}

/** The flow schemas of every cluster; their status says that their priority levels exist. */
export function flowSchemaObjects(now: number): MutableObject[] {
  const lastTransitionTime = formatRFC3339(instantFromMillis(now))
  return schemas.map(({ name, level, precedence, by, ...rule }) => {
    const message = `This FlowSchema references the PriorityLevelConfiguration object named "${level}" and it exists`
    const found = { type: 'Dangling', status: 'False', lastTransitionTime, reason: 'Found', message }
    return {
      apiVersion,
      kind: 'FlowSchema',
      metadata: { name, annotations },
      spec: {
        priorityLevelConfiguration: { name: level },
        matchingPrecedence: precedence,
        ...(by ? { distinguisherMethod: { type: by } } : {}),
        rules: [policyRule(rule)],
      },
      status: { conditions: [found] },
    }
  })
}

function policyRule({
  subjects,
  resources = ['* * * all'],
  paths = '* *',
}: Pick<Schema, 'subjects' | 'resources' | 'paths'>): unknown {
  const [verbs, urls] = paths.split(' ').map((list) => list.split(','))
  return {
    subjects: subjects.map(subject),
    ...(resources.length > 0 ? { resourceRules: resources.map(resourceRule) } : {}),
    ...(paths === '' ? {} : { nonResourceRules: [{ verbs, nonResourceURLs: urls }] }),
  }
}

function subject(text: string): unknown {
  const [kind, first = '', second = ''] = text.split(' ')
  if (kind === 'ServiceAccount') return { kind, serviceAccount: { namespace: first, name: second } }
  return kind === 'User' ? { kind, user: { name: first } } : { kind, group: { name: first } }
}

function resourceRule(text: string): unknown {
  const [verbs = [], groups = [], resources = [], scope = []] = text.split(' ').map((list) => list.split(','))
  return {
    verbs,
    apiGroups: groups.map((group) => (group === 'core' ? '' : group)),
    resources,
    ...(scope[0] === 'all' ? { clusterScope: true } : {}),
    namespaces: ['*'],
  }
}
