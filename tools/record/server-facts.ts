// Reads the facts of a release back from the packages, so that the default release can change without a new recording.
import { lineTable, type Release } from '../../packages/k8s/src/releases.ts'
import { policyOf } from '../../packages/server/src/bootstrap/bootstrap-policy.ts'
import { goTypes } from '../../packages/server/src/codec/generated/go-types.ts'
import { fieldNumbers } from '../../packages/server/src/codec/generated/protobuf-fields.ts'
import { releaseLoaders } from '../../packages/server/src/codec/generated/release-loaders.ts'
import { packageFacts } from '../generate-k8s/package-facts.ts'
import type { ReleaseRecord } from './write-release.ts'

/** Returns all facts of a release, as the packages have them. */
export async function packageRecord(release: Release): Promise<ReleaseRecord> {
  const changes = (await releaseLoaders[release.version]?.())?.changes ?? {}
  const keys = [...new Set([...Object.keys(goTypes), ...Object.keys(changes)])].sort()
  const names = (isOn: boolean, isLocked: boolean): string =>
    [...release.featureGates]
      .filter(([, gate]) => gate.default === isOn && gate.isLocked === isLocked)
      .map(([name]) => name)
      .join(' ')
  return {
    api: packageFacts(release),
    gates: {
      on: names(true, false),
      off: names(false, false),
      lockedOn: names(true, true),
      lockedOff: names(false, true),
    },
    goTypes: Object.fromEntries(
      keys.flatMap((key) => {
        const lines = [...lineTable(goTypes[key] ?? '', changes[key]).values()]
        return lines.length === 0 ? [] : [[key, lines.join('\n')]]
      }),
    ),
    bootstrap: await policyOf(release.version),
  }
}

/** The numbers of protobuf fields of all releases. */
export const packageFieldNumbers: Readonly<Record<string, string>> = fieldNumbers
