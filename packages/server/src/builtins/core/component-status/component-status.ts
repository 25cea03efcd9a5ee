import type { ComponentStatus } from '@kubewright/k8s'
import { systemOutgoing } from '../../../outgoing/outgoing.ts'
import type { MutableObject } from '../../../resource/object.ts'
import type { ComputedObjects } from '../../../resource/resource.ts'
import { defineTable, type Loose, nameColumn, textColumn } from '../../../table/columns.ts'
import { type BuiltinDefinition, type BuiltinServer, defineBuiltin } from '../../define-builtin.ts'
import { type ComponentCheck, probe } from './component-checks.ts'

/** ComponentStatuses: a deprecated view of the control plane. Every read asks the components (pkg/registry/core/componentstatus). */
export const componentStatuses: BuiltinDefinition = defineBuiltin({
  group: '',
  resource: 'componentstatuses',
  deprecation: 'v1 ComponentStatus is deprecated in v1.19+',
  withServer: (server) => ({ computed: statusesOf(server) }),
  table: defineTable<ComponentStatus>([
    nameColumn,
    textColumn('Status', 'Whether the component is healthy.', statusText),
    textColumn('Message', 'Message of the health check.', (object) => healthOf(object)?.message ?? ''),
    textColumn('Error', 'Error of the health check.', (object) => healthOf(object)?.error ?? ''),
  ]),
})

function statusesOf({ components, registry, resources, clock }: BuiltinServer): ComputedObjects {
  const release = resources.release.facts.version
  const checks: Readonly<Record<string, ComponentCheck>> = {
    'controller-manager': components?.('controller-manager') ?? probe(systemOutgoing, clock, release, 10257),
    scheduler: components?.('scheduler') ?? probe(systemOutgoing, clock, release, 10259),
    // Scripts expect this name, whatever the storage backend is.
    'etcd-0': async () => {
      await registry.store.revision()
      return 'ok'
    },
  }
  return {
    list: () => Promise.all(Object.entries(checks).map(([name, check]) => statusOf(name, check))),
    get: async (name) => (Object.hasOwn(checks, name) ? statusOf(name, checks[name]!) : undefined),
  }
}

async function statusOf(name: string, check: ComponentCheck): Promise<MutableObject> {
  const condition = await check().then(
    (message) => ({ type: 'Healthy', status: 'True', message }),
    // As in kube-apiserver: a component that does not respond has a message and no error.
    (error: unknown) => ({ type: 'Healthy', status: 'False', message: (error as Error).message }),
  )
  return { kind: 'ComponentStatus', apiVersion: 'v1', metadata: { name }, conditions: [condition] }
}

type Condition = NonNullable<Loose<ComponentStatus>['conditions']>[number]

function healthOf({ conditions }: Loose<ComponentStatus>): Condition | undefined {
  return conditions?.find(({ type }) => type === 'Healthy')
}

function statusText(object: Loose<ComponentStatus>): string {
  const health = healthOf(object)
  return health ? (health.status === 'True' ? 'Healthy' : 'Unhealthy') : 'Unknown'
}
