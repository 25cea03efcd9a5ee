// Long simulations of the planted operators: npx tsx test/simulator/main.ts twins --schedules 5000 [--only TEXT]
import { parseArgs } from 'node:util'
import { explore, type FaultClass } from '../../packages/simulator/src/index.ts'
import { Cloud, planted, plantedSamples } from '../../packages/simulator/src/testdata/planted.ts'

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    schedules: { type: 'string' },
    for: { type: 'string' },
    only: { type: 'string', multiple: true, default: [''] },
    seed: { type: 'string', default: '1' },
    faults: { type: 'string' },
    replay: { type: 'string' },
    story: { type: 'boolean', default: false },
  },
})
const [what = 'planted'] = positionals
let failures = 0

for (const [name, { found, make, options }] of Object.entries(planted)) {
  if (!values.only.some((text) => name.includes(text))) continue
  const started = performance.now()
  const isTwin = what === 'twins'
  const { failure, schedules, runs } = await explore(make(isTwin), {
    samples: plantedSamples,
    world: () => new Cloud(),
    ...options,
    ...(values.schedules === undefined ? {} : { schedules: Number(values.schedules) }),
    ...(values.for === undefined ? (isTwin ? {} : { for: '60s' as const }) : { for: values.for as '60s' }),
    seed: Number(values.seed),
    ...(values.faults === undefined ? {} : { faults: values.faults.split(',') as FaultClass[] }),
    ...(values.replay === undefined ? {} : { replay: values.replay }),
  })
  const seconds = ((performance.now() - started) / 1000).toFixed(1)
  const isRight = isTwin ? failure === undefined : failure?.violation.oracle === found
  if (!isRight) failures++
  const verdict = failure === undefined ? 'no failure' : `${failure.violation.oracle}: ${failure.violation.message}`
  console.log(
    `${isRight ? 'ok  ' : 'FAIL'} ${seconds} s, ${schedules} schedules, ${runs} runs: ${name}: ${verdict.slice(0, 160)}`,
  )
  if (failure !== undefined && (values.story || isTwin)) console.log(failure.story)
}
process.exitCode = failures === 0 ? 0 : 1
