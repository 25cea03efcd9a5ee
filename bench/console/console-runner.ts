// The parts that the bench of the console measures, each in a process of its own. They answer messages of the parent with
// their CPU time and memory.
import { createLogger, systemClock } from '@kubewright/base'
import { connect } from '@kubewright/client'
import { debugAddress, startConsole } from '@kubewright/console'
import { ConfigMap } from '@kubewright/k8s'
import {
  ActivityTracer,
  createManager,
  debugHandler,
  defineController,
  defineOperator,
  noTracer,
  systemHttpListener,
  traceRequests,
} from '@kubewright/runtime'
import { buildPage } from '../../tools/build-page.ts'

const [role, kubeconfig, ...rest] = process.argv.slice(2)
const log = createLogger({ enabled: () => false, write: () => undefined })

const started: { readonly port: number; readonly createLink?: () => string } =
  role === 'console' ? await serve() : await operate()
process.on('message', (message) => {
  if (message === 'link') process.send?.({ link: started.createLink?.() })
  else {
    const { user, system } = process.cpuUsage()
    process.send?.({ cpuMillis: (user + system) / 1000, rssMiB: process.memoryUsage.rss() / 1048576 })
  }
})
process.send?.({ port: started.port })

async function serve() {
  const [recordFrom, operator] = rest
  return startConsole({
    client: await connect({ kubeconfig }),
    page: await buildPage(),
    log,
    recordFrom: recordFrom === 'start' ? 'start' : 'page',
    operators: operator === undefined ? [] : [debugAddress(`http://127.0.0.1:${operator}`)],
  })
}

/** An operator that reads one object in each reconcile; without a debug address and its tracer if it is `plain`. */
async function operate() {
  const isPlain = rest[0] === 'plain'
  const tracer = isPlain ? noTracer : new ActivityTracer(noTracer, systemClock)
  const around = isPlain ? undefined : traceRequests(tracer)
  const client = await connect({ kubeconfig, ...(around && { around }), listNamespace: '' })
  const controller = defineController(ConfigMap, {
    name: 'maps',
    reconcile: async (_, { client: cached }) => void (await cached.find(ConfigMap, 'map-0')),
  })
  const manager = createManager({
    operator: defineOperator({ name: 'bench', controllers: [controller] }),
    client,
    tracer,
  })
  void manager.start({ signal: new AbortController().signal })
  await manager.elected
  if (isPlain) return { port: 0 }
  const handler = debugHandler({ manager, clock: systemClock })
  return systemHttpListener.listen({ name: 'debug', host: '127.0.0.1', port: 0, handler, log })
}
