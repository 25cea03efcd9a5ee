import { posix } from 'node:path'
import { parseManifests, parseYaml } from '@kubewright/api'
import { deepCopy, isJsonObject, KubewrightError } from '@kubewright/base'
import { addHashes, generateObjects } from './generate-objects.ts'
import {
  type Kustomization,
  type LoadedKustomization,
  loadKustomization,
  loadObjects,
  parsed,
  recordsOf,
  stringsOf,
  type TextSource,
  unsupported,
} from './kustomization.ts'
import { declaredReferences, fixReferences, type NameReference } from './name-references.ts'
import { applyPatch, type PatchSource } from './patch-objects.ts'
import { describeId, type MutableObject, ResourceEntry } from './resource-entry.ts'
import { addAffix, addAnnotations, addLabels, setImages, setNamespace, setReplicas } from './transform-objects.ts'

/** An object of a build, with the file that contains it. */
export interface BuiltObject {
  readonly object: Readonly<Record<string, unknown>>
  readonly file: string
}

/** The options of {@link buildKustomization}. */
export interface BuildOptions {
  /** Changes a kustomization before it is built. @default no change */
  readonly edit?: ((folder: string, fields: Kustomization) => Kustomization) | undefined
}

/**
 * Builds a kustomization, as `kubectl kustomize FOLDER` does, in the order of kustomize: resources, generators, components, patches,
 * namespace, prefix and suffix, labels, annotations, JSON patches, replicas, images, transformers. References are changed last, when all
 * names are final. Fields that are not supported are errors, so the result never lacks a part silently.
 */
export function buildKustomization(texts: TextSource, folder: string, options: BuildOptions = {}): BuiltObject[] {
  const build = new Build(texts, options)
  const entries = build.folder(folder, [])
  addHashes(entries)
  fixReferences(entries, build.references)
  return entries
    .filter(({ metadata }) => !isLocal(metadata['annotations']))
    .map(({ object, file }) => ({ object, file }))
}

const isLocal = (annotations: unknown): boolean =>
  isJsonObject(annotations) && annotations['config.kubernetes.io/local-config'] === 'true'

class Build {
  readonly references: NameReference[] = []
  readonly #texts: TextSource
  readonly #options: BuildOptions

  constructor(texts: TextSource, options: BuildOptions) {
    this.#texts = texts
    this.#options = options
  }

  /** The objects of a folder with a kustomization. `parents` are the folders that include it. */
  folder(folder: string, parents: readonly string[]): ResourceEntry[] {
    const loaded = this.#load(folder, parents)
    if (loaded.fields['kind'] === 'Component') {
      const user = parents.at(-1)
      if (user !== undefined)
        throw new KubewrightError(
          'KW_KUSTOMIZE',
          `${user} lists ${folder} under resources, but it is a component: move it to the list components`,
        )
    }
    const entries: ResourceEntry[] = []
    this.#fill(entries, loaded, parents)
    return entries
  }

  #load(folder: string, parents: readonly string[]): LoadedKustomization {
    const loaded = loadKustomization(this.#texts, folder)
    if (loaded === undefined) {
      const user = parents.at(-1)
      throw new KubewrightError(
        'KW_KUSTOMIZE',
        user === undefined
          ? `${folder} has no kustomization.yaml`
          : `${user} names ${folder}, which is neither a file nor a folder with a kustomization.yaml`,
      )
    }
    if (parents.includes(loaded.file))
      throw new KubewrightError('KW_KUSTOMIZE', `${loaded.file} includes itself through ${parents.at(-1)}`)
    const { edit } = this.#options
    return edit === undefined ? loaded : { ...loaded, fields: edit(folder, loaded.fields) }
  }

  #fill(entries: ResourceEntry[], loaded: LoadedKustomization, parents: readonly string[]): void {
    const { file, fields } = loaded
    const chain = [...parents, file]
    for (const path of stringsOf(loaded, 'resources')) this.#add(entries, this.#resource(loaded, path, chain), file)
    this.#configure(loaded)
    generateObjects(entries, loaded, this.#texts)
    for (const path of stringsOf(loaded, 'components')) {
      const component = this.#load(posix.join(loaded.folder, path), chain)
      if (component.fields['kind'] !== 'Component')
        throw new KubewrightError(
          'KW_KUSTOMIZE',
          `${file} lists ${path} under components, but it is not a component: move it to resources`,
        )
      this.#fill(entries, component, chain)
    }
    this.#transform(entries, loaded)
    for (const path of stringsOf(loaded, 'transformers')) this.#runTransformer(entries, loaded, path)
    if (fields['kind'] !== undefined && !['Kustomization', 'Component'].includes(String(fields['kind'])))
      throw new KubewrightError(
        'KW_KUSTOMIZE',
        `${file}: kind must be Kustomization or Component, not ${String(fields['kind'])}`,
      )
  }

