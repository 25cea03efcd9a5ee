import { encodeYaml } from '@kubewright/api'

/** An object of a manifest. */
export interface Manifest {
  readonly apiVersion: string
  readonly kind: string
  readonly metadata: {
    readonly name: string
    readonly namespace?: string
    readonly labels?: Readonly<Record<string, string>>
    readonly annotations?: Readonly<Record<string, string>>
  }
  readonly [field: string]: unknown
}

/** The prefix and namespace of generated objects. kustomize adds both itself; other forms contain them. */
export interface Naming {
  readonly prefix: string
  readonly namespace: string
  /** Whether the namespace is created by another tool, so that only its name is known. @default false */
  readonly isNamespaceGiven?: boolean
}

/** The naming in kustomize files. `config/default` changes both. */
export const baseNaming: Naming = Object.freeze({ prefix: '', namespace: 'system' })

/** Objects as one YAML text, separated by `---`. */
export function yamlOf(...objects: readonly object[]): string {
  return objects.map((object) => encodeYaml(object)).join('---\n')
}

/** Objects as controller-gen writes them: each after a `---`. */
export function generatedYamlOf(...objects: readonly object[]): string {
  return objects.map((object) => `---\n${encodeYaml(object)}`).join('')
}
