import { isJsonObject } from '@kubewright/base'
import type { Case, Reduction } from './case-format.ts'
import { sameJson, sorted } from './compare.ts'
import { removeAt, valueAt, valuesAt } from './object-path.ts'

const uuidPattern = /\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/g
const timePattern = /\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)/g
const jwtPattern = /^ey[\w-]{8,}\.[\w-]+\.[\w-]+$/
const agePattern = /^(<invalid>|(\d+y)?(\d+d)?(\d+h)?(\d+m)?(\d+s)?)$/
const ipPattern = /^(\d+\.\d+\.\d+\.\d+|[0-9a-f:]+:[0-9a-f:]*)$/
const threeDays = 3 * 24 * 60 * 60 * 1000

/** Messages with values that differ between any two servers. */
const revisionTexts: readonly (readonly [RegExp, string])[] = [
  [/(too old resource version: )\d+ \(\d+\)/g, '$1<rv> (<rv>)'],
  [/(Too large resource version: \d+, current: )\d+/g, '$1<rv>'],
  [/(does not match the ResourceVersion in record \()\d+\)/g, '$1<rv>)'],
  [/(\\*"resourceVersion\\*":\\*")\d+(\\*")/g, '$1<rv>$2'],
  [/\bkube-api-access-[a-z0-9]{5}\b/g, 'kube-api-access-<rand>'],
  [/127\.0\.0\.1:\d+(->)127\.0\.0\.1:\d+/g, '<addr>$1<addr>'],
]

/** The names that all cases of a run share. */
export interface RunNames {
  /** Host and port of every server of the run. */
  readonly serverHosts: readonly string[]
  readonly webhookBase: string
  readonly caBundle: string
  /** The userInfo of the administrator's credentials. */
  readonly self: unknown
}

/**
 * Replaces values that differ between servers (times, uids, versions, generated names) by placeholders that are
 * consistent within a case: the same uid has the same placeholder everywhere.
 */
export class Normalizer {
  readonly #names: RunNames
  /** Captured values by name. The case runner adds to them. */
  readonly #captured: ReadonlyMap<string, string>
  readonly #unique: string
  readonly #looseVersions: boolean
  readonly #hasCrd: boolean
  readonly #replacements: readonly (readonly [RegExp, string])[]
  readonly #uids = new Map<string, number>()
  readonly #versions = new Map<string, number>()

  constructor(test: Case, unique: string, captured: ReadonlyMap<string, string>, names: RunNames) {
    this.#names = names
    this.#captured = captured
    this.#unique = unique
    this.#looseVersions = test.rv === 'loose'
    this.#hasCrd = test.steps.some((step) => step.crd)
    this.#replacements = (test.subs ?? []).map(([pattern, text]) => [new RegExp(pattern, 'g'), text])
  }

  /** The body in the form in which it is compared. */
  body(value: unknown, reduction: Reduction): unknown {
    const reduced = this.#value(reduce(structuredClone(value), reduction), undefined)
    if (reduction.unorderedErrors && isJsonObject(reduced) && reduced['kind'] === 'Status') sortCauses(reduced)
    return reduced
  }

