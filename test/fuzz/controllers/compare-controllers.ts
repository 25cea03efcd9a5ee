import { seededRandom } from '@kubewright/base'
import type { RequestSpec } from '../../conformance/case-format.ts'
import { HttpClient } from '../../conformance/http-client.ts'
import type { Target } from '../../conformance/target.ts'
import { type ControllerScenario, controllerScenario, type Step } from './controller-scenarios.ts'
import { type ApiObject, comparableTexts, readNamespace } from './namespace-state.ts'

/** Objects and Events that only one of the control planes has, after a step. */
export interface ControllerDifference {
  readonly scenario: ControllerScenario
  /** The index of the step. */
  readonly step: number
  readonly expected: readonly string[]
  readonly actual: readonly string[]
}

/** The result of {@link compareControllers}. */
export interface ControllersReport {
  scenarios: number
  equalScenarios: number
  /** Objects and kinds of Events of the reference, after each step. */
  objects: number
  equalObjects: number
  readonly differences: ControllerDifference[]
}

/** Options of {@link compareControllers}. */
export interface CompareControllersOptions {
  readonly reference: Target
  readonly tested: Target
  readonly seed: string
  /** The number of scenarios. */
  readonly count: number
  /** How many scenarios run at the same time. @default 8 */
  readonly concurrency?: number
  readonly onProgress?: (report: ControllersReport) => void
}

const nodes = ['n1', 'n2', 'n3']
/** How long a namespace must stay unchanged to count as idle, and the longest wait for that, in milliseconds. */
const quiet = 3000
const patience = 30_000

/**
 * Runs the same random scenarios on two control planes without nodes and compares the objects and Events of their namespaces after each
 * step. The test itself binds pods and sets their status. A scenario ends with the first difference.
 */
export async function compareControllers(options: CompareControllersOptions): Promise<ControllersReport> {
  using reference = new HttpClient(options.reference)
  using tested = new HttpClient(options.tested)
  const clients = [reference, tested]
  for (const name of nodes) await Promise.all(clients.map((client) => createNode(client, name)))
  const report: ControllersReport = { scenarios: 0, equalScenarios: 0, objects: 0, equalObjects: 0, differences: [] }
  const run = Date.now().toString(36).slice(-5)
  let next = 0
  const work = async (): Promise<void> => {
    while (next < options.count) {
      const index = next++
      const scenario = controllerScenario(seededRandom(`${options.seed} ${index}`))
      const difference = await compareScenario(scenario, `fz-${run}-${index}`, clients, report)
      report.scenarios++
      if (difference === undefined) report.equalScenarios++
      else report.differences.push(difference)
      options.onProgress?.(report)
    }
  }
  await Promise.all(Array.from({ length: Math.min(options.concurrency ?? 8, options.count) }, work))
  return report
}

async function compareScenario(
  scenario: ControllerScenario,
  namespace: string,
  clients: readonly HttpClient[],
  report: ControllersReport,
): Promise<ControllerDifference | undefined> {
  await Promise.all(
    clients.map(async (client) => {
      await client.request({ method: 'POST', path: '/api/v1/namespaces', body: { metadata: { name: namespace } } })
      await untilIdle(client, namespace)
    }),
  )
  try {
    for (const [step, action] of scenario.steps.entries()) {
      const [expected = [], actual = []] = await Promise.all(
        clients.map(async (client) => {
          await carryOut(client, namespace, action)
          return comparableTexts(await untilIdle(client, namespace), namespace)
        }),
      )
      const [missing, added] = [without(expected, actual), without(actual, expected)]
      report.objects += expected.length
      report.equalObjects += expected.length - missing.length
      if (missing.length + added.length > 0) return { scenario, step, expected: missing, actual: added }
    }
    return undefined
  } finally {
    await Promise.all(
      clients.map((client) => client.request({ method: 'DELETE', path: `/api/v1/namespaces/${namespace}` })),
    )
  }
}

/** The texts that the others do not have, with repetitions. */
function without(texts: readonly string[], others: readonly string[]): string[] {
  const left = new Map<string, number>()
  for (const text of others) left.set(text, (left.get(text) ?? 0) + 1)
  return texts.filter((text) => {
    const count = left.get(text) ?? 0
    left.set(text, count - 1)
    return count <= 0
  })
}

