import { definitionFile } from './config-files.ts'
import type { OperatorDescription } from './operator-description.ts'
import type { BundleProblem } from './validate-bundle.ts'

const annotation = 'kubectl.kubernetes.io/last-applied-configuration'
// The limit of an API server for all annotations of an object.
const maxAnnotationBytes = 262_144

/** Warnings about CRDs that `kubectl apply` cannot install, because it stores the whole object in an annotation. */
export function largeDefinitions({ resources }: Pick<OperatorDescription, 'resources'>): BundleProblem[] {
  return resources.flatMap(({ crd }) => {
    const bytes = Buffer.byteLength(JSON.stringify(crd)) + annotation.length
    if (bytes <= maxAnnotationBytes) return []
    const message = `kubectl apply would reject this CRD, because its annotation of ${bytes} bytes exceeds the limit of ${maxAnnotationBytes}: use kubectl apply --server-side or kubewright install, or shorten the descriptions`
    return [{ severity: 'warning' as const, path: `config/crd/bases/${definitionFile(crd)}`, message }]
  })
}
