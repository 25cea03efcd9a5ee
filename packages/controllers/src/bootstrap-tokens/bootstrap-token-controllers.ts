import { isConflict, isNotFound, keyOf, parseKey } from '@kubewright/api'
import { ConfigMap, Secret } from '@kubewright/k8s'
import { type KeyController, kindSource, when } from '@kubewright/runtime'
import { defineBuiltinController } from '../workload/define-builtin-controller.ts'
import { smallest } from '../workload/extremes.ts'
import { bootstrapTokenType, planSignatures, tokenValidFor } from './bootstrap-token.ts'

const tokens = { namespaces: ['kube-system'], fieldSelector: `type=${bootstrapTokenType}` }
const info = { namespace: 'kube-public', name: 'cluster-info' }
const infoScope = { namespaces: [info.namespace], fieldSelector: `metadata.name=${info.name}` }

/** Deletes bootstrap tokens that have expired. */
export const tokenCleaner: KeyController = /* @__PURE__ */ defineBuiltinController({
  name: 'token-cleaner-controller',
  kind: Secret,
  sources: [
    kindSource(Secret, { scope: tokens, predicates: [when<Secret>(({ type }) => type === bootstrapTokenType)] }),
  ],
  start:
    ({ clock, cluster: { api } }) =>
    async (key) => {
      // The cache holds these Secrets in a scope of their own, which the cached client does not read.
      const secret = await api.find(Secret, parseKey(key))
      if (secret?.type !== bootstrapTokenType) return undefined
      const left = tokenValidFor(secret, clock.now())
      if (left > 0) return Number.isFinite(left) ? { requeueAfter: left } : undefined
      try {
        await api.delete(Secret, parseKey(key), { preconditions: { uid: secret.metadata.uid } })
      } catch (error) {
        if (!isNotFound(error) && !isConflict(error)) throw error
      }
      return undefined
    },
})

/** Signs the ConfigMap `cluster-info` with each bootstrap token, so that a joining node can trust it before it trusts the server. */
export const bootstrapSigner: KeyController = /* @__PURE__ */ defineBuiltinController({
  name: 'bootstrap-signer-controller',
  kind: ConfigMap,
  sources: [
    kindSource(Secret, { scope: tokens, map: () => [`${info.namespace}/${info.name}`] }),
    kindSource(ConfigMap, { scope: infoScope, map: (map) => [keyOf(map)] }),
  ],
  start:
    ({ clock, cluster: { api } }) =>
    async () => {
      const map = await api.find(ConfigMap, info)
      if (map === undefined) return undefined
      const fields = { type: bootstrapTokenType }
      const secrets = await api.list(Secret, { namespace: 'kube-system', fields })
      const now = clock.now()
      const data = planSignatures(map, secrets, now)
      if (data !== undefined) {
        try {
          await api.update({ ...map, data })
        } catch (error) {
          // Another write came first; its event requeues the ConfigMap.
          if (!isNotFound(error) && !isConflict(error)) throw error
        }
      }
      const next = smallest(secrets.map((secret) => tokenValidFor(secret, now)).filter((left) => left > 0))
      return Number.isFinite(next) ? { requeueAfter: next } : undefined
    },
})
