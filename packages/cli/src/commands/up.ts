import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { AsyncDisposer, formatDuration } from '@kubewright/base'
import {
  adminUser,
  assembleServer,
  createFrontProxyIdentity,
  createServerIdentity,
  listen,
  startClusterRoleAggregation,
  startPolicyTypeChecking,
} from '@kubewright/server'
import type { Store } from '@kubewright/storage'
import type { Command, CommandContext } from '../command.ts'
import { identityIn } from '../up/identity-folder.ts'
import { kubeconfigFor } from '../up/kubeconfig.ts'
import { lineLogger } from '../up/log-lines.ts'
import { describeBackend, identityFolderOf, openBackend } from '../up/open-backend.ts'
import { writePrivateFile } from '../up/private-file.ts'
import { parseUpOptions, type UpOptions, upHelp } from '../up/up-options.ts'
import { UsageError } from '../usage-error.ts'

/** Serves a Kubernetes API until the signal aborts. */
export const upCommand: Command = {
  name: 'up',
  summary: 'Start a Kubernetes API server on this machine, in the foreground',
  help: upHelp,
  run: (args, context) => up(parseUpOptions(args), context),
}

async function up(options: UpOptions, context: CommandContext): Promise<number> {
  const { clock, signal, out, note } = context
  const log = lineLogger(note, options.verbose)
  const disposer = new AsyncDisposer()
  try {
    const clientCa = options.clientCa === undefined ? undefined : await certificateIn(options.clientCa)
    // The store first: its lock also keeps two servers from making keys in one folder.
    const store = disposer.use(await openBackend(options.backend, context))
    const folder = identityFolderOf(options.backend)
    const identity = folder === undefined ? createServerIdentity(clock.now()) : await identityIn(folder, clock.now())
    const clientCas = [identity.ca.cert, ...(clientCa === undefined ? [] : [clientCa])]
    let port = options.port
    const server = disposer.use(
      await assembleServer({
        store,
        clock,
        log,
        builtins: {
          port: options.port,
          clientCa: clientCas.join('\n'),
          frontProxy: createFrontProxyIdentity(clock.now(), identity.frontProxyCa),
        },
        access: {
          serviceAccounts: { keys: [identity.serviceAccountKey] },
          externalAddress: () => `127.0.0.1:${port}`,
          tokens:
            options.token === undefined
              ? []
              : [{ token: options.token, user: { name: adminUser, groups: ['system:masters'] } }],
        },
      }),
    )
    for (const { name, start } of controllers) if (wants(options, name)) disposer.use(await start(server.parts))
    let requests = 0
    const listener = disposer.use(
      await listen({
        handler: (request) => {
          requests++
          return server.handler(request)
        },
        cert: identity.serving.cert,
        key: identity.serving.key,
        clientCas,
        port,
      }),
    )
    port = listener.port
    const address = `https://127.0.0.1:${port}`
    const kubeconfig = resolve(options.kubeconfig)
    await writePrivateFile(
      kubeconfig,
      kubeconfigFor({ server: address, ca: identity.ca.cert, client: identity.admin, user: adminUser }),
    )
    out(`ready ${address} kubeconfig=${kubeconfig} in ${Math.round(clock.monotonic() - context.startedAt)} ms`)
    for (const line of hints(options, kubeconfig)) note(line)
    await aborted(signal)
    const objects = await objectsIn(store)
    await disposer[Symbol.asyncDispose]()
    const lived = formatDuration(Math.round((clock.monotonic() - context.startedAt) / 1000) * 1000)
    note(`Stopped after ${lived}: ${plural(requests, 'request')} answered, ${kept(options, objects)}`)
    return 0
  } catch (error) {
    await disposer[Symbol.asyncDispose]()
    throw error
  }
}

/** The controllers that come with the server itself, under the names that kube-controller-manager gives them. */
const controllers = [
  { name: 'clusterrole-aggregation-controller', start: startClusterRoleAggregation },
  { name: 'validatingadmissionpolicy-status-controller', start: startPolicyTypeChecking },
]

function wants({ controllers }: UpOptions, name: string): boolean {
  return controllers === 'all' || (controllers !== 'none' && controllers.includes(name))
}

/** What is served and how to use it. */
function hints(options: UpOptions, kubeconfig: string): string[] {
  const lines = [
    `Kubernetes v1.35 API, objects in ${describeBackend(options.backend)}`,
    `  export KUBECONFIG=${kubeconfig}`,
    '  kubectl get namespaces',
  ]
  const running = controllers.filter(({ name }) => wants(options, name)).map(({ name }) => name)
  if (running.length > 0) lines.push(`Controllers: ${running.join(', ')}; this version has no others`)
  if (options.nodes > 0) lines.push('Simulated nodes do not exist in this version: pods stay pending')
  lines.push('Press Ctrl-C to stop')
  return lines
}

function kept({ backend }: UpOptions, objects: number | undefined): string {
  if (objects === undefined) return 'the store does not answer'
  const count = plural(objects, 'object')
  return backend.kind === 'memory' ? `${count} forgotten` : `${count} kept in ${describeBackend(backend)}`
}

async function objectsIn(store: Store): Promise<number | undefined> {
  try {
    const { entries, remaining } = await store.list({ prefix: '/registry/', limit: 1 })
    return entries.length + remaining
  } catch {
    // The summary is no reason to fail while stopping.
    return undefined
  }
}

async function certificateIn(file: string): Promise<string> {
  const text = await readFile(file, 'utf8')
  if (!text.includes('-----BEGIN CERTIFICATE-----'))
    throw new UsageError(`--client-ca: ${file} holds no PEM certificate`)
  return text
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve()
    else signal.addEventListener('abort', () => resolve(), { once: true })
  })
}

function plural(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`
}
