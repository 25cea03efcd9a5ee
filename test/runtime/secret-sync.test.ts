// The operator of a tutorial that copies Secrets to other namespaces. Its last version has bugs; each is covered by a
// test here.
import { defineResource, type Infer, isNotFound } from '@kubewright/api'
import { deepEqual } from '@kubewright/base'
import type { ApiClient } from '@kubewright/client'
import { Namespace, Secret } from '@kubewright/k8s'
import { type Controller, defineController, watch } from '@kubewright/runtime'
import { s } from '@kubewright/schema'
import { expect, test } from 'vitest'
import { startHarness } from './operator-harness.ts'

const SecSynch = defineResource({
  group: 'tutorial.study.dev',
  version: 'v1alpha1',
  kind: 'SecSynch',
  plural: 'secsynches',
  spec: s.object({
    sourceNamespace: s.string(),
    destinationNamespaces: s.array(s.string()),
    secretName: s.string(),
  }),
  status: s.object({ copies: s.int() }),
})
type SecSynch = Infer<typeof SecSynch>

const copiesOf = (synch: SecSynch) =>
  synch.spec.destinationNamespaces.map((namespace) => ({ name: synch.spec.secretName, namespace }))

/**
 * Copies cannot be children, since owners must be in the same namespace: they are applied with the client, and deleted
 * in cleanup.
 */
function secretSync(calls: string[] = []): Controller {
  return defineController(SecSynch, {
    finalizer: 'tutorial.study.dev/finalizer',
    // Only changes of the spec, as in the tutorial.
    predicates: [{ update: (before, after) => !deepEqual(before.spec, after.spec) }],
    watches: [
      watch(Secret, async (secret, { client }) => {
        const { name, namespace } = secret.metadata
        const all = await client.list(SecSynch)
        return all
          .filter(({ spec }) => spec.secretName === name && spec.sourceNamespace === namespace)
          .map(({ metadata }) => metadata)
      }),
    ],
    async reconcile(synch, { client }) {
      calls.push('reconcile')
      const { sourceNamespace, secretName } = synch.spec
      const source = await client.find(Secret, { name: secretName, namespace: sourceNamespace })
      const copies = copiesOf(synch)
      for (const metadata of copies) {
        if (source === undefined) await ignoringMissing(client.delete(Secret, metadata))
        else
          await client.apply(Secret({ metadata, type: source.type ?? 'Opaque', data: { ...source.data } }), {
            force: true,
          })
      }
      return { status: { copies: source === undefined ? 0 : copies.length } }
    },
    async cleanup(synch, { client }) {
      calls.push('cleanup')
      for (const key of copiesOf(synch)) await ignoringMissing(client.delete(Secret, key))
    },
  })
}

async function ignoringMissing(running: Promise<unknown>): Promise<void> {
  try {
    await running
  } catch (error) {
    if (!isNotFound(error)) throw error
  }
}

const prepare = async (client: ApiClient): Promise<void> => {
  for (const name of ['a1', 'a2']) await client.create(Namespace({ metadata: { name } }))
  await client.create(Secret({ metadata: { name: 'secret-a' }, stringData: { password: 'AaAaAa' } }))
}
const synch = () =>
  SecSynch({
    metadata: { name: 'sync' },
    spec: { sourceNamespace: 'default', destinationNamespaces: ['a1', 'a2'], secretName: 'secret-a' },
  })
const copy = (namespace: string) => ({ name: 'secret-a', namespace })

test('the source is copied, and its changes are copied too', async () => {
  await using env = await startHarness({ controllers: [secretSync()], kinds: [SecSynch], prepare })
  await env.client.create(synch())
  for (const namespace of ['a1', 'a2']) await env.untilObject(Secret, copy(namespace), () => true)
  const password = Buffer.from('changed').toString('base64')
  await env.client.patch(Secret, 'secret-a', { data: { password } })
  for (const namespace of ['a1', 'a2']) {
    await env.untilObject(Secret, copy(namespace), (secret) => secret.data?.['password'] === password)
  }
})

test('bug (a): a predicate on the spec does not suppress the deletion', async () => {
  const calls: string[] = []
  await using env = await startHarness({ controllers: [secretSync(calls)], kinds: [SecSynch], prepare })
  await env.client.create(synch())
  await env.untilObject(Secret, copy('a2'), () => true)
  await env.client.delete(SecSynch, 'sync')
  await env.untilGone(SecSynch, 'sync')
  expect(calls.at(-1)).toBe('cleanup')
  for (const namespace of ['a1', 'a2']) expect(await env.client.find(Secret, copy(namespace))).toBeUndefined()
  expect((await env.client.get(Secret, 'secret-a')).metadata.name).toBe('secret-a')
})

test('bug (b): missing copies do not block the deletion of the object', async () => {
  await using env = await startHarness({ controllers: [secretSync()], kinds: [SecSynch], prepare })
  await env.client.create(synch())
  await env.untilObject(Secret, copy('a2'), () => true)
  await env.client.delete(Secret, copy('a1'))
  await env.client.delete(SecSynch, 'sync')
  await env.untilGone(SecSynch, 'sync')
  expect(await env.client.find(Secret, copy('a2'))).toBeUndefined()
})

test('bug (c): deleting the source deletes its copies', async () => {
  await using env = await startHarness({ controllers: [secretSync()], kinds: [SecSynch], prepare })
  await env.client.create(synch())
  await env.untilObject(Secret, copy('a2'), () => true)
  await env.client.delete(Secret, 'secret-a')
  for (const namespace of ['a1', 'a2']) await env.untilGone(Secret, copy(namespace))
  await env.untilObject(SecSynch, 'sync', ({ status }) => status?.copies === 0)
})

test('the finalizer, the copies and the status cause no further reconcile', async () => {
  const calls: string[] = []
  await using env = await startHarness({ controllers: [secretSync(calls)], kinds: [SecSynch], prepare })
  await env.client.create(synch())
  await env.untilObject(SecSynch, 'sync', ({ status }) => status?.copies === 2)
  await env.settle('10s')
  expect(calls).toEqual(['reconcile'])
})
