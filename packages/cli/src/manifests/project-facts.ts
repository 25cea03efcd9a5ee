import { readFile } from 'node:fs/promises'
import { extname, join } from 'node:path'
import { parseYaml } from '@kubewright/api'
import { asJsonObject, asList, errorText, KubewrightError } from '@kubewright/base'
import type { ManifestOptions } from './manifest-options.ts'

/** Facts about a project from its files. */
export interface ProjectFacts {
  readonly version: string | undefined
  readonly description: string | undefined
  readonly author: { readonly name: string; readonly email: string | undefined } | undefined
  readonly keywords: readonly string[]
  readonly homepage: string | undefined
  readonly license: string | undefined
  /** The file of its icon, relative to the project. */
  readonly iconFile: string | undefined
  /** Whether the operator is restricted to its own namespace. */
  readonly namespaced: boolean
  /** Groups whose CRDs other projects install. */
  readonly externalGroups: readonly string[]
  /** The options that config/ was generated with, including changes by hand. */
  readonly chosen: ManifestOptions
}

/** Reads package.json, PROJECT and the kustomizations of config/, if they exist. */
export async function projectFacts(folder: string): Promise<ProjectFacts> {
  const manifest = asJsonObject(await readJson(join(folder, 'package.json')))
  const project = asJsonObject(await readYaml(join(folder, 'PROJECT')))
  const own = asJsonObject(manifest['kubewright'])
  const external = asList(project['resources'])
    .map(asJsonObject)
    .filter((resource) => resource['external'] === true)
    .map(({ group, domain }) => [group, domain].filter((part) => typeof part === 'string' && part !== '').join('.'))
  return {
    version: text(manifest['version']),
    description: text(manifest['description']),
    author: authorOf(manifest['author']),
    keywords: asList(manifest['keywords']).filter((word) => typeof word === 'string'),
    homepage: text(manifest['homepage']),
    license: text(manifest['license']),
    iconFile: text(own['icon']),
    namespaced: project['namespaced'] === true,
    externalGroups: [...external, ...asList(own['externalGroups']).filter((group) => typeof group === 'string')],
    chosen: await chosenIn(folder),
  }
}

async function chosenIn(folder: string): Promise<ManifestOptions> {
  const { namespace, resources, components } = asJsonObject(
    await readYaml(join(folder, 'config/default/kustomization.yaml')),
  )
  const manager = asJsonObject(await readYaml(join(folder, 'config/manager/kustomization.yaml')))
  const image = asList(manager['images'])
    .map(asJsonObject)
    .find(({ name }) => name === 'controller')
  const has = (path: string): boolean | undefined =>
    resources === undefined ? undefined : asList(components).includes(path)
  return {
    namespace: text(namespace),
    image: image && imageOf(image),
    certManager: has('../certmanager'),
    prometheus: has('../prometheus'),
    networkPolicy: has('../network-policy'),
  }
}

function imageOf({ newName, newTag, digest }: Readonly<Record<string, unknown>>): string | undefined {
  const name = text(newName)
  if (name === undefined) return undefined
  if (typeof digest === 'string') return `${name}@${digest}`
  // YAML parses a tag such as 1.10 as a number.
  return `${name}:${newTag === undefined ? 'latest' : String(newTag)}`
}

function authorOf(author: unknown): ProjectFacts['author'] {
  if (typeof author === 'string') {
    const [, name = author, email] = /^(.*?)\s*(?:<([^>]*)>)?\s*(?:\(.*\))?$/.exec(author) ?? []
    return { name, email }
  }
  const { name, email } = asJsonObject(author)
  return typeof name === 'string' ? { name, email: text(email) } : undefined
}

const mediaTypes: Readonly<Record<string, string>> = {
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.jpg': 'image/jpeg',
  '.jpeg': 'image/jpeg',
  '.gif': 'image/gif',
}

/** Reads the icon of an operator. */
export async function readIcon(folder: string, file: string): Promise<{ mediatype: string; base64data: string }> {
  const named = '"kubewright": { "icon": FILE } in package.json'
  const mediatype = mediaTypes[extname(file).toLowerCase()]
  if (mediatype === undefined)
    throw new KubewrightError(
      'KW_MANIFEST',
      `${named} must be one of ${Object.keys(mediaTypes).join(', ')}, not "${file}"`,
    )
  try {
    return { mediatype, base64data: (await readFile(join(folder, file))).toString('base64') }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
    throw new KubewrightError('KW_MANIFEST', `${named} names ${file}, which does not exist: correct the path`, {
      cause: error,
    })
  }
}

async function readJson(file: string): Promise<unknown> {
  const found = await readText(file)
  if (found === undefined) return undefined
  try {
    return JSON.parse(found)
  } catch (error) {
    throw new KubewrightError('KW_MANIFEST', `${file} is not valid: ${errorText(error)}`, {
      cause: error,
    })
  }
}

async function readYaml(file: string): Promise<unknown> {
  const found = await readText(file)
  if (found === undefined) return undefined
  try {
    return parseYaml(found)
  } catch (error) {
    throw new KubewrightError('KW_MANIFEST', `${file} is not valid: ${errorText(error)}`, {
      cause: error,
    })
  }
}

async function readText(file: string): Promise<string | undefined> {
  try {
    return await readFile(file, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}

const text = (value: unknown): string | undefined => (typeof value === 'string' && value !== '' ? value : undefined)
