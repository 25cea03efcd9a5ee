import { controllerRef, nameIsDNSSubdomain, type Owner, type Reads } from '@kubewright/api'
import { deepCopy } from '@kubewright/base'
import { Pod, type PodDraft, type PodSpec } from '@kubewright/k8s'

/** A pod template, as read from the server. */
export interface TemplateLike {
  readonly metadata?:
    | {
        readonly labels?: Readonly<Record<string, string>> | undefined
        readonly annotations?: Readonly<Record<string, string>> | undefined
        readonly finalizers?: readonly string[] | undefined
      }
    | undefined
  // A PodSpec. The deeply read-only type is not named here, because it slows down the compiler.
  readonly spec?: object | undefined
}

/** A draft of a pod from the owner's template. The server generates its name. */
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

/** The prefix of a workload's pod names. The dash is omitted when it would make the name too long. */
export function namePrefix(name: string): string {
  return nameIsDNSSubdomain(`${name}-`, true).length === 0 ? `${name}-` : name
}
