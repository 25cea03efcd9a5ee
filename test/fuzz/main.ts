// `npm run fuzz [-- NAME] [--seed S] [--for 10m | --count N]`: runs the fuzzers without the limits of the tests. CONTRIBUTING.md
// describes them.
import { writeFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { parseDuration } from '@kubewright/base'
import { describeDifference } from '../conformance/compare.ts'
import { targetOfKubeconfig } from '../conformance/target.ts'
import { fuzzChaos } from './chaos/fuzz-chaos.ts'
import { compareControllers } from './controllers/compare-controllers.ts'
import { startComparedPlane } from './controllers/started-plane.ts'
import { fuzzCrashes } from './crash/fuzz-crashes.ts'
import { allDecoders } from './decoders/all-decoders.ts'
import { fuzzDecoder } from './decoders/fuzz-decoder.ts'
import { compareServers, type DifferenceClass, type DifferentialReport } from './differential/compare-servers.ts'
import { startComparedServer } from './differential/compared-server.ts'
import { scenarioKinds } from './differential/generate-scenario.ts'
import { storedInputs, storedRequests, storeRegression } from './regressions/regressions.ts'
import { type FuzzRequestsReport, fuzzRequests } from './requests/fuzz-requests.ts'
import { fuzzStore, storeBackends } from './store/fuzz-store.ts'
import { describeCall } from './store/history.ts'

const usage = `Usage: npm run fuzz [-- NAME] [flags]

NAME is requests, crash, chaos, store, differential, controllers, or one of the decoders: ${allDecoders.map(({ name }) => name).join(', ')}.
Without NAME, all decoders run.

  --seed S       Start from this seed; the default is random
  --for 10m      Run each decoder, or chaos, for this time; the default is 30s
  --servers N    Start this many servers (chaos); the default is 3
  --other DIR    Start servers of this checkout in turn with those of the present one (chaos); it needs its own node_modules
  --count N      Run this many inputs or requests instead
  --size BYTES   Generate inputs of up to this size; the default is 100000
  --cycles N     Kill the server this many times (crash); the default is 100
  --reference F  Compare with the kube-apiserver of this kubeconfig (differential, controllers); the default is $KUBEWRIGHT_REFERENCE.
                 For controllers, it needs a kube-controller-manager without the node controllers, and no nodes
  --kubeconfig F Test the server of this kubeconfig (differential); the default is a server in this process
  --only KIND    Generate scenarios of this kind only (differential): ${scenarioKinds.join(', ')}
  --json F       Write the classes of differences with their complete scenarios to this file (differential, controllers)
  --backend B    Use this store (store): ${storeBackends.join(', ')}; the default is durable
  --operations N Make this many operations of clients (store); the default is 1000000
  --etcd         Keep objects in etcd instead of a folder (crash)
`

/** The CPU time that an input of up to 100 KB may take, in milliseconds. */
const maxCpuMillis = 1000

async function main(): Promise<number> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      seed: { type: 'string', default: Math.random().toString(36).slice(2) },
      for: { type: 'string', default: '30s' },
      count: { type: 'string' },
      size: { type: 'string', default: '100000' },
      cycles: { type: 'string', default: '100' },
      etcd: { type: 'boolean', default: false },
      servers: { type: 'string', default: '3' },
      other: { type: 'string' },
      reference: { type: 'string' },
      kubeconfig: { type: 'string' },
      only: { type: 'string' },
      json: { type: 'string' },
      backend: { type: 'string', default: 'durable' },
      operations: { type: 'string', default: '1000000' },
      help: { type: 'boolean', short: 'h', default: false },
    },
  })
  if (values.help) {
    console.log(usage)
    return 0
  }
  const [name] = positionals
  const { seed } = values
  if (name === 'requests') return runRequests(seed, Number(values.count ?? 100_000))
  if (name === 'differential') return runDifferential(seed, Number(values.count ?? 10_000), values)
  if (name === 'controllers') return runControllers(seed, Number(values.count ?? 100), values)
  if (name === 'crash') return runCrashes(seed, Number(values.cycles), values)
  if (name === 'chaos') return runChaos(seed, values)
  if (name === 'store') return runStore(seed, values)
  const targets = allDecoders.filter((target) => name === undefined || target.name === name)
  if (targets.length === 0) {
    console.error(`There is no fuzzer "${name}".\n\n${usage}`)
    return 2
  }
  let failed = 0
  for (const target of targets) {
    const until = performance.now() + Number(parseDuration(values.for)) / 1e6
    const isOver = values.count === undefined ? () => performance.now() > until : () => false
    const count = values.count === undefined ? Number.POSITIVE_INFINITY : Number(values.count)
    failed += runDecoder(target.name, { seed, count, isOver, maxSize: Number(values.size) })
  }
  return failed === 0 ? 0 : 1
}

