import { isNotFound, keyOf, parseKey } from '@kubewright/api'
import { Secret, ServiceAccount } from '@kubewright/k8s'
import { type KeyContext, type KeyController, kindSource, when } from '@kubewright/runtime'
import type { ClusterTrust } from '../certificates/cluster-trust.ts'
import { defineBuiltinController } from '../workload/define-builtin-controller.ts'

const tokenType = 'kubernetes.io/service-account-token'
const nameAnnotation = 'kubernetes.io/service-account.name'
const uidAnnotation = 'kubernetes.io/service-account.uid'
const claim = (name: string): string => `kubernetes.io/serviceaccount/${name}`

/** Fills Secrets of type service account token, and deletes them with their account. */
export function tokenController(trust: ClusterTrust): KeyController {
  return defineBuiltinController({
    name: 'serviceaccount-token-controller',
    kind: Secret,
    concurrency: 5,
    sources: [
      kindSource(Secret, { predicates: [when(({ type }) => type === tokenType)] }),
      kindSource(ServiceAccount, {
        map: async ({ metadata: { name, namespace = '' } }, { client }) => {
          const secrets = await client.list(Secret, { namespace })
          return secrets.filter((secret) => secret.type === tokenType && accountOf(secret) === name).map(keyOf)
        },
      }),
    ],
    start:
      ({ cluster: { api } }) =>
      async (key, context) => {
        const { client, signal } = context
        const secret = await client.find(Secret, parseKey(key))
        if (secret?.type !== tokenType || secret.metadata.deletionTimestamp !== undefined) return
        const { namespace = '' } = secret.metadata
        const name = accountOf(secret)
        const wanted = secret.metadata.annotations?.[uidAnnotation]
        const isIt = (found: ServiceAccount | undefined): found is ServiceAccount =>
          found !== undefined && (wanted === undefined || wanted === '' || found.metadata.uid === wanted)
        let account = await client.find(ServiceAccount, { name, namespace })
        // Deleting a token is irreversible, so confirm with the server that the account is gone.
        if (!isIt(account)) account = await api.find(ServiceAccount, { name, namespace }, { signal })
        await (isIt(account) ? fill(secret, account, trust, context) : remove(secret, context))
      },
  })
}

const accountOf = ({ metadata }: Secret): string => metadata.annotations?.[nameAnnotation] ?? ''

async function fill(
  secret: Secret,
  { metadata: account }: ServiceAccount,
  { rootCa, signToken }: ClusterTrust,
  { client }: KeyContext,
): Promise<void> {
  const { name, namespace = '', annotations } = secret.metadata
  const { data = {} } = secret
  const base64 = (text: string): string => Buffer.from(text).toString('base64')
  const token = (): string =>
    signToken({
      iss: 'kubernetes/serviceaccount',
      [claim('namespace')]: namespace,
      [claim('secret.name')]: name,
      [claim('service-account.name')]: account.name,
      [claim('service-account.uid')]: account.uid,
      sub: `system:serviceaccount:${namespace}:${account.name}`,
    })
  const isCurrent = rootCa === undefined || data['ca.crt'] === base64(rootCa)
  const complete = isCurrent && data['namespace'] !== undefined && data['token'] !== undefined
  if (complete && annotations?.[uidAnnotation] === account.uid) return
  await client.update({
    ...secret,
    metadata: { ...secret.metadata, annotations: { ...annotations, [uidAnnotation]: account.uid } },
    data: {
      ...data,
      ...(rootCa === undefined ? {} : { 'ca.crt': base64(rootCa) }),
      namespace: data['namespace'] ?? base64(namespace),
      token: data['token'] ?? base64(token()),
    },
  })
}

async function remove({ metadata: { name, namespace = '', uid } }: Secret, { client }: KeyContext): Promise<void> {
  try {
    await client.delete(Secret, { name, namespace }, { preconditions: { uid } })
  } catch (error) {
    if (!isNotFound(error)) throw error
  }
}
