import { keyOf, parseKey } from '@kubewright/api'
import type { Client } from '@kubewright/client'
import { PersistentVolume, PersistentVolumeClaim, Pod, StorageClass } from '@kubewright/k8s'
import { changed, type KeyController, kindSource } from '@kubewright/runtime'
import { defineBuiltinController } from '../workload/define-builtin-controller.ts'
import { claimsOf } from './claims-of-pod.ts'
import { syncClaim } from './sync-claim.ts'
import { syncVolume } from './sync-volume.ts'

const claimKey = (key: string): string => `claim:${key}`
const volumeKey = (name: string): string => `volume:${name}`

async function waitingClaims(client: Client): Promise<string[]> {
  const claims = await client.list(PersistentVolumeClaim, { namespace: '' })
  return claims.filter(({ status }) => status?.phase !== 'Bound').map((claim) => claimKey(keyOf(claim)))
}

/** Binds claims to volumes, provisions volumes, and reclaims those whose claims are gone. */
export const volumeBinder: KeyController = /* @__PURE__ */ defineBuiltinController({
  name: 'persistentvolume-binder-controller',
  reporter: 'persistentvolume-controller',
  kind: PersistentVolumeClaim,
  sources: [
    kindSource(PersistentVolumeClaim, {
      map: (claim) => {
        const { volumeName = '' } = claim.spec ?? {}
        return [claimKey(keyOf(claim)), ...(volumeName === '' ? [] : [volumeKey(volumeName)])]
      },
    }),
    kindSource(PersistentVolume, {
      map: async ({ metadata, spec }, { client }) => {
        const { name, namespace } = spec?.claimRef ?? {}
        const claims = name === undefined ? await waitingClaims(client) : [claimKey(`${namespace}/${name}`)]
        return [volumeKey(metadata.name), ...claims]
      },
    }),
    kindSource(StorageClass, { map: (_, { client }) => waitingClaims(client) }),
    kindSource(Pod, { predicates: [changed('spec.volumes')], map: (pod) => claimsOf(pod).map(claimKey) }),
  ],
  start:
    ({ cluster: { api } }) =>
    async (key, context) => {
      const { client } = context
      const [what] = key.split(':', 1)
      const rest = key.slice(`${what}:`.length)
      if (what === 'volume') {
        const volume = await client.find(PersistentVolume, rest)
        if (volume !== undefined) await syncVolume(volume, context, api)
      } else {
        const claim = await client.find(PersistentVolumeClaim, parseKey(rest))
        if (claim !== undefined) await syncClaim(claim, context)
      }
    },
})