  #resource({ folder, file }: LoadedKustomization, path: string, chain: readonly string[]): ResourceEntry[] {
    if (/^(https?:|git@|ssh:|github\.com\/)|[?]ref=/.test(path)) throw unsupported(file, `the remote resource ${path}`)
    const at = posix.join(folder, path)
    const text = this.#texts.get(at)
    if (text === undefined) return this.folder(at, chain)
    return loadObjects(at, text).map((object) => new ResourceEntry(deepCopy(object) as MutableObject, at))
  }

  #add(entries: ResourceEntry[], added: readonly ResourceEntry[], file: string): void {
    for (const entry of added) {
      const id = JSON.stringify(entry.id)
      if (entries.some((other) => JSON.stringify(other.id) === id))
        throw new KubewrightError(
          'KW_KUSTOMIZE',
          `${file}: ${entry.file} contains ${describeId(entry.id)}, which exists already`,
        )
      entries.push(entry)
    }
  }

  #configure(loaded: LoadedKustomization): void {
    for (const path of stringsOf(loaded, 'configurations')) {
      const [file, text] = this.#read(loaded, path)
      const configuration = parsed(file, () => parseYaml(text) ?? {})
      if (!isJsonObject(configuration))
        throw new KubewrightError('KW_KUSTOMIZE', `${file} must contain fields, such as nameReference`)
      this.references.push(...declaredReferences(file, configuration))
    }
  }

  #transform(entries: ResourceEntry[], loaded: LoadedKustomization): void {
    const { file, fields } = loaded
    for (const patch of stringsOf(loaded, 'patchesStrategicMerge')) {
      // An entry is a path or the patch itself.
      const [origin, text] = patch.includes('\n') ? [file, patch] : this.#read(loaded, patch)
      applyPatch(entries, { file, origin, text, target: undefined })
    }
    for (const patch of recordsOf(loaded, 'patches')) applyPatch(entries, this.#patch(loaded, patch))
    const text = (field: string): string => (typeof fields[field] === 'string' ? fields[field] : '')
    if (text('namespace') !== '') setNamespace(entries, text('namespace'))
    addAffix(entries, text('namePrefix'), '')
    addAffix(entries, '', text('nameSuffix'))
    addLabels(entries, loaded)
    addAnnotations(entries, loaded)
    for (const patch of recordsOf(loaded, 'patchesJson6902')) applyPatch(entries, this.#patch(loaded, patch))
    setReplicas(entries, loaded)
    setImages(entries, loaded)
  }

  #patch(loaded: LoadedKustomization, { path, patch, target, options }: Kustomization): PatchSource {
    const { file } = loaded
    if ((typeof path === 'string') === (typeof patch === 'string'))
      throw new KubewrightError('KW_KUSTOMIZE', `${file}: a patch must have either path or patch`)
    const [origin, text] = typeof path === 'string' ? this.#read(loaded, path) : [file, String(patch)]
    return { file, origin, text, target: isJsonObject(target) ? target : undefined, options }
  }

  #runTransformer(entries: ResourceEntry[], loaded: LoadedKustomization, path: string): void {
    const [file, text] = path.includes('\n') ? [loaded.file, path] : this.#read(loaded, path)
    for (const value of parsed(file, () => parseManifests(text))) {
      const { apiVersion, kind, ...fields } = isJsonObject(value) ? value : {}
      if (apiVersion !== 'builtin' || kind !== 'PatchTransformer')
        throw unsupported(file, `the transformer ${String(kind)}`)
      applyPatch(entries, this.#patch(loaded, fields))
    }
  }

  /** Reads a file that a kustomization names. */
  #read({ folder, file }: LoadedKustomization, path: string): readonly [file: string, text: string] {
    const at = posix.join(folder, path)
    const text = this.#texts.get(at)
    if (text === undefined) throw new KubewrightError('KW_KUSTOMIZE', `${file} names ${path}, which does not exist`)
    return [at, text]
  }
}
