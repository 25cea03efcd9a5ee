import { nullLogger, systemClock } from '@kubewright/base'
import { MemoryStore } from '@kubewright/storage'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { StoreFeed } from '../../cache/store-feed.ts'
import { RbacAuthorizer } from './rbac-authorizer.ts'
import { RbacPolicy } from './rbac-policy.ts'

const encoder = new TextEncoder()

class Rbac implements AsyncDisposable {
  readonly store = new MemoryStore()
  readonly feed: StoreFeed = new StoreFeed(this.store, systemClock, nullLogger)
  readonly authorizer = new RbacAuthorizer()

  static async start(): Promise<Rbac> {
    const rbac = new Rbac()
    await rbac.feed.start()
    rbac.authorizer.attach(await RbacPolicy.open(rbac.feed))
    return rbac
  }

  /** Stores an object, or deletes it when there is no content. */
  async set(kind: string, namespace: string, name: string, content?: object): Promise<void> {
    const key = `/registry/${kind}/${namespace === '' ? '' : `${namespace}/`}${name}`
    const { entry } = await this.store.get(key)
    const expected = entry?.modRevision ?? 0
    if (content) {
      const metadata = { name, ...(namespace === '' ? {} : { namespace }) }
      await this.store.put(
        key,
        encoder.encode(JSON.stringify({ kind, apiVersion: 'v1', metadata, ...content })),
        expected,
      )
    } else if (entry) await this.store.delete(key, expected)
    await this.feed.reached(await this.store.revision())
  }

  async may(name: string, groups: string[], verb: string, namespace: string) {
    const user = { name, groups }
    return this.authorizer.authorize({
      user,
      verb,
      namespace,
      isResource: true,
      group: '',
      version: 'v1',
      resource: 'pods',
      subresource: '',
      name: '',
      path: '',
    })
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.feed[Symbol.asyncDispose]()
    await this.store[Symbol.asyncDispose]()
  }
}

const podRules = (verb: string) => ({ rules: [{ verbs: [verb], apiGroups: [''], resources: ['pods'] }] })
const binding = (kind: string, role: string, ...subjects: object[]) => ({ roleRef: { kind, name: role }, subjects })

describe('RbacAuthorizer', () => {
  test('allows system:masters everything, without a reason', async () => {
    await using rbac = await Rbac.start()
    expect(await rbac.may('x', ['system:masters'], 'get', '')).toEqual({ allowed: true, reason: '' })
  })

  test('names binding, role and subject in the reason', async () => {
    await using rbac = await Rbac.start()
    await rbac.set('clusterroles', '', 'cr', podRules('get'))
    await rbac.set('roles', 'ns', 'r', podRules('list'))
    await rbac.set(
      'clusterrolebindings',
      '',
      'cb',
      binding('ClusterRole', 'cr', { kind: 'User', name: 'x' }, { kind: 'Group', name: 'devs' }),
    )
    await rbac.set('rolebindings', 'ns', 'b', binding('Role', 'r', { kind: 'ServiceAccount', name: 'bot' }))
    expect(await rbac.may('jane', ['devs'], 'get', 'any')).toEqual({
      allowed: true,
      reason: 'RBAC: allowed by ClusterRoleBinding "cb" of ClusterRole "cr" to Group "devs"',
    })
    expect(await rbac.may('system:serviceaccount:ns:bot', [], 'list', 'ns')).toEqual({
      allowed: true,
      reason: 'RBAC: allowed by RoleBinding "b/ns" of Role "r" to ServiceAccount "bot/ns"',
    })
    expect(await rbac.may('system:serviceaccount:ns:bot', [], 'list', 'other')).toEqual({ allowed: false, reason: '' })
  })

  test('reports each missing role once', async () => {
    await using rbac = await Rbac.start()
    const jane = { kind: 'User', name: 'jane' }
    await rbac.set('clusterrolebindings', '', 'a', binding('ClusterRole', 'gone', jane))
    await rbac.set('clusterrolebindings', '', 'b', binding('ClusterRole', 'gone', jane))
    await rbac.set('rolebindings', 'ns', 'c', binding('Role', 'gone', jane))
    await rbac.set('rolebindings', 'ns', 'd', binding('Odd', 'gone', jane))
    expect((await rbac.may('jane', [], 'get', 'ns')).reason).toBe(
      'RBAC: [clusterrole.rbac.authorization.k8s.io "gone" not found, role.rbac.authorization.k8s.io "gone" not found, unsupported role reference kind: "Odd"]',
    )
  })

  test('follows changes of roles and bindings like a new instance', async () => {
    const change = fc.record({
      kind: fc.constantFrom('roles', 'clusterroles', 'rolebindings', 'clusterrolebindings'),
      namespace: fc.constantFrom('n', 'm'),
      name: fc.constantFrom('a', 'b'),
      role: fc.constantFrom('a', 'b'),
      verb: fc.constantFrom('get', 'list'),
      subject: fc.constantFrom(
        { kind: 'User', name: 'u' },
        { kind: 'Group', name: 'g' },
        { kind: 'ServiceAccount', name: 's', namespace: 'n' },
      ),
      remove: fc.boolean(),
    })
    await fc.assert(
      fc.asyncProperty(fc.array(change, { minLength: 1, maxLength: 12 }), async (changes) => {
        await using rbac = await Rbac.start()
        for (const { kind, namespace, name, role, verb, subject, remove } of changes) {
          const cluster = kind.startsWith('cluster')
          const content = kind.endsWith('bindings')
            ? binding(cluster ? 'ClusterRole' : 'Role', role, subject)
            : podRules(verb)
          await rbac.set(kind, cluster ? '' : namespace, name, remove ? undefined : content)
          const fresh = new RbacAuthorizer()
          fresh.attach(await RbacPolicy.open(rbac.feed))
          for (const [user, groups] of [
            ['u', []],
            ['x', ['g']],
            ['system:serviceaccount:n:s', []],
          ] as [string, string[]][]) {
            for (const asked of ['n', 'm', '']) {
              expect(rbac.authorizer.policyRulesFor({ name: user, groups }, asked)).toEqual(
                fresh.policyRulesFor({ name: user, groups }, asked),
              )
            }
          }
        }
      }),
      { numRuns: 40 },
    )
  })
})
