import { controllerRef, nameIsDNSSubdomain, type Owner, type Reads } from '@kubewright/api'
import { deepCopy } from '@kubewright/base'
import { Pod, type PodDraft, type PodSpec } from '@kubewright/k8s'

/** The part of a workload that pods are made from, as read. */
export interface TemplateLike {
  readonly metadata?:
    | {
        readonly labels?: Readonly<Record<string, string>>
        readonly annotations?: Readonly<Record<string, string>>
        readonly finalizers?: readonly string[]
      }
    | undefined
  // A PodSpec, as read: naming the deeply readonly type here would only slow the compiler down.
  readonly spec?: object | undefined
}

/** A draft of a pod that the owner's template asks for; the server will name it. */
export function podFromTemplate(template: TemplateLike, owner: Owner): PodDraft & Reads<Pod> {
  const { labels, annotations, finalizers } = template.metadata ?? {}
  return Pod({
    metadata: {
      name: '',
      generateName: namePrefix(owner.metadata.name),
      ...(owner.metadata.namespace === undefined ? {} : { namespace: owner.metadata.namespace }),
      labels: { ...labels },
      annotations: { ...annotations },
      ...(finalizers ? { finalizers: [...finalizers] } : {}),
      ownerReferences: [controllerRef(owner)],
    },
    spec: deepCopy<unknown>(template.spec ?? { containers: [] }) as PodSpec,
  })
}

/** What the names of a workload's pods start with: a dash is left out where it would make the name too long. */
export function namePrefix(name: string): string {
  return nameIsDNSSubdomain(`${name}-`, true).length === 0 ? `${name}-` : name
}
