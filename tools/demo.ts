// `npm run demo`: runs two operators of examples/ on a control plane in this process, and prints what happens. It runs
// until Ctrl-C, so that kubectl can be used; with --once it exits at the end.
import { createHash } from 'node:crypto'
import { readFileSync, rmSync } from 'node:fs'
import { join, relative } from 'node:path'
import { parseArgs } from 'node:util'
import { ApiError, findCondition } from '@kubewright/api'
import type { Console } from '@kubewright/console'
import { Deployment, Pod, Secret, Service } from '@kubewright/k8s'
import type { Dns } from '../examples/home/src/dns.ts'
import { Home } from '../examples/home/src/home.ts'
import { homeOperator } from '../examples/home/src/operator.ts'
import { operator as secSynchOperator } from '../examples/sec-synch/src/operator.ts'
import { SecSynch } from '../examples/sec-synch/src/sec-synch.ts'
import { openDemoConsole } from './demo-console.ts'
import { applyFile, openStage, tableOf } from './demo-stage.ts'
import { Story } from './demo-story.ts'

const { values } = parseArgs({ options: { once: { type: 'boolean' } } })
const once = values.once ?? false
const { isTTY, columns = 80 } = process.stdout
const stop = new AbortController()
const story = new Story({
  // No output after an interrupt.
  write: (text) => void (stop.signal.aborted || process.stdout.write(text)),
  colour: (isTTY || process.env['FORCE_COLOR'] === '1') && process.env['NO_COLOR'] === undefined,
  columns: isTTY ? columns : 100,
  pauseMillis: isTTY && !once ? 1500 : 0,
})
const root = join(import.meta.dirname, '..')
const kubeconfig = join(root, '.kubewright', 'demo.kubeconfig')
for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, () => stop.abort())
const interrupted = new Promise<'interrupted'>((resolve) =>
  stop.signal.addEventListener('abort', () => resolve('interrupted')),
)

// Stands in for a DNS provider outside of the cluster.
const names = new Map<string, string>()
const dns: Dns = {
  async point(domain, target) {
    if (names.get(domain) !== target) story.happened('+', 'DNS name', domain, `→ ${target}`)
    names.set(domain, target)
  },
  async release(domain) {
    if (names.delete(domain)) story.happened('-', 'DNS name', domain, 'released')
  },
}

let web: Console | undefined
const started = performance.now()
const stage = await openStage(kubeconfig).catch((error: unknown) => {
  story.line(story.paint('red', `The demo cannot start: ${error instanceof Error ? error.message : String(error)}`))
  process.exit(1)
})
const startMillis = performance.now() - started
const client = stage.plane.client({ onWarning: (text) => story.answer(`Warning: ${text}`, 'yellow') })
const sample = (file: string): string => readFileSync(join(root, file), 'utf8')

/** Performs a command and shows the response of the server. */
async function command(text: string, act: () => Promise<unknown>): Promise<void> {
  await story.command(text)
  await story.answered(async () => {
    try {
      await act()
    } catch (error) {
      if (!(error instanceof ApiError)) throw error
      story.answer(`Error from server (${error.reason}): ${error.message}`, 'red')
    }
  })
}

async function show(text: string, path: string): Promise<void> {
  await story.command(text)
  for (const line of await tableOf(client, path)) story.line(`  ${line}`)
}

const fingerprint = (data: unknown): string =>
  createHash('sha256').update(JSON.stringify(data)).digest('hex').slice(0, 8)
const isHandedOut = ({ metadata }: Secret): boolean => metadata.name === 'secret-a'
const homesPath = `/apis/${Home.apiVersion}/namespaces/default/homes`

