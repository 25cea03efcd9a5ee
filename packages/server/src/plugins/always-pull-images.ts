import type { AdmissionAttributes, AdmissionPlugin } from '../admission/admission.ts'
import { isAbout } from './admission-forbidden.ts'

type ContainerLike = { image?: string | undefined; imagePullPolicy?: string | undefined }
type PodLike = {
  spec?:
    | {
        containers?: ContainerLike[] | undefined
        initContainers?: ContainerLike[] | undefined
        volumes?: { image?: { pullPolicy?: string | undefined } | undefined }[] | undefined
      }
    | undefined
}

/** Sets the pull policy of all images of pods to Always, so that a pod cannot use an image that another user has pulled (plugin/pkg/admission/alwayspullimages). */
export const alwaysPullImages: AdmissionPlugin = {
  name: 'AlwaysPullImages',
  resources: ['/pods'],
  mutate: async (attributes) => {
    const { operation, object, old } = attributes
    if (!isAbout(attributes, '', 'pods') || (operation !== 'CREATE' && operation !== 'UPDATE')) return
    const known = new Set(old ? containersOf(old).map(({ image }) => image) : [])
    // An update without new images leaves the pull policies of the pod, which are immutable.
    if (old && containersOf(object).every(({ image }) => known.has(image))) return
    for (const container of containersOf(object)) container.imagePullPolicy = 'Always'
    for (const { image } of (object as PodLike).spec?.volumes ?? []) if (image) image.pullPolicy = 'Always'
  },
}

function containersOf(object: AdmissionAttributes['object']): ContainerLike[] {
  const { containers = [], initContainers = [] } = (object as PodLike | undefined)?.spec ?? {}
  return [...initContainers, ...containers]
}