  text(original: string): string {
    let text = original
    if (text.length > 600) {
      const mark = (run: string, char: string): string => `<${char} repeated ${run.length} times>`
      text = text.replace(/^(.)\1+$/s, mark).replace(/(.)\1{600,}/g, mark)
    }
    const { caBundle, webhookBase, serverHosts } = this.#names
    text = text.replaceAll(caBundle, nameOf('caBundle')).replaceAll(webhookBase, nameOf('webhook'))
    text = text.replaceAll(webhookBase.replace(/^https:\/\//, ''), nameOf('webhookAddr'))
    for (const host of serverHosts) text = text.replaceAll(host, nameOf('server'))
    const captured = [['u', this.#unique] as const, ...this.#captured]
      .filter(([, value]) => value.length >= 5 && /[a-z]/.test(value) && !/^[0-9a-f]{8}-[0-9a-f]{4}-/.test(value))
      .sort((a, b) => b[1].length - a[1].length)
    for (const [name, value] of captured) text = text.replaceAll(value, nameOf(name))
    // Operation ids of OpenAPI capitalize the unique name.
    text = text.replaceAll(`U${this.#unique.slice(1)}`, nameOf('Uu'))
    for (const [pattern, replacement] of this.#replacements) text = text.replace(pattern, replacement)
    text = text.replace(uuidPattern, (uid) => placeholder(this.#uids, 'uid', uid))
    text = text.replace(timePattern, timePlaceholder)
    text = text.replace(
      /(ResourceVersion in (?:precondition|object meta): )(\d+)/g,
      (_, before: string, version: string) => before + this.#version(version),
    )
    for (const [pattern, replacement] of revisionTexts) text = text.replace(pattern, replacement)
    return text
  }

  #version(version: string): string {
    if (this.#looseVersions) return '<rv>'
    return version === '0' ? version : placeholder(this.#versions, 'rv', version)
  }

  #value(value: unknown, key: string | undefined): unknown {
    if (typeof value === 'string') return this.#string(value, key)
    if (typeof value === 'number') {
      const isNodePort = key === 'nodePort' || key === 'healthCheckNodePort'
      return isNodePort && value >= 30_000 && value <= 32_767 ? '<nodePort>' : value
    }
    if (Array.isArray(value)) return this.#list(value, key)
    return isJsonObject(value) ? this.#object(value) : value
  }

  #string(value: string, key: string | undefined): string {
    if (key === 'resourceVersion' && /^\d+$/.test(value)) return this.#version(value)
    if (key === 'continue' && value !== '') return '<continue>'
    if (key === 'clusterIP' && ipPattern.test(value)) return '<ip>'
    if (key === 'serverAddress') return '<server>'
    // A hash of group, version and kind. The group is unique to the run.
    if (key === 'storageVersionHash' && this.#hasCrd) return '<hash>'
    return jwtPattern.test(value) ? '<jwt>' : this.text(value)
  }

  #list(list: readonly unknown[], key: string | undefined): unknown[] {
    if (key === 'clusterIPs') return list.map((ip) => (typeof ip === 'string' && ipPattern.test(ip) ? '<ip>' : ip))
    // Entries of the same second may be in any order.
    const ordered = key === 'managedFields' && list.every(isJsonObject) ? [...list].sort(byManager) : list
    return ordered.map((item) => this.#value(item, undefined))
  }

  #object(value: Record<string, unknown>): unknown {
    const { self } = this.#names
    if (
      isJsonObject(self) &&
      typeof value['username'] === 'string' &&
      Array.isArray(value['groups']) &&
      sameJson(value, self)
    )
      return '<self>'
    const kind = typeof value['kind'] === 'string' ? value['kind'] : ''
    const isList =
      Array.isArray(value['items']) || (kind === 'Table' && Array.isArray(value['rows'])) || kind.endsWith('List')
    const isLoose = kind === 'CustomResourceDefinition' || kind === 'APIService'
    const result: Record<string, unknown> = {}
    for (const key of Object.keys(value).sort()) {
      const member = value[key]
      const name = this.text(key)
      if (key === 'metadata' && isJsonObject(member) && (isList || isLoose) && isVersion(member['resourceVersion'])) {
        const { resourceVersion: _version, ...rest } = member
        result[name] = sorted({ ...(this.#object(rest) as object), resourceVersion: isList ? '<listrv>' : '<rv>' })
      } else if (key === 'cells' && Array.isArray(member)) result[name] = member.map((cell) => this.#cell(cell))
      else result[name] = this.#value(member, /(^|\.)managedFields$/.test(key) ? 'managedFields' : key)
    }
    return result
  }

  #cell(cell: unknown): unknown {
    return typeof cell === 'string' && cell !== '' && agePattern.test(cell) ? '<age>' : this.#value(cell, undefined)
  }
}

function reduce(body: unknown, { ignore = [], pick, pickErrors }: Reduction): unknown {
  if (typeof body !== 'object' || body === null) return body
  const isError = isJsonObject(body) && body['kind'] === 'Status' && body['status'] === 'Failure'
  for (const path of ignore) removeAt(body, path)
  if (!pick || (isError && !pickErrors)) return body
  const picked = (path: string): unknown => {
    if (path.includes('[*]')) return valuesAt(body, path)
    const value = valueAt(body, path)
    return value === undefined ? '(absent)' : value
  }
  return Object.fromEntries(pick.map((path) => [path, picked(path)]))
}

function sortCauses(status: Record<string, unknown>): void {
  const inOrder = (list: string): string => list.split(', ').sort().join(', ')
  status['message'] = String(status['message']).replace(/: \[(.*)\]$/s, (_, list: string) => `: [${inOrder(list)}]`)
  const causes = isJsonObject(status['details']) ? status['details']['causes'] : undefined
  if (Array.isArray(causes)) causes.sort((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1))
}

/** The notation of a name in a case. */
function nameOf(name: string): string {
  return `\${${name}}`
}

function placeholder(known: Map<string, number>, kind: string, value: string): string {
  let number = known.get(value)
  if (number === undefined) known.set(value, (number = known.size + 1))
  return `<${kind}:${number}>`
}

/** Times near the present are replaced; others are part of the case. */
function timePlaceholder(text: string, fraction: string | undefined): string {
  const time = Date.parse(text)
  if (Number.isNaN(time) || Math.abs(time - Date.now()) > threeDays) return text
  if (fraction === undefined) return '<time>'
  return fraction.length === 7 ? '<microtime>' : '<time-frac>'
}

function isVersion(value: unknown): boolean {
  return typeof value === 'string' && /^\d+$/.test(value)
}

function byManager(a: Record<string, unknown>, b: Record<string, unknown>): number {
  const id = (entry: Record<string, unknown>): string =>
    [entry['operation'], entry['manager'], entry['apiVersion'], entry['subresource']].join('\0')
  return id(a) < id(b) ? -1 : id(a) > id(b) ? 1 : 0
}
