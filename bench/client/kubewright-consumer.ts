// The informer of Kubewright on its client. The variant selects what the handler reads: `changes` only the keys,
// `after` the spec of the new object, `objects` the specs of both objects. `dropped` is `changes` without managed
// fields.
import { nullLogger, systemClock, systemRandom } from '@kubewright/base'
import { createClient, dynamicKind, httpTransport } from '@kubewright/client'
import { clientListWatch, type EventHandler, SharedInformer } from '@kubewright/runtime'
import { type Consumer, report, taskOfArguments } from './consumer-report.ts'

const task = taskOfArguments()
const kind = dynamicKind({ group: 'example.com', version: 'v1', kind: 'WebSite', plural: 'websites' })
const client = createClient({ transport: httpTransport({ server: task.server, compression: false }), namespace: '' })

let seen = 0
let wanted = Number.POSITIVE_INFINITY
let finish = (): void => undefined
const count = (): void => {
  if (++seen === wanted) finish()
}
/** Whether the spec is complete. Objects are parsed member by member, so that a handler must read one to show a cost. */
const isComplete = (object: object | undefined): boolean =>
  (object as { readonly spec?: { readonly replicas: number } } | undefined)?.spec?.replicas === 4
const handlers = {
  objects: {
    onUpdate: (before: object, after: object) => {
      if (isComplete(before) && isComplete(after)) count()
    },
  },
  after: {
    onChange: ({ type, after }) => {
      if (type === 'update' && isComplete(after)) count()
    },
  },
  changes: {
    onChange: ({ type }) => {
      if (type === 'update') count()
    },
  },
} satisfies Record<string, EventHandler<never>>

const informer = new SharedInformer({
  source: clientListWatch(client, kind),
  resource: { group: 'example.com', version: 'v1', resource: 'websites' },
  clock: systemClock,
  random: systemRandom,
  log: nullLogger,
  dropManagedFields: task.variant === 'dropped',
})
const { variant } = task
informer.addHandler(handlers[variant === 'objects' || variant === 'after' ? variant : 'changes'])
const consumer: Consumer = {
  start: () => informer.start().synced(),
  read: (name, namespace) =>
    (informer.store.get(`${namespace}/${name}`) as { spec?: { replicas: number } } | undefined)?.spec?.replicas === 4,
  updates: (total) =>
    new Promise((resolve) => {
      wanted = total
      finish = resolve
    }),
}
await report(consumer, task)
