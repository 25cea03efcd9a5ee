import type { Infer } from '@kubewright/api'
import { Deployment } from '@kubewright/k8s'
import { project } from './projection.ts'

type Equal<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false
const holds = <T extends true>(): T | undefined => undefined

const Ready = project(Deployment, ['status.readyReplicas', 'spec.replicas'])
type Ready = Infer<typeof Ready>

holds<Equal<Ready['metadata'], Infer<typeof Deployment>['metadata']>>()
const read = (deployment: Ready): number => (deployment.status?.readyReplicas ?? 0) - (deployment.spec?.replicas ?? 1)

export { read }

// @ts-expect-error a field outside the projection cannot be read
export const left = (deployment: Ready): unknown => deployment.spec?.selector
// @ts-expect-error the kind has no such path
project(Deployment, ['status.readyReplica'])
