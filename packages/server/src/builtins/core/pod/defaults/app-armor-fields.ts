import { FieldPath } from '@kubewright/schema'
import type { MutableObject } from '../../../../resource/object.ts'
import { semanticEqual } from '../../../../resource/semantic-equal.ts'
import type { SecurityContext } from '../pod-types.ts'
import { podSpecOf } from '../validation/validate-pod.ts'
import { visitContainers } from '../visit-containers.ts'

type Profile = SecurityContext['appArmorProfile']

const prefix = 'container.apparmor.security.beta.kubernetes.io/'
const localhost = 'localhost/'

/** Copies AppArmor profiles from the deprecated annotations to the fields that replaced them, and warns about each copy. */
export function fillAppArmorFields(pod: MutableObject, warn: (text: string) => void): void {
  const { annotations } = pod.metadata
  const spec = podSpecOf(pod)
  if (!annotations || spec.os?.name === 'windows') return
  visitContainers(spec, FieldPath.of('spec'), (container) => {
    const key = `${prefix}${container.name}`
    const annotation = annotations[key]
    if (annotation === undefined || container.securityContext?.appArmorProfile) return
    const profile = profileOf(annotation)
    if (profile && semanticEqual(profile, spec.securityContext?.appArmorProfile)) return
    if (profile) container.securityContext = { ...container.securityContext, appArmorProfile: profile }
    warn(`metadata.annotations[${key}]: deprecated since v1.30; use the "appArmorProfile" field instead`)
  })
}

/** Parses the profile in an annotation; undefined when it is invalid. */
function profileOf(annotation: string): Profile {
  if (annotation === 'unconfined') return { type: 'Unconfined' }
  if (annotation === 'runtime/default') return { type: 'RuntimeDefault' }
  if (!annotation.startsWith(localhost)) return undefined
  const name = annotation.slice(localhost.length)
  return name !== '' && name.trim() === name ? { type: 'Localhost', localhostProfile: name } : undefined
}
