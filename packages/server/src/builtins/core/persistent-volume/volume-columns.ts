import { type Columns, textColumn, wideColumn } from '../../../table/columns.ts'

// Columns that volumes and claims share.

interface LooseVolume {
  readonly metadata?:
    | {
        readonly deletionTimestamp?: string | null | undefined
        readonly annotations?: { readonly [key: string]: string | null | undefined } | null | undefined
      }
    | null
    | undefined
  readonly spec?:
    | {
        readonly storageClassName?: string | null | undefined
        readonly volumeAttributesClassName?: string | null | undefined
        readonly volumeMode?: string | null | undefined
      }
    | null
    | undefined
  readonly status?: { readonly phase?: string | null | undefined } | null | undefined
}

/** The annotation that held the storage class before the field existed. It takes precedence over the field. */
const classAnnotation = 'volume.beta.kubernetes.io/storage-class'

/** The storage class and the volume attributes class. */
export const volumeClassColumns: readonly Columns<LooseVolume>[] = [
  textColumn(
    'StorageClass',
    'Name of the storage class.',
    ({ metadata, spec }) => metadata?.annotations?.[classAnnotation] ?? spec?.storageClassName ?? '',
  ),
  textColumn(
    'VolumeAttributesClass',
    'Name of the volume attributes class.',
    ({ spec }) => spec?.volumeAttributesClassName ?? '<unset>',
  ),
]

/** Whether the volume is a file system or a block device, for wide output. */
export const volumeModeColumn: Columns<LooseVolume> = wideColumn(
  'VolumeMode',
  'Whether the volume has a file system or is a block device.',
  ({ spec }) => spec?.volumeMode ?? '<unset>',
)

/** The phase, or that the object is being deleted. */
export function volumePhase({ metadata, status }: LooseVolume): string {
  return metadata?.deletionTimestamp ? 'Terminating' : (status?.phase ?? '')
}

const shortModes = {
  ReadWriteOnce: 'RWO',
  ReadOnlyMany: 'ROX',
  ReadWriteMany: 'RWX',
  ReadWriteOncePod: 'RWOP',
} as const

/** Access modes in their short form, each once. */
export function accessModesText(modes: readonly string[] | null | undefined): string {
  return Object.entries(shortModes)
    .filter(([mode]) => modes?.includes(mode))
    .map(([, short]) => short)
    .join(',')
}
