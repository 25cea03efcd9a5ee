import { isJsonObject, type Random } from '@kubewright/base'
import { defaultRelease } from '@kubewright/k8s/releases'
import type { JSONSchemaProps } from '@kubewright/schema'
import type { RequestSpec } from '../../conformance/case-format.ts'
import { chance, mutateValue, oddValues } from '../mutate.ts'
import { recordedRequests, sampleObjects } from '../requests/recorded-requests.ts'
import { conversionScenario } from './conversion-scenarios.ts'
import { customScenario } from './custom-scenarios.ts'
import { deviceScenario } from './device-scenarios.ts'
import { ownershipScenario } from './ownership-scenarios.ts'
import { listScenario, pathScenario } from './path-scenarios.ts'
import { celScenario, policyScenario } from './policy-scenarios.ts'
import { protobufScenario } from './protobuf-scenarios.ts'
import type { MakeScenario, Scenario } from './scenario.ts'
import { watchScenario } from './watch-scenarios.ts'
import { webhookScenario } from './webhook-scenarios.ts'
import { applyScenario, lifecycleScenario, rbacScenario } from './write-scenarios.ts'

type Json = Record<string, unknown>

interface Target {
  readonly apiVersion: string
  readonly kind: string
  readonly resource: string
  readonly namespaced: boolean
  readonly subresources: readonly string[]
  readonly schema: JSONSchemaProps
  readonly samples: readonly Json[]
}

const patchTypes: readonly string[] = [
  'application/merge-patch+json',
  'application/strategic-merge-patch+json',
  'application/apply-patch+yaml',
  'application/json-patch+json',
]
/** Resources whose objects would change the server for later scenarios, or that the server itself writes. */
const excluded =
  /^(namespaces|flowschemas|prioritylevelconfigurations|apiservices|customresourcedefinitions|.*webhookconfigurations|.*policies|.*policybindings)$|review/
const listQueries: readonly string[] = [
  'limit=1',
  'limit=x',
  'labelSelector=a=b',
  'labelSelector=!!',
  'fieldSelector=metadata.name=o',
  'fieldSelector=spec.foo=x',
  'fieldSelector=a',
  'resourceVersion=0',
  'resourceVersion=x',
  'resourceVersionMatch=Exact',
  'resourceVersionMatch=x',
  'continue=x',
  'timeoutSeconds=1s',
]
const accepts: readonly string[] = [
  'application/json',
  'application/json;as=Table;v=v1;g=meta.k8s.io',
  'application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io',
  'application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io',
  'application/json;as=Foo;v=v1;g=meta.k8s.io',
  'application/yaml',
  'text/plain',
]

/** The kinds of scenarios besides those of built-in objects, with their shares in percent. */
const otherScenarios: Readonly<Record<string, { readonly share: number; readonly make: MakeScenario }>> = {
  paths: { share: 10, make: pathScenario },
  lists: { share: 3, make: listScenario },
  cel: { share: 6, make: celScenario },
  policies: { share: 2, make: policyScenario },
  custom: { share: 4, make: customScenario },
  devices: { share: 3, make: deviceScenario },
  protobuf: { share: 3, make: protobufScenario },
  rbac: { share: 6, make: rbacScenario },
  conversion: { share: 4, make: conversionScenario },
  webhooks: { share: 4, make: webhookScenario },
  watches: { share: 3, make: watchScenario },
  ownership: { share: 4, make: ownershipScenario },
  apply: { share: 6, make: applyScenario },
  lifecycle: { share: 6, make: lifecycleScenario },
}

/** The names of all kinds of scenarios. */
export const scenarioKinds: readonly string[] = ['objects', ...Object.keys(otherScenarios)]

/** Generates scenarios, most of them for the built-in kinds of the recorded cases. A seed reproduces its scenarios. */
export class ScenarioGenerator {
  readonly #targets: readonly Target[]

