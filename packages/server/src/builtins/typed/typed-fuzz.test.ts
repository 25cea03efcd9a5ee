import { type Random, seededRandom } from '@kubewright/base'
import { defaultRelease } from '@kubewright/k8s/releases'
import { describe, expect, test } from 'vitest'
import { goTypeOfKind } from '../../codec/go-declarations.ts'
import { defaultServedRelease } from '../../codec/served-release.ts'
import { allBuiltins } from '../../testdata/all-builtins.ts'
import { PlainServer } from '../../testdata/plain-server.ts'

const texts = [
  'a',
  'b',
  'x',
  '',
  '80%',
  '10.0.0.1',
  'fd00::1',
  '10.0.0.0/8',
  '100m',
  '1Gi',
  '/a/b',
  '../x',
  '*',
  'a.b',
  'TCP',
]
const named = ['Always', 'Never', 'In', 'Exists', 'ClusterIP', 'RollingUpdate', 'File', 'Delete', 'IPv4', 'Pod', 'nope']
const special: Readonly<Record<string, readonly unknown[]>> = {
  'meta/v1.Time': ['2026-01-02T03:04:05Z', null],
  'meta/v1.MicroTime': ['2026-01-02T03:04:05.000000Z', null],
  'meta/v1.Duration': ['1m0s'],
  'meta/v1.FieldsV1': [{}],
  'runtime.RawExtension': [{}, { a: 1 }],
  'resource.Quantity': ['1', '100m', '-1', '1Gi', 0],
  'intstr.IntOrString': [0, 80, -1, '50%', 'http', ''],
}

/** Makes objects that fit their Go type and mean nothing. */
class TypedFuzz {
  readonly #random: Random

  constructor(random: Random) {
    this.#random = random
  }

  pick<T>(from: readonly T[]): T {
    return from[Math.floor(this.#random.next() * from.length)]!
  }

  value(type: string, depth: number): unknown {
    const known = special[type]
    if (known) return this.pick(known)
    if (type.startsWith('*')) return this.value(type.slice(1), depth)
    if (type === '[]byte') return this.pick(['', 'YQ=='])
    if (type.startsWith('[]')) return this.#times(depth, () => this.value(type.slice(2), depth - 1))
    if (type.startsWith('map[')) {
      const item = type.slice(type.indexOf(']') + 1)
      return Object.fromEntries(this.#times(depth, () => [this.pick(texts), this.value(item, depth - 1)]))
    }
    if (type === 'string') return this.pick(texts)
    if (type === 'bool') return this.#random.next() < 0.5
    if (/^u?int|^float/.test(type)) return this.pick([0, 1, 80, -1, 3])
    const declaration = defaultServedRelease.declarations.find(type)
    if (typeof declaration === 'string')
      return declaration === 'string' ? this.pick(named) : this.value(declaration, depth)
    const object: Record<string, unknown> = {}
    // Generates required fields often and optional fields rarely.
    for (const field of declaration ?? []) {
      if (field.omitEmpty && this.#random.next() > 0.12 + 0.1 * depth) continue
      if (depth > 0 || !field.type.includes('/')) object[field.name] = this.value(field.type, depth - 1)
    }
    return object
  }

  #times<T>(depth: number, make: () => T): T[] {
    return depth <= 0 ? [] : Array.from({ length: Math.floor(this.#random.next() * 3) }, make)
  }
}

interface Target {
  readonly path: string
  readonly type: string
}

const targets: readonly Target[] = defaultRelease.groups.flatMap(({ group, versions }) =>
  versions.flatMap(({ version, resources }) =>
    resources
      .filter(({ verbs }) => verbs.includes('create') && verbs.includes('update'))
      .map(({ resource, kind, scope }) => ({
        path: `${group === '' ? '/api' : `/apis/${group}`}/${version}${scope === 'Namespaced' ? '/namespaces/a' : ''}/${resource}`,
        type: goTypeOfKind(group, version, kind),
      })),
  ),
)

describe('the server accepts or rejects a generated object and never fails', () => {
  test.each(targets)('$path', async ({ path, type }) => {
    await using server = await PlainServer.start(allBuiltins)
    const fuzz = new TypedFuzz(seededRandom(path.length))
    for (let i = 0; i < 40; i++) {
      const name = fuzz.pick(['a', 'b'])
      const object = { ...(fuzz.value(type, 6) as object), kind: undefined, apiVersion: undefined, metadata: { name } }
      const line = fuzz.pick([
        `POST ${path}`,
        `PUT ${path}/${name}`,
        `PATCH ${path}/${name}`,
        `PUT ${path}/${name}/status`,
      ])
      const headers = { 'content-type': line.startsWith('PATCH') ? 'application/merge-patch+json' : 'application/json' }
      const { status, body, text } = await server.send(line, { body: object, headers })
      const what = `${line} ${JSON.stringify(object)} => ${text}`
      expect(body?.reason, what).not.toBe('InternalError')
      expect(status, what).toBeGreaterThanOrEqual(200)
    }
  })
})
