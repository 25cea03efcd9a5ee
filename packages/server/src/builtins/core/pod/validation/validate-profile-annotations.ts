import { type FieldError, type FieldPath, forbidden } from '@kubewright/schema'
import type { MutableMeta } from '../../../../resource/object.ts'
import type { PodSpec, SecurityContext } from '../pod-types.ts'
import { visitContainers } from '../visit-containers.ts'

const seccompPod = 'seccomp.security.alpha.kubernetes.io/pod'
const seccompContainer = 'container.seccomp.security.alpha.kubernetes.io/'
const appArmorContainer = 'container.apparmor.security.beta.kubernetes.io/'

/** Checks that the field and the deprecated annotation agree where both set a seccomp profile. */
export function validateSeccompMatch(
  meta: MutableMeta | undefined,
  spec: PodSpec,
  path: FieldPath,
  errors: FieldError[],
): void {
  const annotations = meta?.annotations
  if (!annotations) return
  const check = (profile: SecurityContext['seccompProfile'], key: string, at: FieldPath): void => {
    const annotation = annotations[key]
    if (!profile || annotation === undefined) return
    const where = at.child('securityContext', 'seccompProfile')
    const mismatch = 'seccomp type in annotation and field must match'
    switch (profile.type) {
      case 'Unconfined':
        if (annotation !== 'unconfined') errors.push(forbidden(where.child('type'), mismatch))
        return
      case 'RuntimeDefault':
        if (annotation !== 'runtime/default' && annotation !== 'docker/default') {
          errors.push(forbidden(where.child('type'), mismatch))
        }
        return
      case 'Localhost':
        if (!annotation.startsWith('localhost/')) errors.push(forbidden(where.child('type'), mismatch))
        else if (annotation.slice('localhost/'.length) !== profile.localhostProfile) {
          errors.push(forbidden(where.child('localhostProfile'), 'seccomp profile in annotation and field must match'))
        }
    }
  }
  check(spec.securityContext?.seccompProfile, seccompPod, path)
  visitContainers(spec, path, (container, at) => {
    check(container.securityContext?.seccompProfile, `${seccompContainer}${container.name}`, at)
  })
}

/** As {@link validateSeccompMatch}, for AppArmor. A container without a profile has that of the pod. */
export function validateAppArmorMatch(
  meta: MutableMeta | undefined,
  spec: PodSpec,
  path: FieldPath,
  errors: FieldError[],
): void {
  const annotations = meta?.annotations
  if (!annotations || spec.os?.name === 'windows') return
  visitContainers(spec, path, (container, at) => {
    const profile = container.securityContext?.appArmorProfile ?? spec.securityContext?.appArmorProfile
    const annotation = annotations[`${appArmorContainer}${container.name}`]
    if (!profile || annotation === undefined) return
    const where = at.child('securityContext', 'appArmorProfile')
    const wanted = { Unconfined: 'unconfined', RuntimeDefault: 'runtime/default' }[profile.type ?? '']
    const mismatch = 'apparmor type in annotation and field must match'
    if (wanted !== undefined) {
      if (annotation !== wanted) errors.push(forbidden(where.child('type'), mismatch))
    } else if (profile.type === 'Localhost') {
      if (!annotation.startsWith('localhost/')) errors.push(forbidden(where.child('type'), mismatch))
      else if (annotation.slice('localhost/'.length) !== profile.localhostProfile) {
        errors.push(forbidden(where.child('localhostProfile'), 'apparmor profile in annotation and field must match'))
      }
    }
  })
}