function followAll(): void {
  const { signal } = stop
  story.follow(client, Home, ({ status }) => findCondition(status?.conditions, 'Ready')?.message ?? 'new', signal)
  story.follow(
    client,
    Deployment,
    ({ spec, status }) =>
      `${status?.readyReplicas ?? 0}/${spec?.replicas ?? 1} ready, ${spec?.template.spec?.containers[0]?.image}`,
    signal,
  )
  story.follow(
    client,
    Service,
    ({ metadata, spec }) =>
      metadata.name === 'kubernetes' ? undefined : `port 80 → ${spec?.ports?.[0]?.targetPort}, ${spec?.clusterIP}`,
    signal,
  )
  story.follow(
    client,
    Pod,
    ({ spec, status }) => {
      if (spec.nodeName === undefined) return undefined
      const isReady = findCondition(status?.conditions, 'Ready')?.status === 'True'
      return `${isReady ? 'ready' : 'starting'} on ${spec.nodeName}`
    },
    signal,
  )
  story.follow(client, SecSynch, ({ status }) => findCondition(status?.conditions, 'Synced')?.message ?? 'new', signal)
  story.follow(
    client,
    Secret,
    (secret) => (isHandedOut(secret) ? `content ${fingerprint(secret.data)}` : undefined),
    signal,
  )
}

async function tell(): Promise<void> {
  story.line(story.paint('bold', 'Kubewright: Kubernetes operators in TypeScript'))
  story.say(
    'Everything below happens now, in this process. The demo shows each kubectl command and sends the same requests itself, because kubectl may not be installed.',
  )

  await story.chapter('A control plane, and two operators')
  const { names: controllers } = stage.plane.controllers
  story.answer(`Kubernetes API     ${stage.url}, after ${startMillis.toFixed(0)} ms`)
  story.answer(`controllers        ${controllers.length}, as in kube-controller-manager`)
  story.answer('nodes              2, simulated: pods start and become ready, but run no containers')
  const operators = [homeOperator(dns), secSynchOperator]
  for (const operator of operators) await stage.install(operator)
  story.answer(`CRDs               ${stage.installed.join(', ')}`)
  for (const operator of operators) await stage.start(operator)
  story.answer(`operators          ${stage.managers.map(({ name }) => name).join(', ')}`)
  if (!once) {
    web = await openDemoConsole(stage)
    story.answer(`console            ${web.createLink()}`)
  }
  followAll()

  await story.chapter('A Home is created: its operator creates the rest')
  const homes = 'examples/home/samples/home-sample.yaml'
  await command(`kubectl apply -f ${homes}`, () => applyFile(client, sample(homes), (text) => story.answer(text)))
  const isReady = (count: number) => (home: Home | undefined) => home?.status?.readyReplicas === count
  await story.until(Home, 'home-sample', isReady(2))
  await story.until(Home, 'home-of-old', isReady(2))
  await story.untilCount(Pod, 4)
  story.say(
    '\nThe second Home was written in v1alpha1, with other field names: the operator converts it. Its webhook chose both domains.',
  )
  await show('kubectl get homes', homesPath)

  await story.chapter('The Home is scaled')
  await command(`kubectl patch home home-sample --type merge -p '{"spec":{"replicas":3}}'`, () =>
    client.patch(Home, 'home-sample', { spec: { replicas: 3 } }),
  )
  await story.until(Home, 'home-sample', isReady(3))

  await story.chapter('Manual changes are reverted')
  await command('kubectl set image deployment/home-sample web=miner:6', () =>
    client.patch(
      Deployment,
      'home-sample',
      { spec: { template: { spec: { containers: [{ name: 'web', image: 'miner:6' }] } } } },
      { type: 'strategic', fieldManager: 'kubectl' },
    ),
  )
  const isServing = (count: number) => (deployment: Deployment | undefined) =>
    deployment?.spec?.template.spec?.containers[0]?.image === 'nginx:1.27' &&
    deployment.status?.readyReplicas === count &&
    deployment.status.updatedReplicas === count
  await story.quiet()
  await story.until(Deployment, 'home-sample', isServing(3))
  await command('kubectl delete service home-sample', () => client.delete(Service, 'home-sample'))
  await story.quiet()
  await story.until(Service, 'home-sample', (service) => service !== undefined)

  await story.chapter('Invalid changes are rejected')
  await command(`kubectl patch home home-sample --type merge -p '{"spec":{"image":"nginx:latest"}}'`, () =>
    client.patch(Home, 'home-sample', { spec: { image: 'nginx:latest' } }),
  )
  story.say('The webhook rejected that. A CEL rule rejects the next one, and the schema the last one:')
  await command(`kubectl patch home home-sample --type merge -p '{"spec":{"domain":"other.my.domain"}}'`, () =>
    client.patch(Home, 'home-sample', { spec: { domain: 'other.my.domain' } }),
  )
  await command(`kubectl patch home home-sample --type merge -p '{"spec":{"replicas":99}}'`, () =>
    client.patch(Home, 'home-sample', { spec: { replicas: 99 } }),
  )

  await story.chapter('Another operator: a Secret that is copied to namespaces')
  const secrets = 'examples/sec-synch/samples/secsynch-a.yaml'
  await command(`kubectl apply -f ${secrets}`, () => applyFile(client, sample(secrets), (text) => story.answer(text)))
  const isSynced = (synch: SecSynch | undefined): boolean =>
    findCondition(synch?.status?.conditions, 'Synced')?.status === 'True'
  await story.until(SecSynch, 'secsynch-a', isSynced)
  await story.untilCount(Secret, 3)
  story.say('\nThe source changes, and the copies follow. A deleted copy is restored:')
  await command(`kubectl patch secret secret-a -p '{"stringData":{"password":"BbBbBb"}}'`, () =>
    client.patch(Secret, 'secret-a', { stringData: { password: 'BbBbBb' } }),
  )
  const changed = Buffer.from('BbBbBb').toString('base64')
  const hasChanged = (secret: Secret | undefined): boolean => secret?.data?.['password'] === changed
  for (const namespace of ['a1', 'a2']) await story.until(Secret, { name: 'secret-a', namespace }, hasChanged)
  await command('kubectl delete secret secret-a -n a1', () =>
    client.delete(Secret, { name: 'secret-a', namespace: 'a1' }),
  )
  await story.quiet()
  await story.until(Secret, { name: 'secret-a', namespace: 'a1' }, hasChanged)

  await story.chapter('Deleting an object deletes everything that belongs to it')
  await command('kubectl delete secsynch secsynch-a', () => client.delete(SecSynch, 'secsynch-a'))
  await story.until(SecSynch, 'secsynch-a', (synch) => synch === undefined)
  await story.untilCount(Secret, 1)
  await command('kubectl delete home home-sample', () => client.delete(Home, 'home-sample'))
  await story.until(Home, 'home-sample', (home) => home === undefined)
  await story.untilCount(Pod, 2)
  await story.untilCount(Service, 1)
  await story.until(Deployment, 'home-sample', (deployment) => deployment === undefined)
  await story.quiet()

  const seconds = ((performance.now() - started) / 1000).toFixed(1)
  story.line()
  story.line(
    `${story.paint('green', '✓')} The demo succeeded after ${seconds} s. Source code: examples/home, examples/sec-synch`,
  )
}