  constructor() {
    const samples = sampleObjects(recordedRequests('ns'))
    this.#targets = defaultRelease.groups.flatMap(({ group, versions }) =>
      versions.flatMap(({ version, resources }) =>
        resources.flatMap(({ resource, kind: name, subresources = [], verbs }): Target[] => {
          const kind = defaultRelease.kindFor({ group, version, kind: name })
          const known = samples.get(`${group === '' ? '' : `${group}/`}${version}/${name}`)
          if (!kind || !known || excluded.test(resource) || !verbs.includes('create')) return []
          return [
            {
              apiVersion: kind.apiVersion,
              kind: name,
              resource,
              namespaced: kind.scope === 'Namespaced',
              subresources: subresources.map((each) => each.name).filter((each) => /^(status|scale)$/.test(each)),
              schema: kind.schema,
              samples: known,
            },
          ]
        }),
      ),
    )
  }

  /** The scenario draws from the stream only. `id` makes its names unique, and `only` is one of {@link scenarioKinds}. */
  scenario(random: Random, id: string, only?: string): Scenario {
    if (only !== undefined) return otherScenarios[only]?.make(random, id) ?? this.#objectScenario(random, id)
    let drawn = random.int(100)
    for (const { share, make } of Object.values(otherScenarios)) if ((drawn -= share) < 0) return make(random, id)
    return this.#objectScenario(random, id)
  }

  #objectScenario(random: Random, id: string): Scenario {
    const target = random.pick(this.#targets)
    const namespace = `diff-${id}`
    const name = target.namespaced ? 'o' : `o-${id}`
    const prefix = target.apiVersion.includes('/') ? '/apis' : '/api'
    const scope = target.namespaced ? `/namespaces/${namespace}` : ''
    const collection = `${prefix}/${target.apiVersion}${scope}/${target.resource}`
    const sample = named(random.pick(target.samples), name, namespace, target)
    const requests: RequestSpec[] = [
      { method: 'POST', path: collection, body: this.#changed(random, target, sample, 0.5) },
    ]
    for (let left = 2 + random.int(5); left > 0; left--) {
      requests.push(this.#request(random, target, { collection, object: `${collection}/${name}`, sample, name }))
    }
    const created = target.namespaced ? [] : [`${collection}/${name}`]
    return { kind: `${target.apiVersion} ${target.kind}`, namespace, requests, created }
  }

  #request(
    random: Random,
    target: Target,
    { collection, object, sample, name }: { collection: string; object: string; sample: Json; name: string },
  ): RequestSpec {
    const place = target.subresources.length > 0 && chance(random, 0.25) ? `/${random.pick(target.subresources)}` : ''
    const query = chance(random, 0.1) ? { dryRun: 'All' } : {}
    switch (random.int(10)) {
      case 0:
        return { path: object + place, headers: { accept: random.pick(accepts) } }
      case 1:
        return {
          path: `${collection}?${Array.from({ length: 1 + random.int(2) }, () => random.pick(listQueries)).join('&')}`,
          headers: { accept: random.pick(accepts) },
        }
      case 2:
        return { method: 'PUT', path: object + place, query, body: this.#changed(random, target, sample, 0.8) }
      case 3:
        return {
          method: 'DELETE',
          path: object,
          query,
          ...(chance(random, 0.5) ? { body: deleteOptions(random) } : {}),
        }
      case 4:
        return { method: 'POST', path: collection, query, body: this.#changed(random, target, sample, 0.8) }
      default:
        return this.#patch(random, target, { path: object + place, query, sample, name })
    }
  }

  #patch(
    random: Random,
    target: Target,
    { path, query, sample, name }: { path: string; query: Record<string, string>; sample: Json; name: string },
  ): RequestSpec {
    const type = random.pick(patchTypes)
    const headers = { 'content-type': type }
    if (type === 'application/json-patch+json') {
      const change = this.#part(random, target, sample)
      const operations = Object.entries(change).map(([key, value]) => ({
        op: random.pick(['add', 'replace', 'remove', 'test']),
        path: `/${key}`,
        value,
      }))
      return { method: 'PATCH', path, query, headers, body: operations }
    }
    if (type !== 'application/apply-patch+yaml') {
      return { method: 'PATCH', path, query, headers, body: this.#part(random, target, sample) }
    }
    const { apiVersion, kind } = target
    const config = { apiVersion, kind, metadata: { name }, ...this.#part(random, target, sample) }
    const manager = { fieldManager: random.pick(['a', 'b']), ...(chance(random, 0.5) ? { force: 'true' } : {}) }
    return { method: 'PATCH', path, query: { ...query, ...manager }, headers, body: config }
  }

  /** Some members of an object, one of them changed. */
  #part(random: Random, target: Target, sample: Json): Json {
    const { apiVersion: _, kind: __, ...rest } = this.#changed(random, target, sample, 0.9)
    const entries = Object.entries(rest).filter(([key]) => key !== 'metadata' || chance(random, 0.3))
    return Object.fromEntries(entries.length > 1 && chance(random, 0.3) ? [random.pick(entries)] : entries)
  }

  /** The object with up to three changes: fields of the schema set, or parts mutated. */
  #changed(random: Random, { schema }: Target, sample: Json, probability: number): Json {
    let object = sample
    for (let left = 3; left > 0 && chance(random, probability); left--) {
      if (chance(random, 0.6)) object = withField(random, schema, object) as Json
      else {
        const { apiVersion, kind, metadata, ...rest } = object
        const mutated = mutateValue(random, rest)
        object = isJsonObject(mutated) ? { apiVersion, kind, metadata, ...mutated } : object
      }
    }
    return object
  }
}

function named(sample: Json, name: string, namespace: string, { apiVersion, kind, namespaced }: Target): Json {
  const {
    generateName: _,
    uid: __,
    resourceVersion: ___,
    ...metadata
  } = isJsonObject(sample['metadata']) ? sample['metadata'] : {}
  const { namespace: ____, ...rest } = metadata
  return { ...sample, apiVersion, kind, metadata: { ...rest, name, ...(namespaced ? { namespace } : {}) } }
}

function deleteOptions(random: Random): Json {
  return random.pick<Json>([
    { propagationPolicy: random.pick(['Foreground', 'Background', 'Orphan', 'x']) },
    { orphanDependents: chance(random, 0.5) },
    { gracePeriodSeconds: random.pick([0, 1, -1]) },
    { preconditions: { uid: 'x' } },
    { preconditions: { resourceVersion: '1' } },
  ])
}

/** The value with one field of the schema set at any depth. */
function withField(random: Random, schema: JSONSchemaProps | undefined, value: unknown, depth = 0): unknown {
  const type = schema?.allOf?.length === 1 ? schema.allOf[0] : schema
  const properties = type?.properties
  if (properties) {
    const names = Object.keys(properties).filter(
      (key) => depth > 0 || !['apiVersion', 'kind', 'metadata'].includes(key),
    )
    if (names.length === 0) return value
    const before = isJsonObject(value) ? value : {}
    const present = names.filter((key) => key in before)
    const key = present.length > 0 && chance(random, 0.6) ? random.pick(present) : random.pick(names)
    return { ...before, [key]: withField(random, properties[key], before[key], depth + 1) }
  }
  if (type?.items) {
    const list = Array.isArray(value) ? value : []
    if (list.length > 0 && chance(random, 0.7)) {
      const at = random.int(list.length)
      return list.map((item: unknown, i) => (i === at ? withField(random, type.items, item, depth + 1) : item))
    }
    if (chance(random, 0.3)) return []
    return [...list, withField(random, type.items, undefined, depth + 1)]
  }
  if (typeof type?.additionalProperties === 'object') {
    const before = isJsonObject(value) ? value : {}
    return {
      ...before,
      [random.pick(['a', 'b.c/d', 'x!', 'cpu'])]: scalar(random, type.additionalProperties as JSONSchemaProps),
    }
  }
  return scalar(random, type)
}

const texts: readonly string[] = [
  'a',
  'b-c',
  'A',
  'x!',
  '',
  '10.0.0.9',
  'a.b/c',
  'http',
  '5',
  '1Gi',
  '50%',
  'Always',
  'TCP',
  'None',
]

function scalar(random: Random, schema: JSONSchemaProps | undefined): unknown {
  if (chance(random, 0.12)) return random.pick(oddValues)
  const values = schema?.enum
  if (Array.isArray(values) && values.length > 0 && chance(random, 0.8)) return random.pick(values as unknown[])
  switch (schema?.type) {
    case 'integer':
      return random.pick([0, 1, 2, 5, 80, -1, 65_536, 2_147_483_647])
    case 'number':
      return random.pick([0, 1.5, -1])
    case 'boolean':
      return chance(random, 0.5)
    case 'object':
      return {}
    default:
      if (schema?.format === 'date-time') return '2020-01-01T00:00:00Z'
      return schema?.['x-kubernetes-int-or-string'] && chance(random, 0.5) ? random.int(100) : random.pick(texts)
  }
}
