import { isJsonObject, textOf } from '@kubewright/base'
import type { Manifest } from './manifest.ts'

/** A feature of Kubernetes, with the first minor version that serves it by default. */
interface Feature {
  readonly minor: number
  readonly isUsed: (field: string, value: unknown) => boolean
}

// Server-side apply and the APIs of all generated objects are served by default from this version on.
const base = 25

const features: readonly Feature[] = [
  // CEL in the schemas of CRDs. A server accepts a function in new rules one version after the version that introduced it.
  { minor: 25, isUsed: (field) => field === 'x-kubernetes-validations' },
  { minor: 27, isUsed: (field) => field === 'messageExpression' },
  { minor: 28, isUsed: (field) => field === 'matchConditions' },
  { minor: 29, isUsed: (field, value) => field === 'rule' && /\b(isQuantity|quantity)\(/.test(textOf(value)) },
  { minor: 30, isUsed: (field) => field === 'optionalOldSelf' },
  { minor: 31, isUsed: (field, value) => field === 'rule' && /\b(isIP|ip|isCIDR|cidr)\(/.test(textOf(value)) },
  {
    minor: 32,
    isUsed: (field, value) =>
      field === 'rule' && /\bformat\.(named|dns|uri|uuid|byte|date|qualified|label)/.test(textOf(value)),
  },
  { minor: 31, isUsed: (field) => field === 'selectableFields' },
  { minor: 34, isUsed: (field, value) => field === 'rule' && /\b(isSemver|semver)\(/.test(textOf(value)) },
  // Sidecar containers.
  { minor: 29, isUsed: (field, value) => field === 'initContainers' && hasSidecar(value) },
  {
    minor: 30,
    isUsed: (field, value) => field === 'kind' && /^ValidatingAdmissionPolicy(Binding)?$/.test(textOf(value)),
  },
]

/** The lowest version of Kubernetes that serves all features of the objects, such as `1.25.0`. */
export function minKubeVersion(objects: readonly Manifest[]): string {
  let minor = base
  const visit = (value: unknown): void => {
    if (Array.isArray(value)) for (const item of value) visit(item)
    if (!isJsonObject(value)) return
    for (const [field, inner] of Object.entries(value)) {
      for (const feature of features) {
        if (feature.minor > minor && feature.isUsed(field, inner)) minor = feature.minor
      }
      visit(inner)
    }
  }
  visit(objects)
  return `1.${minor}.0`
}

function hasSidecar(value: unknown): boolean {
  return Array.isArray(value) && value.some((item) => isJsonObject(item) && item['restartPolicy'] === 'Always')
}
