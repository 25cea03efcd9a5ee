// Decoders that combine objects: patches, server-side apply and field sets. The input is a JSON text.

import {
  ApiError,
  ApiSyntaxError,
  ApplyError,
  applyJsonPatch,
  applyMergePatch,
  applyStrategicMergePatch,
  createFieldManager,
  createJsonPatch,
  createMergePatch,
  createTwoWayStrategicMergePatch,
  decodeJsonPatch,
  decodeMergePatch,
  decodeStrategicMergePatch,
  encodeJson,
  FieldSet,
  type JsonObject,
  PatchError,
  parseJson,
} from '@kubewright/api'
import { isJsonObject, type Random } from '@kubewright/base'
import { defaultRelease } from '@kubewright/k8s/releases'
import { amplify, chance, mutateText, mutateValue, oddValues } from '../mutate.ts'
import { recordedRequests, sampleObjects } from '../requests/recorded-requests.ts'
import { type DecoderTarget, decoded, type FuzzInput, must } from './decoder-target.ts'

const samples = sampleObjects(recordedRequests('low'))
const pods = samples.get('v1/Pod')!
const services = samples.get('v1/Service')!
const deployments = samples.get('apps/v1/Deployment')!
const podSchema = defaultRelease.kindFor({ group: '', version: 'v1', kind: 'Pod' })!.schema

/** A recorded object, sometimes with mutations, as it could be stored. */
function object(
  random: Random,
  from: readonly Record<string, unknown>[] = [...pods, ...services, ...deployments],
): JsonObject {
  let value: unknown = random.pick(from)
  for (let left = random.int(3); left > 0; left--) value = mutateValue(random, value)
  return (
    typeof value === 'object' && value !== null && !Array.isArray(value) ? value : random.pick(from)
  ) as JsonObject
}

/** A JSON text of a list of values, sometimes with one of them enlarged. */
function inputOf(random: Random, maxSize: number, values: readonly unknown[]): string {
  const enlarged = chance(random, 0.03)
    ? values.map((value) => (chance(random, 0.5) ? amplify(random, value, maxSize) : value))
    : values
  return JSON.stringify(enlarged)
}

/** The values of an input; none when it is nested too deep to be read. */
function valuesOf(input: FuzzInput): unknown[] {
  const parsed = decoded(() => parseJson(String(input)), ApiSyntaxError)
  return Array.isArray(parsed?.value) ? parsed.value : []
}

function pointers(value: unknown, prefix = '', found: string[] = ['', '/x/-', '/0']): string[] {
  if (typeof value !== 'object' || value === null || found.length > 100) return found
  for (const [name, member] of Object.entries(value)) {
    const pointer = `${prefix}/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`
    found.push(pointer, ...(Array.isArray(member) ? [`${pointer}/-`] : []))
    pointers(member, pointer, found)
  }
  return found
}

/** Runs a function on objects and checks that it does not change them. */
function unchanged<T>(run: () => T, ...values: readonly unknown[]): T {
  const before = values.map((value) => encodeJson(value))
  try {
    return run()
  } finally {
    must(
      values.every((value, i) => encodeJson(value) === before[i]),
      'arguments do not change',
    )
  }
}

/** Objects without null members: in merge patches, null removes a member. */
function withoutNull(value: unknown): unknown {
  if (Array.isArray(value)) return value.filter((item) => item !== null).map(withoutNull)
  if (typeof value !== 'object' || value === null) return value
  const members = Object.entries(value).filter(([, member]) => member !== null)
  return Object.fromEntries(members.map(([name, member]) => [name, withoutNull(member)]))
}

const apiVersion = 'v1'
const managers = createFieldManager({
  apiVersion,
  kind: 'Pod',
  schemaFor: (version) => (version === apiVersion ? podSchema : undefined),
})

