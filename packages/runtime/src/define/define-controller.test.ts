import { ConfigMap, Deployment, Secret } from '@kubewright/k8s'
import { describe, expect, test } from 'vitest'
import { fieldManagerOf } from '../reconcile/field-manager-of.ts'
import { Home } from '../reconcile/testdata/home.ts'
import { type ControllerOptions, defineController } from './define-controller.ts'
import { owned, watch } from './watched-kinds.ts'

const reconcile = (): void => undefined

describe('defineController()', () => {
  test('applies defaults', () => {
    expect(defineController(Home, { reconcile })).toMatchObject({
      name: 'home',
      kind: Home,
      owns: [],
      watches: [],
      concurrency: 1,
      syncTimeout: '2m',
      needsLeader: true,
      finalizer: 'homes.ajd.example.com/home',
      prune: false,
      adopt: 'ours',
      cleanup: undefined,
    })
    expect(defineController(ConfigMap, { name: 'copies', reconcile }).finalizer).toBe('configmaps.core/copies')
  })

  test('returns a frozen value with the watch options of all kinds', () => {
    const controller = defineController(Home, {
      owns: [Deployment, owned(ConfigMap, { selector: { matchLabels: { app: 'home' } }, metadataOnly: true })],
      watches: [watch(Secret, () => [], { selector: 'a in (b, c)', namespaces: ['x'], optional: true })],
      selector: 'tier',
      reconcile,
    })
    expect([Object.isFrozen(controller), Object.isFrozen(controller.owns), controller.selector]).toEqual([
      true,
      true,
      'tier',
    ])
    expect(controller.owns.map(({ kind, selector, metadataOnly }) => [kind.kind, selector, metadataOnly])).toEqual([
      ['Deployment', undefined, false],
      ['ConfigMap', 'app=home', true],
    ])
    const [secrets] = controller.watches
    expect([secrets?.selector, secrets?.namespaces, secrets?.optional]).toEqual(['a in (b,c)', ['x'], true])
  })

  test.each<[Partial<ControllerOptions<Home, never>>, string]>([
    [{ name: 'a b' }, "'name' cannot be used in metrics, finalizers and field managers"],
    [{ name: 'a/b' }, "'name' cannot be used in metrics, finalizers and field managers: it must not contain a slash"],
    [{ concurrency: 0 }, "'concurrency' must be a positive integer: current value is 0"],
    [{ timeout: '0s' }, "'timeout' must be a duration greater than 0: current value is 0s"],
    [{ syncTimeout: -1 }, "'syncTimeout' must be a duration greater than 0: current value is -1"],
    [{ finalizer: 'plain' }, `'finalizer' cannot be "plain": it needs a domain, as in 'example.com/cleanup'`],
    [{ finalizer: 'A_B/c' }, `'finalizer' cannot be "A_B/c": prefix part`],
    [{ fieldManager: 'x'.repeat(129) }, "'fieldManager' may not be more than 128 bytes"],
    [{ fieldManager: '' }, "'fieldManager' must not be empty: leave it out for the default"],
    [
      { owns: ['ConfigMap' as never] },
      `'owns[0]' is "ConfigMap", not a kind: pass the value, as in import { ConfigMap }`,
    ],
    [
      { rbac: [{ apiGroups: [''], resources: ['pods'], verbs: ['get', 'read'] }] },
      "'rbac[0].verbs' contains 'read', which is not a verb of Kubernetes: use 'get', 'list', 'watch'",
    ],
    [
      { rbac: [{ apiGroups: [''], resources: ['pods'], verbs: ['udpate'] }] },
      "'rbac[0].verbs' contains 'udpate', which",
    ],
    [{ prune: true }, "'prune' needs 'owns': name the kinds of the children"],
  ])('rejects %o', (options, problem) => {
    const define = (): unknown => defineController(Home, { reconcile, ...options })
    expect(define).toThrow(`Cannot define controller "${options.name ?? 'home'}" as ${problem}`)
  })

  test('accepts special verbs and those of extension servers', () => {
    const verbs = ['bind', 'use', '*', 'unsafe-delete-ignore-read-errors']
    const rbac = [{ apiGroups: ['example.com'], resources: ['widgets'], verbs }]
    expect(defineController(Home, { reconcile, rbac }).rbac).toEqual(rbac)
  })

  test('rejects a selector that cannot be parsed', () => {
    expect(() => defineController(Home, { reconcile, selector: 'a in b' })).toThrow('unable to parse requirement')
  })
})

describe('fieldManagerOf()', () => {
  test('joins operator and controller within the length limit of the server', () => {
    expect(fieldManagerOf('home-operator', 'home')).toBe('home-operator/home')
    const long = fieldManagerOf('o'.repeat(200), 'c'.repeat(63))
    expect([long.length, long.endsWith(`o/${'c'.repeat(63)}`)]).toEqual([128, true])
  })
})
