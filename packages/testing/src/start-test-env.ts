import type { Operator } from '@kubewright/runtime'
import { startOnCluster } from './cluster-env.ts'
import { clusterVariable } from './cluster-plane.ts'
import { startFrom } from './embedded-env.ts'
import type { TestEnv, TestEnvOptions } from './test-env.ts'

/**
 * Starts a new control plane, installs the kinds that the operator defines, and runs the operator on it. Environments
 * are independent: any number can run in one process at the same time. Without an operator only the control plane runs.
 *
 * With the environment variable KUBEWRIGHT_TEST_CLUSTER (a kubeconfig file or a context) the environment uses that cluster instead
 * of a control plane of its own, in a new namespace and in real time.
 */
export function startTestEnv(operator?: Operator, options: TestEnvOptions = {}): Promise<TestEnv> {
  const cluster = process.env[clusterVariable]
  if (cluster !== undefined && cluster !== '') return startOnCluster(operator, options, cluster)
  return startFrom(operator, options, undefined)
}
