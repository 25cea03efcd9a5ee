import { goQuote, KubewrightError } from '@kubewright/base'
import { ConfigFields, ConfigProblems } from './config-fields.ts'

/** A key of a provider. */
export interface EncryptionKey {
  readonly name: string
  readonly secret: Uint8Array
}

/** One way to store objects. Without keys, objects are stored as they are. */
export type EncryptionProvider =
  | { readonly kind: 'identity' }
  | { readonly kind: 'aescbc' | 'aesgcm' | 'secretbox'; readonly keys: readonly EncryptionKey[] }

/** The providers of some resources. The first one writes, all of them read. */
export interface EncryptedResources {
  /** `secrets`, `deployments.apps`, `*.apps`, `*.` for the core group, or `*.*`. */
  readonly resources: readonly string[]
  readonly providers: readonly EncryptionProvider[]
}

/** An EncryptionConfiguration. The first entry that names a resource applies to it. */
export type EncryptionConfig = readonly EncryptedResources[]

const keySizes = { aescbc: [16, 24, 32], aesgcm: [16, 24, 32], secretbox: [32] } as const
const kinds = Object.keys(keySizes) as (keyof typeof keySizes)[]

/**
 * Parses an EncryptionConfiguration of apiserver.config.k8s.io/v1; the checks are those of
 * apiserver/pkg/apis/apiserver/validation/validation_encryption.go. Throws an Error that names all wrong fields, but never a secret.
 */
export function parseEncryptionConfig(value: unknown): EncryptionConfig {
  const problems = new ConfigProblems()
  const fields = new ConfigFields(value, '', problems)
  const [apiVersion, kind] = [fields.string('apiVersion') ?? '', fields.string('kind') ?? '']
  if (apiVersion !== 'apiserver.config.k8s.io/v1' || kind !== 'EncryptionConfiguration') {
    throw new KubewrightError(
      'KW_SERVER_CONFIG',
      `no kind ${goQuote(kind)} is registered for version ${goQuote(apiVersion)}`,
    )
  }
  const entries = fields.objects('resources')
  if (entries.length === 0) fields.report('resources', 'Required value: at least one resources is required')
  const config = entries.map(resourcesOf)
  fields.done()
  const unknown = problems.unknown.map((path) => `unknown field ${goQuote(path)}`)
  const all = [...problems.errors, ...unknown]
  if (all.length > 0) throw new KubewrightError('KW_SERVER_CONFIG', all.join(', '))
  return config
}

function resourcesOf(fields: ConfigFields): EncryptedResources {
  const resources = fields.strings('resources')
  const required = (name: string): void =>
    fields.report(name, `Required value: at least one ${fields.at(name)} is required`)
  if (resources.length === 0) required('resources')
  checkOverlap(fields, resources)
  for (const [index, resource] of resources.entries()) {
    const problem = nameProblem(resource)
    if (problem !== undefined) fields.report(`resources[${index}]`, `Invalid value: ${goQuote(resource)}: ${problem}`)
  }
  const listed = fields.objects('providers')
  if (listed.length === 0) required('providers')
  const providers = listed.map(providerOf)
  fields.done()
  return { resources, providers: providers.filter((provider) => provider !== undefined) }
}

function checkOverlap(fields: ConfigFields, resources: readonly string[]): void {
  const value = JSON.stringify(resources)
  if (new Set(resources).size < resources.length) {
    fields.report('resources', `Invalid value: ${value}: the same resource cannot be specified multiple times`)
  }
  const parsed = [...new Set(resources)].map(groupResourceOf)
  const overlaps = parsed.some((one, i) =>
    parsed.some(
      (other, j) =>
        i !== j && ((one.group === '*' && one.resource === '*') || (one.group === other.group && one.resource === '*')),
    ),
  )
  if (!overlaps) return
  const why = `using overlapping resources such as 'secrets' and '*.' in the same resource list is not allowed as they will be masked`
  fields.report('resources', `Invalid value: ${value}: ${why}`)
}

/** Splits `deployments.apps` at the first dot. */
export function groupResourceOf(text: string): { readonly resource: string; readonly group: string } {
  const dot = text.indexOf('.')
  return dot < 0 ? { resource: text, group: '' } : { resource: text.slice(0, dot), group: text.slice(dot + 1) }
}

function nameProblem(text: string): string | undefined {
  if (/[A-Z]/.test(text)) return 'resource name should not contain capital letters'
  if (text === '*') return `use '*.' to encrypt all the resources from core API group or *.* to encrypt all resources`
  const { resource, group } = groupResourceOf(text)
  if (group === 'events.k8s.io') {
    return `'*.events.k8s.io' objects are stored using the 'events' API group in etcd. Use 'events' instead in the config file`
  }
  if (group === 'extensions') return `'extensions' group has been removed and cannot be used for encryption`
  if (group === '*' && resource !== '*') return 'encrypting the same resource across groups is not supported'
  return undefined
}

function providerOf(fields: ConfigFields): EncryptionProvider | undefined {
  const given = ['kms', ...kinds, 'identity'].filter((name) => fields.has(name))
  if (given.length !== 1) {
    const why =
      given.length === 0
        ? 'provider does not contain any of the expected providers: KMS, AESGCM, AESCBC, Secretbox, Identity'
        : 'more than one provider specified in a single element, should split into different list elements'
    fields.problems.add(fields.path, `Invalid value: ${why}`)
    return undefined
  }
  fields.done()
  if (given[0] === 'identity') return { kind: 'identity' }
  const kind = kinds.find((known) => known === given[0])
  if (kind === undefined) {
    fields.report('kms', 'KMS providers are not available in this server: use aescbc, aesgcm or secretbox')
    return undefined
  }
  const provider = fields.object(kind)!
  const keys = provider.objects('keys')
  if (keys.length === 0) provider.report('keys', 'Required value: at least one keys is required')
  provider.done()
  return { kind, keys: keys.map((key) => keyOf(key, keySizes[kind])) }
}

function keyOf(fields: ConfigFields, sizes: readonly number[]): EncryptionKey {
  const name = fields.string('name') ?? ''
  const text = fields.string('secret') ?? ''
  if (name === '') fields.report('name', 'Required value: name is a mandatory field for a key')
  if (name.includes(':')) fields.report('name', `Invalid value: ${goQuote(name)}: must not contain ':'`)
  const secret = Buffer.from(text, 'base64')
  if (text === '') fields.report('secret', 'Required value: secret is a mandatory field for a key')
  else if (secret.toString('base64') !== text) {
    fields.report('secret', 'Invalid value: "REDACTED": secrets must be base64 encoded')
  } else if (!sizes.includes(secret.length)) {
    const why = `secret is not of the expected length, got ${secret.length}, expected one of [${sizes.join(' ')}]`
    fields.report('secret', `Invalid value: "REDACTED": ${why}`)
  }
  fields.done()
  return { name, secret }
}
