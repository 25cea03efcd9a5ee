// Long simulations: node --conditions=kubewright-source --import tsx test/simulator/main.ts SET [OPTIONS]
//   SET: planted (must fail within 60 s of CPU time), twins, examples, builtins
import { parseArgs } from 'node:util'
import type { FaultClass, SimulateOptions } from '../../packages/simulator/src/index.ts'
import { Cloud, planted, plantedSamples } from '../../packages/simulator/src/testdata/planted.ts'
import { builtins, examples, type Limits, type SimulateOperator, simulated } from './simulated-operators.ts'

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    schedules: { type: 'string' },
    for: { type: 'string' },
    cpu: { type: 'string' },
    only: { type: 'string', multiple: true, default: [''] },
    seed: { type: 'string', default: '1' },
    faults: { type: 'string' },
    replay: { type: 'string' },
    story: { type: 'boolean', default: false },
  },
})
const [set = 'planted'] = positionals

interface Subject {
  readonly name: string
  readonly simulate: SimulateOperator
  /** The oracle that must find a mistake. */
  readonly expected: string | undefined
}

function subjects(): Subject[] {
  if (set === 'planted' || set === 'twins') {
    return Object.entries(planted).map(([name, { found, make, options }]) => ({
      name,
      simulate: simulated(make(set === 'twins'), { samples: plantedSamples, world: () => new Cloud(), ...options }),
      expected: set === 'twins' ? undefined : found,
    }))
  }
  return Object.entries(set === 'builtins' ? builtins : examples).map(([name, simulate]) => ({
    name,
    simulate,
    expected: undefined,
  }))
}

const limits: { -readonly [Name in keyof Limits]: Limits[Name] } = {
  ...(values.schedules === undefined ? {} : { schedules: Number(values.schedules) }),
  ...(values.for === undefined ? {} : { for: values.for as NonNullable<SimulateOptions['for']> }),
  ...(values.faults === undefined ? {} : { faults: values.faults.split(',') as FaultClass[] }),
  ...(values.replay === undefined ? {} : { replay: values.replay }),
  seed: Number(values.seed),
}

// Seconds of CPU time do not depend on other work on the machine.
const budget = Number(values.cpu ?? (set === 'planted' ? 60 : Number.POSITIVE_INFINITY))
if (Number.isFinite(budget) && values.schedules === undefined) limits.schedules = Number.POSITIVE_INFINITY
class OverBudget extends Error {}
// An interrupted run still shows how far it came.
const progressMillis = 60_000

let failures = 0
const all = subjects()
/** Whether a text is the name of a subject, or a part of it if none has this name. */
const names = (text: string, name: string): boolean =>
  all.some((one) => one.name === text) ? name === text : name.includes(text)
for (const { name, simulate, expected } of all) {
  if (!values.only.some((text) => names(text, name))) continue
  const started = process.cpuUsage()
  const used = (): number => {
    const { user, system } = process.cpuUsage(started)
    return (user + system) / 1e6
  }
  let done = 0
  let shownAt = Date.now()
  const onProgress = (progress: { readonly schedules: number }): void => {
    done = progress.schedules
    if (used() > budget) throw new OverBudget()
    if (Date.now() - shownAt < progressMillis) return
    shownAt = Date.now()
    console.log(`...  ${used().toFixed(1)} s CPU, ${done} schedules: ${name}`)
  }
  const { failure, schedules, runs } = await simulate({ ...limits, onProgress }).catch((error: unknown) => {
    if (error instanceof OverBudget) return { failure: undefined, schedules: done, runs: undefined }
    throw error
  })
  const seconds = used().toFixed(1)
  const isRight = failure?.violation.oracle === expected
  if (!isRight) failures++
  const verdict = failure === undefined ? 'no failure' : `${failure.violation.oracle}: ${failure.violation.message}`
  // The number of runs is not known when the budget ends a simulation.
  const counts = `${schedules} schedules${runs === undefined ? '' : `, ${runs} runs`}`
  console.log(`${isRight ? 'ok  ' : 'FAIL'} ${seconds} s CPU, ${counts}: ${name}: ${verdict.slice(0, 160)}`)
  if (failure !== undefined && (values.story || !isRight)) console.log(failure.story)
}
process.exitCode = failures === 0 ? 0 : 1
