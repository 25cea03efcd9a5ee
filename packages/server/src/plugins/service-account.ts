import { type Clock, goQuote, type Random, randomSuffix } from '@kubewright/base'
import type { AdmissionAttributes, AdmissionPlugin } from '../admission/admission.ts'
import { secretNamesOf } from '../auth/node/pod-references.ts'
import type { Container, PodLike, PodSpec } from '../builtins/core/pod/pod-types.ts'
import type { ObjectLookup, SharedObject } from '../registry/object-lookup.ts'
import { admissionForbidden } from './admission-forbidden.ts'
import { secretReferenceProblem } from './secret-references.ts'
import { unrequestableName } from './unrequestable-name.ts'

const serviceAccounts = ['', 'v1', 'serviceaccounts'] as const
const defaultName = 'default'
const mirrorAnnotation = 'kubernetes.io/config.mirror'
const enforceAnnotation = 'kubernetes.io/enforce-mountable-secrets'
const volumePrefix = 'kube-api-access-'
const mountPath = '/var/run/secrets/kubernetes.io/serviceaccount'
/** An hour and seven seconds: kube-apiserver recognizes tokens of pods by this lifetime. */
const tokenSeconds = 3607
/** How often to look for the default account, which the controller creates shortly after the namespace. */
const defaultAttempts = 10

/** The fields of a service account that the plugin reads. */
interface ServiceAccountObject extends SharedObject {
  readonly secrets?: readonly { readonly name?: string | undefined }[] | undefined
  readonly imagePullSecrets?: readonly { readonly name?: string | undefined }[] | undefined
  readonly automountServiceAccountToken?: boolean | undefined
}

/** Sets the service account of pods and adds its token volume, volume mounts and image pull secrets. */
export function serviceAccount(parts: { lookup: ObjectLookup; clock: Clock; random: Random }): AdmissionPlugin {
  const { lookup, clock, random } = parts

  const accountOf = async (attributes: AdmissionAttributes, name: string): Promise<ServiceAccountObject> => {
    const { namespace } = attributes
    const attempts = name === defaultName ? defaultAttempts : 1
    const interval = 100 + random.int(100)
    for (let attempt = 1; ; attempt++) {
      const found = await lookup.find(serviceAccounts, namespace, name)
      if (found) return found
      if (attempt === attempts) break
      await clock.sleep(interval, { signal: attributes.context.request.signal })
    }
    throw admissionForbidden(attributes, `error looking up service account ${namespace}/${name}: ${whyMissing(name)}`)
  }

  return {
    name: 'ServiceAccount',
    resources: ['/pods'],
    mutate: async (attributes) => {
      if (!isPodCreate(attributes)) return
      const pod = attributes.object as PodLike
      if (isMirror(pod)) return checkMirror(attributes, pod)
      const spec = (pod.spec ??= {})
      spec.serviceAccountName ||= defaultName
      // The deprecated field mirrors the new one.
      spec.serviceAccount = spec.serviceAccountName
      const account = await accountOf(attributes, spec.serviceAccountName)
      if (spec.automountServiceAccountToken ?? account.automountServiceAccountToken ?? true) {
        mountToken(spec, () => volumePrefix + randomSuffix(random, 5))
      }
      if ((spec.imagePullSecrets ?? []).length === 0 && (account.imagePullSecrets ?? []).length > 0) {
        spec.imagePullSecrets = account.imagePullSecrets!.map(({ name }) => ({ name: name ?? '' }))
      }
    },
    validate: async (attributes) => {
      const ephemeral = isEphemeralUpdate(attributes)
      if (!ephemeral && !isPodCreate(attributes)) return
      const pod = attributes.object as PodLike
      if (!ephemeral && isMirror(pod)) return checkMirror(attributes, pod)
      const name = pod.spec?.serviceAccountName ?? ''
      if (name === '') {
        const why = `no service account specified for pod ${attributes.namespace}/${pod.metadata?.name ?? ''}`
        throw admissionForbidden(attributes, why)
      }
      const account = await accountOf(attributes, name)
      if (!/^(1|t|T|TRUE|true|True)$/.test(account.metadata.annotations?.[enforceAnnotation] ?? '')) return
      const problem = secretReferenceProblem(pod.spec ?? {}, account, ephemeral)
      if (problem !== undefined) throw admissionForbidden(attributes, problem)
    },
  }
}

function isPodCreate({ resource, subresource, operation, object }: AdmissionAttributes): boolean {
  const { group, plural } = resource.kind
  return group === '' && plural === 'pods' && subresource === '' && operation === 'CREATE' && object !== undefined
}

function isEphemeralUpdate({ resource, subresource, operation }: AdmissionAttributes): boolean {
  const { group, plural } = resource.kind
  return group === '' && plural === 'pods' && subresource === 'ephemeralcontainers' && operation === 'UPDATE'
}

function isMirror({ metadata }: PodLike): boolean {
  return metadata?.annotations?.[mirrorAnnotation] !== undefined
}

/** Mirror pods must not use a service account or secrets. */
function checkMirror(attributes: AdmissionAttributes, { spec = {} }: PodLike): void {
  if (spec.serviceAccountName) throw admissionForbidden(attributes, 'a mirror pod may not reference service accounts')
  const tokens = (spec.volumes ?? []).some((volume) =>
    volume.projected?.sources?.some((source) => source.serviceAccountToken !== undefined),
  )
  if (secretNamesOf(spec as Parameters<typeof secretNamesOf>[0]).length > 0) {
    throw admissionForbidden(attributes, 'a mirror pod may not reference secrets')
  }
  if (tokens) throw admissionForbidden(attributes, 'a mirror pod may not use ServiceAccountToken volume projections')
}

function mountToken(spec: PodSpec, freshName: () => string): void {
  const existing = (spec.volumes ?? []).find(({ name }) => name?.startsWith(volumePrefix))?.name
  const name = existing ?? freshName()
  let mounted = false
  for (const container of [...(spec.initContainers ?? []), ...(spec.containers ?? [])] as Container[]) {
    const mounts = container.volumeMounts ?? []
    if (mounts.some((mount) => mount.mountPath === mountPath)) continue
    container.volumeMounts = [...mounts, { name, readOnly: true, mountPath }]
    mounted = true
  }
  if (existing !== undefined || !mounted) return
  const sources = [
    { serviceAccountToken: { expirationSeconds: tokenSeconds, path: 'token' } },
    { configMap: { name: 'kube-root-ca.crt', items: [{ key: 'ca.crt', path: 'ca.crt' }] } },
    {
      downwardAPI: {
        items: [{ path: 'namespace', fieldRef: { apiVersion: 'v1', fieldPath: 'metadata.namespace' } }],
      },
    },
  ]
  spec.volumes = [...(spec.volumes ?? []), { name, projected: { sources, defaultMode: 0o644 } }]
}

function whyMissing(name: string): string {
  return unrequestableName(name) ?? `serviceaccount ${goQuote(name)} not found`
}
