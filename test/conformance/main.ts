// Runs the recorded cases against any server and prints the results by area.
//   node --conditions=kubewright-source --import tsx test/conformance/main.ts --kubeconfig FILE
//   … --record FILE writes the responses of a real kube-apiserver into a file of cases; steps need no `expect` before
//   … --server https://127.0.0.1:6443 --token TOKEN [--client-ca-cert FILE --client-ca-key FILE]
//   … --peer https://127.0.0.1:6444 sends every second request to another server on the same store; may be repeated
import { readFileSync, writeFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { CertificateAuthority } from '@kubewright/server'
import type { CaseFile } from './case-format.ts'
import { describeDifference, sorted } from './compare.ts'
import { areaTable } from './report.ts'
import { recordedCases, runCases } from './run-cases.ts'
import { type Target, targetOfKubeconfig } from './target.ts'

const { values } = parseArgs({
  options: {
    kubeconfig: { type: 'string' },
    server: { type: 'string' },
    peer: { type: 'string', multiple: true },
    token: { type: 'string' },
    'client-ca-cert': { type: 'string' },
    'client-ca-key': { type: 'string' },
    // Regular expressions for area/id.
    only: { type: 'string' },
    skip: { type: 'string' },
    // Whether the server runs the built-in controllers.
    controllers: { type: 'boolean' },
    concurrency: { type: 'string', default: '4' },
    timeout: { type: 'string', default: '90' },
    // Prints every difference of a failing case instead of the first.
    diff: { type: 'boolean' },
    // A file of cases whose expectations are replaced by the responses of the server.
    record: { type: 'string' },
    // A file for the results as JSON.
    json: { type: 'string' },
  },
})

function target(): Target {
  const clientCa =
    values['client-ca-cert'] && values['client-ca-key']
      ? new CertificateAuthority({
          cert: readFileSync(values['client-ca-cert'], 'utf8'),
          key: readFileSync(values['client-ca-key'], 'utf8'),
        })
      : undefined
  const peers = values.peer?.map((url) => new URL(url))
  const more = { ...(clientCa ? { clientCa } : {}), ...(peers ? { peers } : {}) }
  if (values.kubeconfig !== undefined) return { ...targetOfKubeconfig(values.kubeconfig), ...more }
  if (values.server === undefined) throw new Error('Specify a server: --kubeconfig FILE, or --server URL --token TOKEN')
  return { server: new URL(values.server), ...(values.token === undefined ? {} : { token: values.token }), ...more }
}

if (values.record !== undefined) {
  const file = JSON.parse(readFileSync(values.record, 'utf8')) as CaseFile
  const results = await runCases({
    target: target(),
    cases: file.cases.map((test) => ({ area: file.area, test })),
    controllers: values.controllers ?? false,
    record: (step, actual) => Object.assign(step, { expect: sorted(actual) }),
  })
  writeFileSync(values.record, `${JSON.stringify(file, undefined, 1)}\n`)
  const failed = results.filter(({ outcome }) => outcome !== 'passed')
  for (const { id, differences } of failed) console.log(`NOT RECORDED ${id}: ${differences.map(describeDifference)[0]}`)
  process.exit(failed.length > 0 ? 1 : 0)
}
const only = new RegExp(values.only ?? '')
const skip = values.skip === undefined ? undefined : new RegExp(values.skip)
const cases = recordedCases().filter(({ area, test }) => {
  const name = `${area}/${test.id}`
  return only.test(name) && !skip?.test(name)
})
const results = await runCases({
  target: target(),
  cases,
  controllers: values.controllers ?? false,
  concurrency: Number(values.concurrency),
  timeoutSeconds: Number(values.timeout),
  onResult: ({ area, id, outcome, differences }) => {
    if (outcome !== 'failed') return
    const shown = values.diff ? differences : differences.slice(0, 1)
    console.log(`FAIL ${area}/${id}: ${shown.map(describeDifference).join('\n     ')}`)
  },
})
console.log(`\n${areaTable(results)}`)
if (values.json !== undefined) writeFileSync(values.json, JSON.stringify(results, undefined, 1))
const count = (outcome: string): number => results.filter((result) => result.outcome === outcome).length
console.log(`${count('passed')} passed, ${count('failed')} failed, ${count('skipped')} skipped`)
process.exitCode = count('failed') > 0 ? 1 : 0