/** Keeps the control plane running for the user. */
async function stay(): Promise<void> {
  await story.chapter('Your turn')
  story.say('The control plane runs until Ctrl-C, and changes appear here and in the console. In another terminal:')
  story.line()
  for (const line of [
    `export KUBECONFIG=${kubeconfig}`,
    'kubectl get homes,deployments,pods',
    'kubectl scale deployment home-of-old --replicas 5   # the operator reverts it',
    'kubectl explain home.spec',
    `kubectl apply -f ${relative(process.cwd(), join(root, 'examples/home/samples/home-sample.yaml'))}`,
  ])
    story.line(`  ${story.paint('bold', line)}`)
  story.line()
  await interrupted
}

let exitCode = 0
try {
  const played = Promise.race([tell(), stage.failed, interrupted])
  if ((await played) !== 'interrupted' && !once) await Promise.race([stay(), stage.failed])
} catch (error) {
  exitCode = 1
  story.line(story.paint('red', `The demo failed: ${error instanceof Error ? error.message : String(error)}`))
}
const wasInterrupted = stop.signal.aborted
stop.abort()
await web?.[Symbol.asyncDispose]()
await stage[Symbol.asyncDispose]()
rmSync(kubeconfig, { force: true })
if (wasInterrupted) process.stdout.write('\nStopped and cleaned up.\n')
process.exitCode = exitCode
