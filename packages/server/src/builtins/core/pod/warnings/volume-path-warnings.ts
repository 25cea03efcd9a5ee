import { append, goQuote } from '@kubewright/base'
import type { Volume } from '../pod-types.ts'
import { maxPodWarnings } from './max-pod-warnings.ts'

interface VolumeFile {
  readonly path: string
  /** The source of the file within a projected volume; empty for other volumes. */
  readonly source: string
}

/** Warns about files of a volume that hide each other. */
export function volumePathWarnings(volume: Volume): string[] {
  const { name = '', configMap, secret, downwardAPI, projected } = volume
  const warnings: string[] = []
  const check = (what: string, files: readonly VolumeFile[]): void => {
    for (const overlap of overlapsOf(files)) {
      warnings.push(`volume ${goQuote(name)} (${what}): overlapping paths: ${overlap}`)
    }
  }
  if (configMap?.items) check(`ConfigMap ${goQuote(configMap.name ?? '')}`, filesOf(configMap.items, ''))
  if (secret?.items) check(`Secret ${goQuote(secret.secretName ?? '')}`, filesOf(secret.items, ''))
  if (downwardAPI?.items) check('DownwardAPI', filesOf(downwardAPI.items, ''))
  if (!projected) return warnings
  const files: VolumeFile[] = []
  for (const source of projected.sources ?? []) {
    if (Object.keys(source).length === 0) {
      warnings.push(`volume ${goQuote(name)} (Projected) has no sources provided`)
    } else append(files, projectedFiles(source))
  }
  check('Projected', files)
  return warnings
}

type Source = NonNullable<NonNullable<Volume['projected']>['sources']>[number]

function projectedFiles(source: Source): VolumeFile[] {
  const { configMap, secret, downwardAPI, serviceAccountToken: token } = source
  if (configMap?.items) return filesOf(configMap.items, `ConfigMap ${goQuote(configMap.name ?? '')}`)
  if (secret?.items) return filesOf(secret.items, `Secret ${goQuote(secret.name ?? '')}`)
  if (downwardAPI?.items) return filesOf(downwardAPI.items, 'DownwardAPI')
  if (token) return filesOf([token], 'ServiceAccountToken')
  return []
}

function filesOf(items: readonly { path?: string | undefined }[], source: string): VolumeFile[] {
  return items.map(({ path = '' }) => ({ path: withoutTrailingSlashes(path), source }))
}

/** A loop, because a regular expression would try every slash of a long run of them as the start. */
function withoutTrailingSlashes(path: string): string {
  let end = path.length
  while (end > 0 && path.charCodeAt(end - 1) === 0x2f) end--
  return path.slice(0, end)
}

/**
 * Finds pairs of files whose paths are equal or nested, at most {@link maxPodWarnings}. Sorts the paths, so that the paths below a
 * directory follow it directly: the work is bounded by the length of the input and the number of pairs.
 */
function overlapsOf(files: readonly VolumeFile[]): string[] {
  const sorted = files
    .map(({ path }, index) => ({ prefix: `${path}/`, index }))
    .filter(({ prefix }) => prefix !== '/')
    .sort((a, b) => (a.prefix < b.prefix ? -1 : a.prefix > b.prefix ? 1 : 0))
  const pairs: (readonly [later: number, earlier: number])[] = []
  // The files that equal or contain the current one.
  const enclosing: { readonly prefix: string; readonly index: number }[] = []
  for (const current of sorted) {
    while (enclosing.length > 0 && !current.prefix.startsWith(enclosing.at(-1)!.prefix)) enclosing.pop()
    for (const { index } of enclosing) {
      if (pairs.length >= maxPodWarnings) break
      pairs.push(index < current.index ? [current.index, index] : [index, current.index])
    }
    enclosing.push(current)
  }
  pairs.sort((a, b) => a[0] - b[0] || a[1] - b[1])
  return pairs.map(([later, earlier]) => `${printed(files[later]!)} with ${printed(files[earlier]!)}`)
}

function printed({ path, source }: VolumeFile): string {
  return source === '' ? goQuote(path) : `${goQuote(path)} (${source})`
}
