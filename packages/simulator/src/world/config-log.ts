import type { KubeObject } from '@kubewright/api'
import { objectId } from '../define/object-id.ts'

type Values = Readonly<Record<string, string>>

interface Version {
  readonly time: number
  readonly values: Values
}

/** The values of the ConfigMaps and Secrets that the operator writes, over time. */
export class ConfigLog {
  readonly #versions = new Map<string, Version[]>()

  /** Records the result of a write at a wall time. */
  see(object: KubeObject, time: number): void {
    if (object.kind !== 'ConfigMap' && object.kind !== 'Secret') return
    const { data = {} } = object as { data?: Values | undefined }
    const id = objectId(object)
    const versions = this.#versions.get(id) ?? []
    this.#versions.set(id, versions)
    versions.push({ time, values: data })
  }

  /** The values of an object at a time; undefined if the operator had not written it. */
  at(id: string, time: number): Values | undefined {
    return this.#versions.get(id)?.findLast((version) => version.time <= time)?.values
  }
}
