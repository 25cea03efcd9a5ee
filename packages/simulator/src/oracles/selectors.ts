import { controllerOf, type KubeObject } from '@kubewright/api'
import { objectId, textsIn } from '../define/object-id.ts'
import { defineOracle, type RunOracle } from './define-oracle.ts'

/** A Service of an object must not select the pods of another one, unless the user has chosen its labels. */
export const selectors: RunOracle = defineOracle({
  name: 'others',
  property: 'a Service of the operator does not select the pods of another object',
  needs: 'run',
  check({ world: { setup }, objects }, report) {
    if (!setup.cluster.hasPods) return
    const byUid = new Map(objects.map((object) => [object.metadata.uid, object]))
    /** The object of a user at the top of the owners. */
    const subjectOf = (object: KubeObject): KubeObject | undefined => {
      const owner = byUid.get(controllerOf(object)?.uid ?? '')
      if (owner === undefined) return setup.samples.isSubjectKind(object.kind) ? object : undefined
      return subjectOf(owner)
    }
    const pods = objects.filter(({ kind }) => kind === 'Pod')
    for (const service of objects as readonly (KubeObject & {
      readonly spec?: { readonly selector?: object | undefined } | undefined
    })[]) {
      const owner = service.kind === 'Service' ? subjectOf(service) : undefined
      const selector = Object.entries(service.spec?.selector ?? {})
      if (owner === undefined || owner === service || selector.length === 0) continue
      const chosen = new Set(textsIn((owner as { spec?: unknown }).spec))
      if (selector.some(([, value]) => chosen.has(String(value)))) continue
      for (const pod of pods) {
        const other = subjectOf(pod)
        if (other === undefined || other === owner || other.kind !== owner.kind) continue
        const { labels = {}, namespace } = pod.metadata
        if (namespace !== service.metadata.namespace || !selector.every(([key, value]) => labels[key] === value))
          continue
        report(`${objectId(service)} selects pods of ${objectId(other)}`, [
          `its selector is ${selector.map(([key, value]) => `${key}=${value}`).join(', ')}`,
        ])
        return
      }
    }
  },
})
