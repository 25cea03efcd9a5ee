import { expect, test } from 'vitest'
import { targetOfKubeconfig } from '../../conformance/target.ts'
import { compareControllers } from './compare-controllers.ts'
import { startComparedPlane } from './started-plane.ts'

const variable = 'KUBEWRIGHT_REFERENCE_CONTROLLERS'
const kubeconfig = process.env[variable]
const seed = process.env['KUBEWRIGHT_SEED'] ?? 'controllers'

test('the built-in controllers write the objects and Events of the reference', { timeout: 600_000 }, async ({
  skip,
}) => {
  if (kubeconfig === undefined)
    return skip(
      `set ${variable} to the kubeconfig of a kube-controller-manager v1.35 without nodes and node controllers`,
    )
  await using plane = await startComparedPlane()
  const report = await compareControllers({
    reference: targetOfKubeconfig(kubeconfig),
    tested: plane.target,
    seed,
    count: 40,
  })
  const differences = report.differences.map(({ scenario: { kind }, step, expected, actual }) => ({
    kind,
    step,
    expected,
    actual,
  }))
  expect(report.equalObjects / report.objects, JSON.stringify(differences)).toBeGreaterThan(0.98)
})
