import { encodeYaml } from '@kubewright/api'

/** An object of a manifest. */
export interface Manifest {
  readonly apiVersion: string
  readonly kind: string
  readonly metadata: {
    readonly name: string
    readonly namespace?: string | undefined
    readonly labels?: Readonly<Record<string, string>> | undefined
    readonly annotations?: Readonly<Record<string, string>> | undefined
  }
  readonly [field: string]: unknown
}

/** The prefix and namespace of generated objects. */
export interface Naming {
  readonly prefix: string
  readonly namespace: string
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