function runDecoder(
  name: string,
  run: { seed: string; count: number; isOver: () => boolean; maxSize: number },
): number {
  const target = allDecoders.find((one) => one.name === name)!
  for (const { file, input } of storedInputs(name)) {
    try {
      target.check(input)
    } catch (error) {
      console.error(`${name}: the stored input ${file} fails:`, error)
      return 1
    }
  }
  const report = fuzzDecoder(target, {
    ...run,
    maxCpuMillis,
    onProgress: (count) => showProgress(`${name}: ${count} inputs`),
  })
  clearProgress()
  const largest = `largest CPU time ${report.largestCpuMillis.toFixed(1)} ms (${report.largest?.length ?? 0} bytes)`
  console.log(`${name}: ${report.count} inputs, ${largest}`)
  const { failure } = report
  if (!failure) return 0
  const file = storeRegression(name, failure.input)
  console.error(failure.error)
  console.error(`The input is stored in ${file}`)
  console.error(
    `Reproduce: npm run fuzz -- ${name} --seed '${run.seed}' --count ${failure.index + 1} --size ${run.maxSize}`,
  )
  return 1
}

async function runRequests(seed: string, count: number): Promise<number> {
  const started = performance.now()
  let known = 0
  const onProgress = (report: FuzzRequestsReport): void => {
    clearProgress()
    for (; known < report.failures.length; known++) {
      const { problem, request, response } = report.failures[known]!
      console.error(`${problem}\n  ${JSON.stringify(request).slice(0, 2000)}\n  ${response.slice(0, 500)}`)
      console.error(`  stored in ${storeRegression('requests', request)}`)
    }
    const { sent, reviewed, largestMillis, largestGroupMillis, memory } = report
    const { heapUsed = 0, rss = 0 } = memory.at(-1)?.memory ?? {}
    const rate = Math.round((sent * 1000) / (performance.now() - started))
    console.log(
      `${sent} requests, ${rate}/s, ${reviewed} access reviews, CPU of a single request ≤ ${largestMillis.toFixed(0)} ms, of a group ≤ ${largestGroupMillis.toFixed(0)} ms, heap ${mib(heapUsed)}, RSS ${mib(rss)}`,
    )
  }
  const report = await fuzzRequests({ seed, count, first: storedRequests(), maxCpuMillis, onProgress })
  onProgress(report)
  console.log(
    `responses by status: ${JSON.stringify(Object.fromEntries([...report.statuses].sort(([a], [b]) => a - b)))}`,
  )
  if (report.largest) console.log(`largest single request: ${JSON.stringify(report.largest).slice(0, 500)}`)
  if (report.failures.length === 0) return 0
  console.error(`Reproduce: npm run fuzz -- requests --seed '${seed}' --count ${report.sent}`)
  return 1
}

async function runControllers(
  seed: string,
  count: number,
  {
    reference = process.env['KUBEWRIGHT_REFERENCE'],
    kubeconfig,
    json,
  }: { reference?: string; kubeconfig?: string; json?: string },
): Promise<number> {
  if (reference === undefined) {
    console.error('Name a control plane: --reference KUBECONFIG, or set KUBEWRIGHT_REFERENCE')
    return 2
  }
  await using plane = kubeconfig === undefined ? await startComparedPlane() : undefined
  const report = await compareControllers({
    reference: targetOfKubeconfig(reference),
    tested: plane?.target ?? targetOfKubeconfig(kubeconfig!),
    seed,
    count,
    onProgress: ({ scenarios, equalScenarios }) => showProgress(`${scenarios} scenarios, ${equalScenarios} equal`),
  })
  clearProgress()
  for (const { scenario, step, expected, actual } of report.differences) {
    console.log(`${scenario.kind}, step ${step}: ${JSON.stringify(scenario.steps[step])}`)
    for (const text of expected) console.log(`    expected ${text.slice(0, 1500)}`)
    for (const text of actual) console.log(`    actual   ${text.slice(0, 1500)}`)
  }
  if (json !== undefined) writeFileSync(json, JSON.stringify(report.differences, undefined, 1))
  const { scenarios, equalScenarios, objects, equalObjects } = report
  console.log(
    `${objects} objects and events, ${percent(equalObjects, objects)} equal; ${scenarios} scenarios, ${percent(equalScenarios, scenarios)} equal; seed ${seed}`,
  )
  return report.differences.length === 0 ? 0 : 1
}

