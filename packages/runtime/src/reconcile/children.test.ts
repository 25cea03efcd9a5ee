import { controllerRef, defineResource, isConflict, keyOf, ownerRef, type TypeMeta } from '@kubewright/api'
import { isKubewrightError } from '@kubewright/base'
import { ClusterRole, ConfigMap, Deployment, Namespace, Secret, Service } from '@kubewright/k8s'
import * as autoscalingV1 from '@kubewright/k8s/autoscaling/v1'
import * as autoscalingV2 from '@kubewright/k8s/autoscaling/v2'
import { s } from '@kubewright/schema'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { RetryLater } from '../controller/reconcile-errors.ts'
import type { ApplyChildOptions } from '../define/context.ts'
import { type Controller, type ControllerOptions, defineController } from '../define/define-controller.ts'
import { owned } from '../define/watched-kinds.ts'
import { type Bench, startBench } from './testdata/bench.ts'
import { Home, install } from './testdata/home.ts'

let bench: Bench
beforeEach(async () => {
  bench = await startBench()
})
afterEach(async () => {
  await bench[Symbol.asyncDispose]()
})

const create = (name = 'cosy') => bench.client.create(Home({ metadata: { name }, spec: { image: 'nginx:1.27' } }))
const deploymentPath = 'PATCH /apis/apps/v1/namespaces/default/deployments/cosy'
const mapPath = (name: string) => `/api/v1/namespaces/default/configmaps/${name}`

const deploymentFor = (home: Home, env?: { name: string; value: string }[]) =>
  Deployment({
    metadata: { name: home.metadata.name },
    spec: {
      replicas: home.spec.replicas,
      selector: { matchLabels: { app: home.metadata.name } },
      template: {
        metadata: { labels: { app: home.metadata.name } },
        spec: {
          containers: [
            {
              name: 'web',
              image: home.spec.image,
              ...(env && { env }),
              ports: [{ containerPort: 8080 }],
              // The server normalizes the quantity and sets defaults in the empty object.
              resources: { requests: { cpu: '1000m' } },
              securityContext: {},
            },
          ],
        },
      },
    },
  })

/** A controller that applies the children which a test sets. */
function applying(
  children: () => readonly TypeMeta[],
  options: Partial<ControllerOptions<Home, never>> = {},
  applyOptions?: ApplyChildOptions,
): Controller {
  return defineController(Home, {
    owns: [Deployment, Service, ConfigMap, ClusterRole],
    ...options,
    async reconcile(_, { apply }) {
      for (const child of children()) await apply(child, applyOptions)
    },
  })
}
const map = (name: string, data: Record<string, string> = { some: 'thing' }) => ConfigMap({ metadata: { name }, data })
const failureOf = (running: Promise<unknown>): Promise<unknown> =>
  running.then(
    () => undefined,
    (error: unknown) => error,
  )

