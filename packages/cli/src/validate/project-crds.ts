import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { encodeJson, parseGroupVersion } from '@kubewright/api'
import { crdsIn, isCrd, objectsIn } from '../input/crds-in.ts'
import { type ManifestDocument, readManifests } from '../input/read-manifests.ts'

const generated = 'config/crd/bases'

/**
 * The CRDs of the project in a folder, as `generate` wrote them, of the kinds among the documents. Without those that the given documents
 * contain themselves. The CRDs convert by changing apiVersion only, because the conversion webhook of the operator does not run.
 */
export async function projectCrds(
  folder: string,
  documents: readonly ManifestDocument[],
  given: readonly ManifestDocument[] = [],
): Promise<ManifestDocument[]> {
  const file = join(folder, generated)
  if (!existsSync(file)) return []
  const wanted = new Set(documents.flatMap(({ value }) => objectsIn(value).map(kindOf)))
  const objects: readonly unknown[] = [...documents, ...given].flatMap(({ value }) => objectsIn(value))
  const known = new Set(objects.filter(isCrd).map(({ metadata }) => metadata.name))
  const crds = crdsIn(await readManifests([file])).filter(
    ({ metadata, spec }) => wanted.has(`${spec.group} ${spec.names.kind}`) && !known.has(metadata.name),
  )
  return crds.map((crd) => {
    const { conversion: _, ...spec } = crd.spec as typeof crd.spec & { readonly conversion?: unknown }
    const value = { ...crd, spec }
    return { file, line: 1, text: encodeJson(value), value }
  })
}

function kindOf({ apiVersion, kind }: Readonly<Record<string, unknown>>): string {
  return `${parseGroupVersion(String(apiVersion)).group} ${String(kind)}`
}
