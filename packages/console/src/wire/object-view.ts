import type { ObjectName } from './names.ts'

/** One line of an object's YAML. */
export interface YamlLine {
  readonly text: string
  /** Indexes into `managers` of the field managers that own the field of this line. */
  readonly owners: readonly number[]
}

/** A field manager of an object, from metadata.managedFields. */
export interface Manager {
  readonly name: string
  readonly operation: string
  readonly subresource?: string | undefined
  /** RFC 3339. */
  readonly time?: string | undefined
}

/** A condition in the status of an object. */
export interface ConditionView {
  readonly type: string
  readonly status: string
  readonly reason: string
  readonly message: string
  /** RFC 3339; empty if the object does not state it. */
  readonly since: string
}

/** An owner of an object. The name has a resource only if the cluster serves the owner's kind. */
export interface OwnerView {
  readonly kind: string
  readonly controller: boolean
  readonly object?: ObjectName | undefined
  readonly name: string
}

/** A container of a pod. */
export interface ContainerView {
  readonly name: string
  /** Differs between the runs of the container; empty until it ran first. */
  readonly run: string
  /** The TCP ports that the container declares. */
  readonly ports: readonly number[]
}

/** Everything that the page shows about one object. Values of Secrets are masked unless the page asked for them. */
export interface ObjectView {
  readonly apiVersion: string
  readonly kind: string
  readonly name: string
  readonly namespace?: string | undefined
  readonly uid: string
  readonly resourceVersion: string
  /** RFC 3339. */
  readonly created: string
  /** RFC 3339; absent unless the object is being deleted. */
  readonly deleting?: string | undefined
  readonly finalizers: readonly string[]
  readonly labels: Readonly<Record<string, string>>
  readonly annotations: Readonly<Record<string, string>>
  readonly owners: readonly OwnerView[]
  readonly conditions: readonly ConditionView[]
  /** spec.replicas, if the object has it. */
  readonly replicas?: number | undefined
  /** Of pods: the containers. */
  readonly containers?: readonly ContainerView[] | undefined
  /** Of nodes: whether new pods are kept away. */
  readonly unschedulable?: boolean | undefined
  readonly lines: readonly YamlLine[]
  readonly managers: readonly Manager[]
  /** Whether values of this object are hidden. */
  readonly masked: boolean
}