describe('apply()', () => {
  test('sets the owner, the namespace and the field manager of the controller', async () => {
    const home = await create()
    const seen: unknown[] = []
    const controller = defineController(Home, {
      owns: [Deployment],
      async reconcile(object, { apply }) {
        const deployment = await apply(deploymentFor(object))
        seen.push(deployment.metadata.uid, Object.isFrozen(deployment.spec), deployment.spec?.strategy?.type)
      },
    })
    await bench.run(controller)('default/cosy')
    const deployment = await bench.client.get(Deployment, 'cosy')
    expect(seen).toEqual([deployment.metadata.uid, true, 'RollingUpdate'])
    expect(deployment.metadata.ownerReferences).toEqual([controllerRef(home)])
    expect(deployment.metadata.managedFields).toMatchObject([{ manager: 'home-operator/home', operation: 'Apply' }])
  })

  test('reports an apply without await, instead of ending the process by its rejection', async () => {
    await create()
    const forgetful = (name: string) =>
      bench.run(
        defineController(Home, {
          owns: [ConfigMap],
          reconcile(_, { apply }) {
            void apply(map(name))
          },
        }),
      )
    const late = await failureOf(forgetful('late')('default/cosy'))
    expect(late).toMatchObject({
      code: 'KW_NOT_AWAITED',
      message:
        "The reconcile of Home default/cosy returned before its apply of ConfigMap late ended: write 'await apply(...)'",
    })
    expect((await bench.client.get(ConfigMap, 'late')).data).toEqual({ some: 'thing' })
    const invalid = await failureOf(forgetful('Not Valid')('default/cosy'))
    expect(invalid).toMatchObject({ code: 'KW_NOT_AWAITED', cause: { reason: 'Invalid' } })
  })

  test('accepts applies that end together', async () => {
    await create()
    const reconcile = bench.run(
      defineController(Home, {
        owns: [ConfigMap],
        async reconcile(_, { apply }) {
          await Promise.all(['a', 'b', 'c'].map((name) => apply(map(name))))
        },
      }),
    )
    for (let i = 0; i < 2; i++) expect(await failureOf(reconcile('default/cosy'))).toBeUndefined()
  })

  test('repairs drift of values that the server moved, and removes their keys (stringData of a Secret)', async () => {
    await create()
    let stringData: Record<string, string> = { user: 'admin', password: 'secret' }
    const secret = () => Secret({ metadata: { name: 'login' }, data: { pin: 'MQ==' }, stringData })
    const reconcile = bench.run(applying(() => [secret()], { owns: [Secret] }))
    const values = async () => (await bench.client.get(Secret, 'login')).data
    for (let i = 0; i < 3; i++) await reconcile('default/cosy')
    expect(bench.writes()).toEqual(['PATCH /api/v1/namespaces/default/secrets/login'])
    await bench.client.patch(Secret, 'login', { data: { password: 'b3RoZXI=', pin: 'Mg==' } })
    await reconcile('default/cosy')
    expect(await values()).toEqual({ user: 'YWRtaW4=', password: 'c2VjcmV0', pin: 'MQ==' })
    stringData = { password: 'secret' }
    await reconcile('default/cosy')
    expect(await values()).toEqual({ password: 'c2VjcmV0', pin: 'MQ==' })
  })

  test('sends no request while nothing would change, whatever defaults the server set (no hot loop)', async () => {
    await create()
    const reconcile = bench.run(
      defineController(Home, {
        owns: [Deployment, Service],
        async reconcile(home, { apply }) {
          await apply(deploymentFor(home))
          const ports = [
            { name: 'a', port: 80, targetPort: 8080 },
            { name: 'b', port: 80, protocol: 'UDP' as const },
          ]
          await apply(Service({ metadata: { name: 'cosy' }, spec: { selector: { app: 'cosy' }, ports } }))
        },
      }),
    )
    await reconcile('default/cosy')
    expect(bench.writes()).toHaveLength(2)
    await reconcile('default/cosy')
    // The status that the child's own controller writes does not matter.
    await bench.client.subresource(Deployment, 'status').patch('cosy', { status: { readyReplicas: 1, replicas: 1 } })
    await reconcile('default/cosy')
    expect(bench.writes()).toEqual([])
    expect([...bench.counts]).toEqual([
      ['kubewright_child_applies_total written', 2],
      ['kubewright_child_applies_total unchanged', 4],
    ])
  })

  describe('of an owner that the server does not have any more', () => {
    const live = async (name: string) => bench.client.find(ConfigMap, name)
    /** Runs `change` after the reconciler has read its owner, before it reads the child. */
    const onceOwnerIsRead = (change: () => Promise<unknown>) => {
      let isDone = false
      bench.before = async ({ text }) => {
        if (isDone || text !== `GET ${mapPath('child')}`) return
        isDone = true
        await change()
      }
    }
    const recreate = async () => {
      await bench.client.delete(Home, 'cosy')
      return create()
    }

    test('does not create children', async () => {
      await create()
      onceOwnerIsRead(() => bench.client.delete(Home, 'cosy'))
      const reconcile = bench.run(applying(() => [map('child')]))
      await expect(reconcile('default/cosy')).rejects.toThrow('Home default/cosy was deleted: waiting')
      expect(bench.writes()).toEqual([])
      expect(await live('child')).toBeUndefined()
    })

    test('does not take the children of its successor', async () => {
      await create()
      let successor: Home | undefined
      onceOwnerIsRead(async () => {
        successor = await recreate()
      })
      bench.after = async ({ text }) => {
        if (text !== `GET ${mapPath('child')}` || successor === undefined) return
        const metadata = { name: 'child', ownerReferences: [controllerRef(successor)] }
        await bench.client.apply(ConfigMap({ metadata }), { fieldManager: 'home-operator/home' })
        bench.after = () => undefined
      }
      const reconcile = bench.run(applying(() => [map('child')]))
      await expect(reconcile('default/cosy')).rejects.toBeInstanceOf(RetryLater)
      expect((await live('child'))?.metadata.ownerReferences).toEqual([controllerRef(successor!)])
      await reconcile('default/cosy')
      expect((await live('child'))?.data).toEqual({ some: 'thing' })
    })

    test('does not adopt orphans', async () => {
      await create()
      await bench.client.create(map('child'))
      onceOwnerIsRead(recreate)
      const reconcile = bench.run(applying(() => [map('child')], { adopt: 'orphans' }))
      await expect(reconcile('default/cosy')).rejects.toThrow('was deleted and created again')
      expect((await live('child'))?.metadata.ownerReferences).toBeUndefined()
    })

    test('does not create children once the deletion has begun', async () => {
      await create()
      await bench.client.patch(Home, 'cosy', { metadata: { finalizers: ['example.com/wait'] } })
      onceOwnerIsRead(() => bench.client.delete(Home, 'cosy'))
      const reconcile = bench.run(applying(() => [map('child')]))
      await expect(reconcile('default/cosy')).rejects.toThrow('is being deleted')
      expect(await live('child')).toBeUndefined()
    })

    test('costs one request per reconcile that creates children, else none', async () => {
      await create()
      const reconcile = bench.run(applying(() => [map('a'), map('b')]))
      const readsOfOwner = async () => {
        bench.requests.length = 0
        await reconcile('default/cosy')
        return bench.requests.filter(({ text }) => text.endsWith('/homes/cosy')).length
      }
      // The bench has no cache: the reconciler reads its owner once.
      expect(await readsOfOwner()).toBe(2)
      expect(await readsOfOwner()).toBe(1)
    })
  })

  test('sends at most one write without effect in a new process', async () => {
    await create()
    const controller = defineController(Home, {
      owns: [Deployment],
      reconcile: async (home, { apply }) => void (await apply(deploymentFor(home))),
    })
    await bench.run(controller)('default/cosy')
    const { resourceVersion } = (await bench.client.get(Deployment, 'cosy')).metadata
    bench.writes()
    const reconcile = bench.run(controller)
    await reconcile('default/cosy')
    await reconcile('default/cosy')
    expect(bench.writes()).toEqual([deploymentPath])
    expect((await bench.client.get(Deployment, 'cosy')).metadata.resourceVersion).toBe(resourceVersion)
  })

  test('sends one more request when the server dropped empty values', async () => {
    await create()
    const controller = defineController(Home, {
      owns: [Deployment],
      reconcile: async (home, { apply }) => void (await apply(deploymentFor(home, []))),
    })
    const reconcile = bench.run(controller)
    for (let round = 0; round < 4; round++) await reconcile('default/cosy')
    expect(bench.writes()).toEqual([deploymentPath, deploymentPath])
  })

  test('restores fields that others changed or removed, and keeps fields that they added', async () => {
    await create()
    const reconcile = bench.run(applying(() => [map('a', { colour: 'red', size: 'small' })]))
    await reconcile('default/cosy')
    const drifts = [{ data: { colour: 'blue' } }, { data: { size: null } }, { metadata: { ownerReferences: null } }]
    for (const drift of drifts) {
      await bench.client.patch(ConfigMap, 'a', { ...drift, metadata: { labels: { theirs: 'x' }, ...drift.metadata } })
      await reconcile('default/cosy')
      const { data, metadata } = await bench.client.get(ConfigMap, 'a')
      expect([data, metadata.labels, metadata.ownerReferences?.length]).toEqual([
        { colour: 'red', size: 'small' },
        { theirs: 'x' },
        1,
      ])
    }
  })

  test('removes fields that are no longer applied, and preserves the order of keyed lists', async () => {
    await create()
    let env = [
      { name: 'A', value: '1' },
      { name: 'B', value: '2' },
    ]
    const reconcile = bench.run(
      defineController(Home, {
        owns: [Deployment],
        reconcile: async (home, { apply }) => void (await apply(deploymentFor(home, env))),
      }),
    )
    const names = async () => {
      const { spec } = await bench.client.get(Deployment, 'cosy')
      return spec?.template.spec?.containers[0]?.env?.map(({ name }) => name)
    }
    await reconcile('default/cosy')
    env = [...env].reverse()
    await reconcile('default/cosy')
    expect(await names()).toEqual(['B', 'A'])
    env = env.slice(1)
    await reconcile('default/cosy')
    expect(await names()).toEqual(['A'])
  })

  test('takes over fields from other managers, unless force is false', async () => {
    await create()
    await bench.run(applying(() => [map('a', { colour: 'red' })]))('default/cosy')
    await bench.client.apply(ConfigMap, { metadata: { name: 'a' }, data: { colour: 'blue' } }, { force: true })
    const polite = bench.run(applying(() => [map('a', { colour: 'red' })], {}, { force: false }))
    expect(isConflict(await failureOf(polite('default/cosy')))).toBe(true)
    await bench.run(applying(() => [map('a', { colour: 'red' })]))('default/cosy')
    expect((await bench.client.get(ConfigMap, 'a')).data).toEqual({ colour: 'red' })
  })

  test('keeps further owners of the draft', async () => {
    const home = await create()
    const other = ownerRef(await create('other'))
    const child = ConfigMap({ metadata: { name: 'a', ownerReferences: [other] }, data: {} })
    await bench.run(applying(() => [child]))('default/cosy')
    const { ownerReferences } = (await bench.client.get(ConfigMap, 'a')).metadata
    expect(ownerReferences).toEqual([other, controllerRef(home)])
  })

  test('rejects an object with another controller, with the Event of sample-controller', async () => {
    const other = await create('other')
    await create()
    await bench.client.create(
      ConfigMap({ metadata: { name: 'a', ownerReferences: [controllerRef(other)] }, data: { theirs: 'x' } }),
    )
    bench.writes()
    for (const adopt of ['never', 'ours', 'orphans'] as const) {
      const failure = await failureOf(bench.run(applying(() => [map('a')], { adopt }))('default/cosy'))
      expect(isKubewrightError(failure, 'KW_NOT_OUR_CHILD')).toBe(true)
      expect(String(failure)).toContain('it is controlled by Home other: choose another name')
    }
    expect(bench.writes()).toEqual([])
    expect(bench.events.map(({ note }) => note)).toContainEqual({
      type: 'Warning',
      reason: 'ErrResourceExists',
      message: 'Resource "a" already exists and is not managed by Home',
    })
  })

  test('adopts an object without a controller according to the adopt option', async () => {
    await create()
    await bench.client.create(map('a', { theirs: 'x' }))
    for (const adopt of ['never', 'ours'] as const) {
      const failure = await failureOf(bench.run(applying(() => [map('a')], { adopt }))('default/cosy'))
      expect(String(failure)).toContain("adopt it with adopt: 'orphans'")
    }
    await bench.run(applying(() => [map('a')], { adopt: 'never' }, { adopt: 'orphans' }))('default/cosy')
    expect((await bench.client.get(ConfigMap, 'a')).metadata.ownerReferences).toHaveLength(1)
    // Orphaned by the deletion of its owner: this controller applied it before.
    await bench.client.patch(ConfigMap, 'a', { metadata: { ownerReferences: null } })
    await bench.run(applying(() => [map('a')]))('default/cosy')
    expect((await bench.client.get(ConfigMap, 'a')).metadata.ownerReferences).toHaveLength(1)
  })

  test('waits for the garbage collector to delete the child of an earlier object with the same name', async () => {
    await create()
    const reconcile = bench.run(applying(() => [map('a')]))
    await reconcile('default/cosy')
    await bench.client.delete(Home, 'cosy')
    await create()
    expect(await failureOf(reconcile('default/cosy'))).toBeInstanceOf(RetryLater)
    await bench.client.delete(ConfigMap, 'a')
    await reconcile('default/cosy')
  })

  test('never modifies another object that has taken the name', async () => {
    await create()
    let data = { colour: 'red' }
    const reconcile = bench.run(applying(() => [map('a', data)]))
    await reconcile('default/cosy')
    data = { colour: 'blue' }
    for (const replace of [true, false]) {
      bench.before = async ({ text }) => {
        if (!text.startsWith('PATCH')) return
        bench.before = () => undefined
        await bench.client.delete(ConfigMap, 'a')
        if (replace) await bench.client.create(map('a', { theirs: 'x' }))
      }
      expect(isConflict(await failureOf(reconcile('default/cosy')))).toBe(true)
      const found = await bench.client.find(ConfigMap, 'a')
      expect(found?.data).toEqual(replace ? { theirs: 'x' } : undefined)
      if (replace) {
        await bench.client.delete(ConfigMap, 'a')
        await reconcile('default/cosy')
        data = { colour: 'green' }
      }
    }
  })

  test('rejects children that the garbage collector would not follow or that could not be found again', async () => {
    await create()
    const messages: string[] = []
    const role = ClusterRole({ metadata: { name: 'r' } })
    const elsewhere = ConfigMap({ metadata: { name: 'a', namespace: 'kube-system' } })
    const nameless = ConfigMap({ metadata: { name: '', generateName: 'a-' } })
    const unowned = Namespace({ metadata: { name: 'n' } })
    for (const child of [role, elsewhere, nameless, unowned]) {
      const failure = await failureOf(bench.run(applying(() => [child]))('default/cosy'))
      expect(isKubewrightError(failure, 'KW_CHILD')).toBe(true)
      messages.push((failure as Error).message)
    }
    expect(messages).toEqual([
      "Cannot apply ClusterRole r as a child of Home default/cosy: a namespaced object cannot own a cluster-scoped one: use 'client.apply' with force: true and delete it in 'cleanup', or make the owner's kind cluster-scoped",
      "Cannot apply ConfigMap kube-system/a as a child of Home default/cosy: a child must be in the namespace of its owner: use 'client.apply' with force: true and delete it in 'cleanup', or make the owner's kind cluster-scoped",
      "Cannot apply a ConfigMap as a child of Home default/cosy: it has no 'metadata.name': derive it from the owner's name, so that the next apply finds the child",
      `Cannot apply Namespace n as controller "home" does not own the kind v1 Namespace: add it to 'owns', or use 'client' for objects that are not children`,
    ])
    expect(bench.writes()).toEqual([])
  })

  test('requires a namespace for children of a cluster-scoped object', async () => {
    const Estate = defineResource({
      group: 'ajd.example.com',
      version: 'v1',
      kind: 'Estate',
      scope: 'Cluster',
      spec: s.object({}),
    })
    await install(bench.client, Estate)
    const estate = await bench.client.create(Estate({ metadata: { name: 'e' }, spec: {} }))
    let namespace: string | undefined
    const reconcile = bench.run(
      defineController(Estate, {
        owns: [ConfigMap, ClusterRole],
        async reconcile(_, { apply, children }) {
          await apply(ClusterRole({ metadata: { name: 'r' } }))
          await apply(ConfigMap({ metadata: { name: 'a', ...(namespace ? { namespace } : {}) } }))
          expect((await children(ConfigMap)).map(keyOf)).toEqual(['default/a'])
        },
      }),
    )
    expect(String(await failureOf(reconcile('e')))).toContain("set 'metadata.namespace'")
    namespace = 'default'
    await reconcile('e')
    const { ownerReferences } = (await bench.client.get(ClusterRole, 'r')).metadata
    expect(ownerReferences).toEqual([controllerRef(estate)])
  })

  test('sends each apply, without effect, when only the metadata of the kind is watched', async () => {
    await create()
    const reconcile = bench.run(
      applying(() => [map('a', { x: '1' })], { owns: [owned(ConfigMap, { metadataOnly: true })] }),
    )
    await reconcile('default/cosy')
    const { resourceVersion } = (await bench.client.get(ConfigMap, 'a')).metadata
    await reconcile('default/cosy')
    expect((await bench.client.get(ConfigMap, 'a')).metadata.resourceVersion).toBe(resourceVersion)
    expect(bench.writes()).toEqual([`PATCH ${mapPath('a')}`, `PATCH ${mapPath('a')}`])
  })
})