async function runDifferential(
  seed: string,
  count: number,
  {
    reference = process.env['KUBEWRIGHT_REFERENCE'],
    kubeconfig,
    only,
    json,
  }: { reference?: string; kubeconfig?: string; only?: string; json?: string },
): Promise<number> {
  if (reference === undefined) {
    console.error('Name a kube-apiserver: --reference KUBECONFIG, or set KUBEWRIGHT_REFERENCE')
    return 2
  }
  // The file is complete at every step, so an interrupted run keeps its findings.
  const writeClasses = (report: DifferentialReport): void => {
    if (json !== undefined) writeFileSync(json, JSON.stringify(sortedClasses(report), undefined, 1))
  }
  const onProgress = (report: DifferentialReport): void => {
    const { requests, equalRequests, classes } = report
    writeClasses(report)
    showProgress(
      `${requests} requests, ${percent(equalRequests, requests)} equal, ${classes.size} classes of differences`,
    )
  }
  await using server = kubeconfig === undefined ? await startComparedServer() : undefined
  const tested = server?.target ?? targetOfKubeconfig(kubeconfig!)
  const report = await compareServers({
    reference: targetOfKubeconfig(reference),
    tested,
    seed,
    count,
    only,
    onProgress,
  })
  clearProgress()
  writeClasses(report)
  for (const { name, count: times, scenario, request, difference } of sortedClasses(report)) {
    console.log(`${times} × ${name}`)
    console.log(`    ${describeDifference(difference)}`)
    console.log(`    ${JSON.stringify(scenario.requests.slice(0, request + 1)).slice(-1500)}`)
  }
  const { requests, equalRequests, scenarios, equalScenarios, byKind } = report
  for (const [kind, sum] of byKind) console.log(`${kind}: ${percent(sum.equal, sum.requests)} of ${sum.requests} equal`)
  console.log(
    `${requests} requests, ${percent(equalRequests, requests)} equal; ${scenarios} scenarios, ${percent(equalScenarios, scenarios)} equal; seed ${seed}`,
  )
  return equalRequests === requests ? 0 : 1
}

function sortedClasses({ classes }: DifferentialReport): DifferenceClass[] {
  return [...classes.values()].sort((a, b) => b.count - a.count)
}

const percent = (part: number, total: number): string => `${((100 * part) / Math.max(1, total)).toFixed(2)} %`

async function runCrashes(seed: string, cycles: number, { etcd }: { etcd: boolean }): Promise<number> {
  const report = await fuzzCrashes({
    seed,
    cycles,
    etcd,
    onProgress: (cycle) => showProgress(`crash: cycle ${cycle} of ${cycles}`),
  })
  clearProgress()
  const { acknowledged, undecided, events, lists, mistakes } = report
  console.log(
    `${report.cycles} cycles: ${acknowledged} acknowledged writes, ${undecided} without a response, ${events} watch events, ${lists} lists, ${mistakes.length} mistakes`,
  )
  for (const mistake of mistakes.slice(0, 20)) console.error(`  ${mistake}`)
  if (mistakes.length === 0) return 0
  console.error(`Reproduce: npm run fuzz -- crash --seed '${seed}' --cycles ${cycles}${etcd ? ' --etcd' : ''}`)
  return 1
}

async function runChaos(
  seed: string,
  { for: time, servers, other }: { for: string; servers: string; other?: string | undefined },
): Promise<number> {
  const report = await fuzzChaos({
    seed,
    servers: Number(servers),
    otherCheckout: other === undefined ? undefined : resolve(other),
    millis: Number(parseDuration(time)) / 1e6,
    onProgress: (text) => console.log(text),
  })
  const { mistakes, ...figures } = report
  console.log(JSON.stringify(figures, undefined, 1))
  console.log(`${mistakes.length} mistakes`)
  for (const mistake of mistakes.slice(0, 20)) console.error(`  ${mistake}`)
  if (mistakes.length === 0) return 0
  console.error(
    `Repeat: npm run fuzz -- chaos --seed '${seed}' --for ${time} --servers ${servers}${other === undefined ? '' : ` --other ${other}`}`,
  )
  return 1
}

async function runStore(seed: string, values: { backend: string; operations: string }): Promise<number> {
  const backend = storeBackends.find((one) => one === values.backend)
  if (backend === undefined) {
    console.error(`--backend must be one of ${storeBackends.join(', ')}: ${values.backend}`)
    return 2
  }
  const started = performance.now()
  let shown = 0
  const report = await fuzzStore({
    seed,
    backend,
    operations: Number(values.operations),
    onProgress: ({ operations, crashes }) => {
      showProgress(`store: ${operations} operations, ${crashes} crashes`)
      if (process.stderr.isTTY || operations < shown + 50_000) return
      shown = operations
      console.log(`${operations} operations, ${crashes} crashes, ${Math.round((performance.now() - started) / 1000)} s`)
    },
  })
  clearProgress()
  const { operations, events, crashes, faults, violations, failed } = report
  console.log(
    `${backend}: ${operations} operations, ${events} watch events, ${crashes} crashes, ${faults} other faults, ${violations.length} violations in ${Math.round((performance.now() - started) / 1000)} s; seed ${seed}`,
  )
  if (!failed) return 0
  for (const { rule, message, part } of violations.slice(0, 5)) {
    console.error(`${rule}: ${message}`)
    for (const call of part) console.error(`  ${describeCall(call).slice(0, 1000)}`)
  }
  console.error(
    `Reproduce: npm run fuzz -- store --backend ${backend} --seed '${failed.seed}' --operations ${failed.operations}`,
  )
  return 1
}

const mib = (bytes: number): string => `${(bytes / 2 ** 20).toFixed(0)} MiB`

function showProgress(text: string): void {
  if (process.stderr.isTTY) process.stderr.write(`\r\u001B[K${text}`)
}

function clearProgress(): void {
  if (process.stderr.isTTY) process.stderr.write('\r\u001B[K')
}

process.exitCode = await main()
