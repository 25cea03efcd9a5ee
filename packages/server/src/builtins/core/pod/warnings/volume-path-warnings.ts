import type { Volume } from '../pod-types.ts'

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
      warnings.push(`volume ${JSON.stringify(name)} (${what}): overlapping paths: ${overlap}`)
    }
  }
  if (configMap?.items) check(`ConfigMap ${JSON.stringify(configMap.name ?? '')}`, filesOf(configMap.items, ''))
  if (secret?.items) check(`Secret ${JSON.stringify(secret.secretName ?? '')}`, filesOf(secret.items, ''))
  if (downwardAPI?.items) check('DownwardAPI', filesOf(downwardAPI.items, ''))
  if (!projected) return warnings
  const files: VolumeFile[] = []
  for (const source of projected.sources ?? []) {
    if (Object.keys(source).length === 0) {
      warnings.push(`volume ${JSON.stringify(name)} (Projected) has no sources provided`)
    } else files.push(...projectedFiles(source))
  }
  check('Projected', files)
  return warnings
}

type Source = NonNullable<NonNullable<Volume['projected']>['sources']>[number]

function projectedFiles(source: Source): VolumeFile[] {
  const { configMap, secret, downwardAPI, serviceAccountToken: token } = source
  if (configMap?.items) return filesOf(configMap.items, `ConfigMap ${JSON.stringify(configMap.name ?? '')}`)
  if (secret?.items) return filesOf(secret.items, `Secret ${JSON.stringify(secret.name ?? '')}`)
  if (downwardAPI?.items) return filesOf(downwardAPI.items, 'DownwardAPI')
  if (token) return filesOf([token], 'ServiceAccountToken')
  return []
}

function filesOf(items: readonly { path?: string | undefined }[], source: string): VolumeFile[] {
  return items.map(({ path = '' }) => ({ path: path.replace(/\/+$/, ''), source }))
}

/** Finds pairs of files whose paths are equal or nested. */
function overlapsOf(files: readonly VolumeFile[]): string[] {
  const overlaps: string[] = []
  for (const [i, file] of files.entries()) {
    if (file.path === '') continue
    for (const other of files.slice(0, i)) {
      if (other.path === '') continue
      const within = file.path.startsWith(`${other.path}/`) || other.path.startsWith(`${file.path}/`)
      if (file.path === other.path || within) overlaps.push(`${printed(file)} with ${printed(other)}`)
    }
  }
  return overlaps
}

function printed({ path, source }: VolumeFile): string {
  return source === '' ? JSON.stringify(path) : `${JSON.stringify(path)} (${source})`
}