async function untilIdle(client: HttpClient, namespace: string): Promise<ApiObject[]> {
  const start = Date.now()
  let [before, since] = ['', start]
  for (;;) {
    const objects = await readNamespace(client, namespace)
    const versions = objects.map(({ metadata }) => `${metadata.uid} ${metadata.resourceVersion}`).join()
    const now = Date.now()
    if (versions !== before) [before, since] = [versions, now]
    if (now - since >= quiet || now - start > patience) return objects
    await new Promise((resolve) => setTimeout(resolve, 400))
  }
}

async function carryOut(client: HttpClient, namespace: string, step: Step): Promise<void> {
  if (step.do === 'pods') return movePods(client, namespace, step.app, step.phase)
  const [, base = '', rest = ''] = /^(api\/v1|apis\/[^/]+\/[^/]+)\/(.*)$/.exec(step.path) ?? []
  const path = `/${base}/namespaces/${namespace}/${rest}`
  if (step.do === 'create')
    await client.request({ method: 'POST', path, body: step.body as RequestSpec['body'] & object })
  else if (step.do === 'patch')
    await client.request({
      method: 'PATCH',
      path,
      headers: mergePatch,
      body: step.body as RequestSpec['body'] & object,
    })
  else await client.request({ method: 'DELETE', path, query: { propagationPolicy: step.policy } })
}

const mergePatch = { 'content-type': 'application/merge-patch+json' }

async function movePods(client: HttpClient, namespace: string, app: string, phase: string): Promise<void> {
  const base = `/api/v1/namespaces/${namespace}/pods`
  const { body } = await client.request({ path: base, query: { labelSelector: `app=${app}` } })
  const items = (body as { items: ApiObject[] }).items
  await Promise.all(
    items.map(async ({ metadata: { name, deletionTimestamp }, spec, status }) => {
      if (deletionTimestamp !== undefined) {
        await client.request({ method: 'DELETE', path: `${base}/${name}`, query: { gracePeriodSeconds: '0' } })
        return
      }
      if (['Failed', 'Succeeded'].includes((status as { phase: string }).phase)) return
      if ((spec as { nodeName?: string }).nodeName === undefined) {
        const target = { apiVersion: 'v1', kind: 'Node', name: nodeFor(spec) }
        await client.request({ method: 'POST', path: `${base}/${name}/binding`, body: { metadata: { name }, target } })
      }
      const time = new Date().toISOString().replace(/\.\d+/, '')
      const isUp = phase === 'Running'
      const state = isUp
        ? { running: { startedAt: time } }
        : { terminated: { exitCode: phase === 'Failed' ? 1 : 0, startedAt: time, finishedAt: time } }
      const next = {
        phase,
        podIP: '10.1.0.9',
        podIPs: [{ ip: '10.1.0.9' }],
        conditions: [{ type: 'Ready', status: isUp ? 'True' : 'False', lastTransitionTime: time }],
        containerStatuses: [{ name: 'c', image: 'a', imageID: '', ready: isUp, restartCount: 0, state }],
      }
      await client.request({
        method: 'PATCH',
        path: `${base}/${name}/status`,
        headers: mergePatch,
        body: { status: next },
      })
    }),
  )
}

/** The node that a daemon set chose for its pod, or the first node: kube-controller-manager writes endpoints in any order. */
function nodeFor(spec: unknown): string {
  return /"metadata\.name","operator":"In","values":\["([^"]+)"/.exec(JSON.stringify(spec))?.[1] ?? 'n1'
}

async function createNode(client: HttpClient, name: string): Promise<void> {
  const labels = { 'kubernetes.io/hostname': name, 'topology.kubernetes.io/zone': 'z' }
  await client.request({ method: 'POST', path: '/api/v1/nodes', body: { metadata: { name, labels } } })
  await client.request({
    method: 'PATCH',
    path: `/api/v1/nodes/${name}/status`,
    headers: mergePatch,
    body: {
      status: {
        conditions: [{ type: 'Ready', status: 'True' }],
        capacity: { pods: '110' },
        allocatable: { pods: '110' },
      },
    },
  })
}
