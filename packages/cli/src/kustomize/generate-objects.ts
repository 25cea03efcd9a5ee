import { createHash } from 'node:crypto'
import { posix } from 'node:path'
import { isJsonObject, KubewrightError } from '@kubewright/base'
import { type Kustomization, type LoadedKustomization, pairsOf, recordsOf, type TextSource } from './kustomization.ts'
import { type MutableObject, ResourceEntry } from './resource-entry.ts'

/** Adds the objects of `configMapGenerator` and `secretGenerator`, or merges them into those of a base. */
export function generateObjects(entries: ResourceEntry[], loaded: LoadedKustomization, texts: TextSource): void {
  for (const kind of ['ConfigMap', 'Secret'] as const) {
    const field = kind === 'ConfigMap' ? 'configMapGenerator' : 'secretGenerator'
    for (const generator of recordsOf(loaded, field)) {
      const { name, namespace, behavior = 'create' } = generator
      if (typeof name !== 'string')
        throw new KubewrightError('KW_KUSTOMIZE', `${loaded.file}: an entry of ${field} has no name`)
      const entry = generated(kind, generator, loaded, texts)
      const base = entries.find(({ ids }) =>
        ids.some((id) => id.kind === kind && id.name === name && id.namespace === (namespace ?? '')),
      )
      if (behavior === 'create') {
        if (base !== undefined)
          throw new KubewrightError(
            'KW_KUSTOMIZE',
            `${loaded.file}: ${field} creates ${name}, which exists: set behavior`,
          )
        entries.push(entry)
      } else {
        if (base === undefined)
          throw new KubewrightError('KW_KUSTOMIZE', `${loaded.file}: ${field} changes ${name}, which does not exist`)
        change(base, entry, behavior === 'merge')
      }
    }
  }
}

function change(base: ResourceEntry, { object, needsHash }: ResourceEntry, isMerge: boolean): void {
  for (const field of ['data', 'binaryData']) {
    const data = { ...(isMerge ? (base.object[field] as object) : {}), ...(object[field] as object | undefined) }
    if (Object.keys(data).length > 0) base.object[field] = data
    else delete base.object[field]
  }
  for (const field of ['labels', 'annotations']) {
    const added = (object['metadata'] as MutableObject)[field]
    if (isJsonObject(added)) base.metadata[field] = { ...(base.metadata[field] as object | undefined), ...added }
  }
  base.needsHash = base.needsHash && needsHash
}

function generated(
  kind: 'ConfigMap' | 'Secret',
  generator: Kustomization,
  { file, folder, fields }: LoadedKustomization,
  texts: TextSource,
): ResourceEntry {
  const { name, namespace, type, options } = generator
  const general = isJsonObject(fields['generatorOptions']) ? fields['generatorOptions'] : {}
  const own = isJsonObject(options) ? options : {}
  const pairs = (field: string): Record<string, string> => ({
    ...pairsOf(file, field, general[field]),
    ...pairsOf(file, field, own[field]),
  })
  const labels = pairs('labels')
  const annotations = pairs('annotations')
  const data = dataOf(generator, file, (path) => {
    const text = texts.get(posix.join(folder, path))
    if (text === undefined) throw new KubewrightError('KW_KUSTOMIZE', `${file}: ${path} does not exist`)
    return text
  })
  const values = Object.entries(data).sort(([a], [b]) => (a < b ? -1 : 1))
  const encoded = kind === 'Secret' ? values.map(([key, of]) => [key, Buffer.from(of).toString('base64')]) : values
  const isImmutable = own['immutable'] === true || general['immutable'] === true
  const object: MutableObject = {
    apiVersion: 'v1',
    ...(values.length > 0 ? { data: Object.fromEntries(encoded) } : {}),
    ...(isImmutable ? { immutable: true } : {}),
    kind,
    metadata: {
      ...(Object.keys(annotations).length > 0 ? { annotations } : {}),
      ...(Object.keys(labels).length > 0 ? { labels } : {}),
      name,
      ...(typeof namespace === 'string' ? { namespace } : {}),
    },
    ...(kind === 'Secret' ? { type: type ?? 'Opaque' } : {}),
  }
  const entry = new ResourceEntry(object, file)
  entry.needsHash = own['disableNameSuffixHash'] !== true && general['disableNameSuffixHash'] !== true
  return entry
}

function dataOf(generator: Kustomization, file: string, read: (path: string) => string): Record<string, string> {
  const data: Record<string, string> = {}
  const strings = (field: string): readonly string[] => {
    const list = generator[field] ?? []
    if (!Array.isArray(list) || !list.every((item) => typeof item === 'string'))
      throw new KubewrightError('KW_KUSTOMIZE', `${file}: ${field} of a generator must be a list of strings`)
    return list
  }
  const add = (pair: string): void => {
    const at = pair.indexOf('=')
    if (at <= 0) throw new KubewrightError('KW_KUSTOMIZE', `${file}: "${pair}" must have the form KEY=VALUE`)
    data[pair.slice(0, at)] = pair.slice(at + 1).replace(/^(["'])(.*)\1$/s, '$2')
  }
  const { env } = generator
  for (const path of [...strings('envs'), ...(typeof env === 'string' ? [env] : [])]) {
    for (const line of read(path).split('\n')) {
      if (line.trim() !== '' && !line.startsWith('#')) add(line.trimStart())
    }
  }
  for (const item of strings('files')) {
    const at = item.indexOf('=')
    const path = item.slice(at + 1)
    data[at < 0 ? posix.basename(path) : item.slice(0, at)] = read(path)
  }
  for (const item of strings('literals')) add(item)
  return data
}

const letters: Readonly<Record<string, string>> = { '0': 'g', '1': 'h', '3': 'k', a: 'm', e: 't' }

/** Appends the hash of the content to the names of generated objects. */
export function addHashes(entries: readonly ResourceEntry[]): void {
  for (const entry of entries) {
    if (!entry.needsHash) continue
    const { kind, data = '', binaryData, type = '' } = entry.object
    const { name } = entry.id
    // As in kustomize/api/hasher: the fields in the order of their names, as Go encodes them. The name is always empty there.
    const content =
      kind === 'Secret'
        ? { data, kind, name: '', type }
        : { ...(binaryData === undefined ? {} : { binaryData }), data, kind, name: '' }
    const hex = createHash('sha256').update(goJson(content)).digest('hex').slice(0, 10)
    entry.rename(`${name}-${hex.replaceAll(/[013ae]/g, (letter) => letters[letter]!)}`)
  }
}

function goJson(value: object): string {
  return JSON.stringify(value).replaceAll(/[<>&\u2028\u2029]/g, (character) => {
    return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`
  })
}
