import { expect, test } from 'vitest'
import { targetOfKubeconfig } from '../../conformance/target.ts'
import { compareServers } from './compare-servers.ts'
import { startComparedServer } from './compared-server.ts'

const variable = 'KUBEWRIGHT_REFERENCE'
const kubeconfig = process.env[variable]
const seed = process.env['KUBEWRIGHT_SEED'] ?? 'differential'

test('the server responds to random requests like the reference server', {
  timeout: 600_000,
}, async ({ skip }) => {
  if (kubeconfig === undefined)
    return skip(`set ${variable} to the kubeconfig of a kube-apiserver v1.35 without controllers`)
  await using server = await startComparedServer()
  const report = await compareServers({
    reference: targetOfKubeconfig(kubeconfig),
    tested: server.target,
    seed,
    count: 2000,
  })
  const share = report.equalRequests / report.requests
  expect(share, [...report.classes.keys()].join('\n')).toBeGreaterThan(0.99)
})