describe('children()', () => {
  test('returns the objects of a kind that the object controls', async () => {
    const home = await create()
    const other = await create('other')
    await bench.client.create(ConfigMap({ metadata: { name: 'x', ownerReferences: [controllerRef(other)] } }))
    await bench.client.create(ConfigMap({ metadata: { name: 'y', ownerReferences: [ownerRef(home)] } }))
    let names: string[] = []
    const controller = defineController(Home, {
      owns: [ConfigMap],
      async reconcile(_, { apply, children }) {
        await apply(map('b'))
        await apply(map('a'))
        names = (await children(ConfigMap)).map(keyOf)
      },
    })
    await bench.run(controller)('default/cosy')
    expect(names).toEqual(['default/a', 'default/b'])
  })
})

describe('prune', () => {
  test('deletes children that a reconcile no longer applied, and nothing else', async () => {
    const home = await create()
    let names = ['a', 'b', 'c']
    const reconcile = bench.run(applying(() => names.map((name) => map(name)), { prune: true }))
    await reconcile('default/cosy')
    // Controlled by the object, but not applied by this controller.
    await bench.client.create(ConfigMap({ metadata: { name: 'manual', ownerReferences: [controllerRef(home)] } }))
    await bench.client.create(map('stranger'))
    names = ['b']
    bench.writes()
    await reconcile('default/cosy')
    expect(bench.writes().sort()).toEqual([`DELETE ${mapPath('a')}`, `DELETE ${mapPath('c')}`])
    const left = await bench.client.list(ConfigMap)
    expect(left.map(keyOf)).toEqual(['default/b', 'default/manual', 'default/stranger'])
  })

  test('is disabled by default, and requires a successful reconcile without prune: false', async () => {
    await create()
    let names = ['a']
    let ending: () => { prune?: boolean } = () => ({})
    const run = (prune: boolean) =>
      bench.run(
        defineController(Home, {
          owns: [ConfigMap],
          prune,
          async reconcile(_, { apply }) {
            for (const name of names) await apply(map(name))
            return ending()
          },
        }),
      )
    await run(true)('default/cosy')
    names = []
    await run(false)('default/cosy')
    ending = () => ({ prune: false })
    await run(true)('default/cosy')
    ending = () => {
      throw new Error('not yet')
    }
    await failureOf(run(true)('default/cosy'))
    expect((await bench.client.list(ConfigMap)).map(keyOf)).toEqual(['default/a'])
    ending = () => ({})
    await run(true)('default/cosy')
    expect(await bench.client.list(ConfigMap)).toEqual([])
  })

  test('keeps a child that was applied in another version of its kind', async () => {
    await create()
    const spec = { maxReplicas: 3, scaleTargetRef: { kind: 'Deployment', name: 'cosy', apiVersion: 'apps/v1' } }
    const scaler = autoscalingV2.HorizontalPodAutoscaler({ metadata: { name: 'a' }, spec })
    const owns = [autoscalingV1.HorizontalPodAutoscaler, autoscalingV2.HorizontalPodAutoscaler]
    const reconcile = bench.run(applying(() => [scaler], { owns, prune: true }))
    await reconcile('default/cosy')
    await reconcile('default/cosy')
    expect(bench.writes().filter((text) => text.startsWith('DELETE'))).toEqual([])
  })

  test('finds no children of an optional kind that is not installed', async () => {
    const Garden = defineResource({ group: 'ajd.example.com', version: 'v1', kind: 'Garden', spec: s.object({}) })
    await create()
    let gardens: unknown
    const controller = defineController(Home, {
      owns: [owned(Garden, { optional: true })],
      prune: true,
      async reconcile(_, context) {
        gardens = await context.children(Garden)
      },
    })
    await bench.run(controller)('default/cosy')
    expect([gardens, bench.writes()]).toEqual([[], []])
  })
})