/** Decoders that combine objects. */
export const objectDecoders: readonly DecoderTarget[] = [
  {
    name: 'json-patches',
    generate(random, maxSize) {
      const before = object(random)
      const places = pointers(before)
      const operation = (): unknown => ({
        op: random.pick(['add', 'add', 'remove', 'replace', 'move', 'copy', 'test', 'x']),
        path: chance(random, 0.8) ? random.pick(places) : mutateText(random, random.pick(places)),
        ...(chance(random, 0.7) ? { value: random.pick(oddValues) } : {}),
        ...(chance(random, 0.5) ? { from: random.pick(places) } : {}),
      })
      const patch: unknown = Array.from({ length: 1 + random.int(8) }, operation)
      return inputOf(random, maxSize, [
        before,
        chance(random, 0.2) ? mutateValue(random, patch) : patch,
        object(random),
      ])
    },
    check(input) {
      const [before, patch, after] = valuesOf(input)
      if (!isJsonObject(before) || !isJsonObject(after)) return
      const operations = decoded(() => decodeJsonPatch(patch), PatchError)
      if (operations)
        unchanged(() => decoded(() => applyJsonPatch(before, operations.value), PatchError), before, patch)
      const made = createJsonPatch(before, after)
      must(
        encodeJson(applyJsonPatch(before, made), { sortKeys: true }) === encodeJson(after, { sortKeys: true }),
        'a created patch leads to the object',
      )
    },
  },
  {
    name: 'merge-patches',
    generate: (random, maxSize) =>
      inputOf(random, maxSize, [object(random), mutateValue(random, object(random)), object(random)]),
    check(input) {
      const [before, patch, next] = valuesOf(input)
      if (!isJsonObject(before) || !isJsonObject(next)) return
      const read = decoded(() => decodeMergePatch(patch), PatchError)
      if (read) unchanged(() => decoded(() => applyMergePatch(before, read.value), PatchError), before, patch)
      const [from, to] = [withoutNull(before), withoutNull(next)] as [object, object]
      const made = createMergePatch(from, to)
      must(
        encodeJson(applyMergePatch(from, made), { sortKeys: true }) === encodeJson(to, { sortKeys: true }),
        'a created patch leads to the object',
      )
    },
  },
  {
    name: 'strategic-patches',
    generate: (random, maxSize) =>
      inputOf(random, maxSize, [object(random, pods), mutateValue(random, object(random, pods)), object(random, pods)]),
    check(input) {
      const [before, patch, next] = valuesOf(input)
      if (!isJsonObject(before) || !isJsonObject(next)) return
      const read = decoded(() => decodeStrategicMergePatch(patch), PatchError)
      if (read)
        unchanged(
          () => decoded(() => applyStrategicMergePatch(before, read.value, podSchema), PatchError),
          before,
          patch,
        )
      const made = decoded(() => createTwoWayStrategicMergePatch(before, next, podSchema), PatchError)
      if (made) decoded(() => applyStrategicMergePatch(before, made.value, podSchema), PatchError)
    },
  },
  {
    name: 'applies',
    generate(random, maxSize) {
      const steps = Array.from({ length: 1 + random.int(3) }, () => object(random, pods))
      return inputOf(
        random,
        maxSize,
        chance(random, 0.4) ? [steps[0], ...steps.slice(1).map((step) => mutateValue(random, step))] : steps,
      )
    },
    check(input) {
      let live: JsonObject | undefined
      for (const [i, config] of valuesOf(input).entries()) {
        // The server gives every object metadata before it merges it.
        if (!isJsonObject(config) || !isJsonObject(config['metadata'])) continue
        const options = { manager: `m${i % 2}`, now: '2026-01-02T03:04:05Z', force: i % 3 !== 0 }
        const applied: { readonly value: { readonly object: JsonObject } } | undefined = unchanged(
          () => decoded(() => managers.apply(live, config, options), ApiError, ApplyError),
          live ?? null,
          config,
        )
        if (applied) {
          live = applied.value.object
          const again = decoded(() => managers.apply(live, config, options), ApiError, ApplyError)
          if (again)
            must(
              !again.value.changed || hasManagedFields(config),
              'an apply is idempotent',
              again.value.object['metadata'],
            )
        } else live = managers.updateNoErrors(live, config, options)
        parseJson(encodeJson(live))
      }
    },
  },
  {
    name: 'field-sets',
    generate(random, maxSize) {
      const fields = {
        'f:metadata': { 'f:labels': { '.': {}, 'f:a': {} } },
        'f:spec': {
          'f:containers': { 'k:{"name":"a"}': { '.': {}, 'f:image': {} } },
          'f:set': { 'v:"x"': {}, 'v:1': {} },
          'f:list': { 'i:0': {} },
        },
      }
      const text = inputOf(random, maxSize, [mutateValue(random, fields), mutateValue(random, fields)])
      return chance(random, 0.5) ? mutateText(random, text) : text
    },
    check(input) {
      let values: unknown
      try {
        values = JSON.parse(String(input))
      } catch {
        return
      }
      if (!Array.isArray(values)) return
      const sets = values.flatMap((value) => {
        const parsed = decoded(() => FieldSet.parse(value), SyntaxError, TypeError)
        return parsed ? [parsed.value] : []
      })
      for (const set of sets) {
        const text = JSON.stringify(set.toJSON())
        must(FieldSet.parse(JSON.parse(text)).equals(set), 'an encoded set is equal', text)
        must(set.paths().length === set.size, 'the size is the number of paths', text)
      }
      const [a, b] = sets
      if (!a || !b) return
      must(a.union(b).difference(b).isSubsetOf(a), 'a union without the second set is part of the first')
      must(a.intersection(b).isSubsetOf(b), 'an intersection is part of both')
    },
  },
]

function hasManagedFields(config: JsonObject): boolean {
  const { metadata } = config as { metadata?: unknown }
  return typeof metadata === 'object' && metadata !== null && 'managedFields' in metadata
}
