// The environment of the demo: a control plane that kubectl can connect to, and operators that run on it as they would
// in a pod.
import { writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { parseManifests } from '@kubewright/api'
import { AsyncDisposer, systemClock } from '@kubewright/base'
import type { ApiClient } from '@kubewright/client'
import { type ControlPlane, startControlPlane } from '@kubewright/controlplane'
import { CustomResourceDefinition } from '@kubewright/k8s'
import {
  ActivityTracer,
  createManager,
  definitionsOf,
  type Manager,
  needsWebhooks,
  noTracer,
  type Operator,
  traceRequests,
  webhookRunnable,
} from '@kubewright/runtime'
import { folderProblem, makeFolder } from '@kubewright/storage'

/** A control plane with operators. Disposing it stops everything. */
export interface Stage extends AsyncDisposable {
  readonly plane: ControlPlane
  readonly url: string
  readonly managers: readonly Manager[]
  /** The names of the installed CRDs. */
  readonly installed: readonly string[]
  /** Rejects when an operator fails permanently. */
  readonly failed: Promise<never>
  install(operator: Operator): Promise<void>
  start(operator: Operator): Promise<void>
}

/** Starts a control plane with two nodes, serves it on loopback and writes a kubeconfig for it. */
export async function openStage(kubeconfig: string): Promise<Stage> {
  const disposer = new AsyncDisposer()
  const plane = disposer.use(
    await startControlPlane({
      levers: true,
      // Slow enough to watch.
      nodes: { nodes: 2, plan: { default: { startDelay: '300ms', readyAfter: '200ms' } }, tellsStarts: true },
    }),
  )
  const address = await plane.listen()
  try {
    await makeFolder(dirname(kubeconfig))
    writeFileSync(kubeconfig, address.kubeconfig, { mode: 0o600 })
  } catch (error) {
    await disposer[Symbol.asyncDispose]()
    const problem = folderProblem(error)
    if (problem === undefined) throw error
    const fix = 'make it writable for this user, or run the demo in a writable copy of the repository'
    throw new Error(`Cannot write the kubeconfig to ${kubeconfig} as ${problem}: ${fix}`, { cause: error })
  }
  const managers: Manager[] = []
  const installed: string[] = []
  let fail: (error: unknown) => void = () => undefined
  const failed = new Promise<never>((_, reject) => {
    fail = reject
  })
  failed.catch(() => undefined)
  return {
    plane,
    url: address.url,
    managers,
    installed,
    failed,
    async install(operator) {
      const client = plane.client()
      for (const definition of definitionsOf(operator)) {
        await client.apply(definition as never, { force: true })
        const { name } = definition.metadata
        await established(client, name)
        installed.push(name)
      }
    },
    async start(operator) {
      // The console shows the requests of reconciles.
      const tracer = new ActivityTracer(noTracer, systemClock)
      const client = plane.client({ around: traceRequests(tracer) })
      const manager = createManager({ operator, client, tracer })
      if (needsWebhooks(operator)) {
        // Over HTTPS, as in a cluster.
        manager.add(
          webhookRunnable(operator, {
            client: plane.client(),
            url: 'https://127.0.0.1:0',
            host: '127.0.0.1',
            port: 0,
            tracer,
          }),
        )
      }
      const stop = new AbortController()
      const running = manager.start({ signal: stop.signal })
      running.catch(fail)
      disposer.defer(async () => {
        stop.abort()
        await running
      })
      managers.push(manager)
      await Promise.race([manager.elected, running])
    },
    [Symbol.asyncDispose]: () => disposer[Symbol.asyncDispose](),
  }
}

async function established(client: ApiClient, name: string): Promise<void> {
  const watch = await client.watch(CustomResourceDefinition, {
    fields: { 'metadata.name': name },
    sendInitialEvents: true,
    resourceVersionMatch: 'NotOlderThan',
    timeoutSeconds: 10,
  })
  for await (const event of watch) {
    if (event.type === 'BOOKMARK') continue
    const { conditions = [] } = event.object.status ?? {}
    if (conditions.some(({ type, status }) => type === 'Established' && status === 'True')) return
  }
  throw new Error(`${name} was not established`)
}

/** Applies the objects of a file like `kubectl apply -f`, and passes a line per object to `write`. */
export async function applyFile(client: ApiClient, text: string, write: (line: string) => void): Promise<void> {
  for (const object of parseManifests(text)) {
    const applied = await client.apply(object as never, { fieldManager: 'kubectl', force: true })
    const { kind, apiVersion, metadata } = applied as unknown as {
      kind: string
      apiVersion: string
      metadata: { name: string; generation?: number }
    }
    const group = apiVersion.includes('/') ? `.${apiVersion.split('/')[0]}` : ''
    write(`${kind.toLowerCase()}${group}/${metadata.name} applied`)
  }
}

interface Table {
  readonly columnDefinitions: readonly { readonly name: string; readonly priority: number }[]
  readonly rows: readonly { readonly cells: readonly unknown[] }[]
}

/** Returns the lines of `kubectl get`. The server renders the table. */
export async function tableOf(client: ApiClient, path: string): Promise<string[]> {
  const accept = 'application/json;as=Table;v=v1;g=meta.k8s.io'
  const table = (await client.rest.json({ method: 'GET', path, accept })) as Table
  const shown = table.columnDefinitions.flatMap(({ priority }, index) => (priority === 0 ? [index] : []))
  const cells = [
    shown.map((index) => table.columnDefinitions[index]!.name.toUpperCase()),
    ...table.rows.map((row) => shown.map((index) => (row.cells[index] === null ? '' : String(row.cells[index])))),
  ]
  const widths = shown.map((_, index) => Math.max(...cells.map((line) => line[index]!.length)))
  const padded = (line: string[]): string => line.map((cell, index) => cell.padEnd(widths[index]! + 3)).join('')
  return cells.map((line) => padded(line).trimEnd())
}
