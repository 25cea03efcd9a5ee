import { encodeYaml } from '@kubewright/api'

/** An object as it is written to a file. */
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

/** How the names of objects are made: kustomize adds prefix and namespace itself, other forms have them from the start. */
export interface Naming {
  readonly prefix: string
  readonly namespace: string
  /** Whether the namespace is somebody else's to make, so that nothing is known of it but its name. @default false */
  readonly isNamespaceGiven?: boolean
}

/** What kustomizations are written with: `config/default` changes both. */
export const baseNaming: Naming = Object.freeze({ prefix: '', namespace: 'system' })

/** Objects as one YAML text, each behind `---` but the first. */
export function yamlOf(...objects: readonly object[]): string {
  return objects.map((object) => encodeYaml(object)).join('---\n')
}

/** Objects as controller-gen writes them: each behind `---`. */
export function generatedYamlOf(...objects: readonly object[]): string {
  return objects.map((object) => `---\n${encodeYaml(object)}`).join('')
}
