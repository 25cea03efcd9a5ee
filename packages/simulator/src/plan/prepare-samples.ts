import type { AnyKind, KubeObject } from '@kubewright/api'
import { errorText, KubewrightError } from '@kubewright/base'
import { type Client, createClient } from '@kubewright/client'
import type { ControlPlane } from '@kubewright/controlplane'
import type { Operator } from '@kubewright/runtime'
import { objectId } from '../define/object-id.ts'
import { invalidValuesOf } from './invalid-values.ts'
import { isBuiltin, metadataVariantsOf, relabeledOf, selectorsOf } from './metadata-variants.ts'
import { controlledKinds } from './operator-facts.ts'
import { collectionPath, otherNamespace, type RefusedVariant, type Sample } from './samples.ts'
import { combinedVariant, minimalValue, switchedVariants, type Variant, variantsOf } from './variants.ts'

const maxVariants = 16
const maxRefused = 12
const maxSwitches = 4
// After the changes of two fields, which are easier to understand.
const relabeledPlace = 3

/** Creates the input objects, and prepares the variants of the others. */
export async function prepareSamples(
  plane: ControlPlane,
  operator: Operator,
  given: readonly object[],
): Promise<Sample[]> {
  const kinds = controlledKinds(operator)
  const samples: Sample[] = []
  const admin = createClient({ transport: plane.transport(), clock: plane.clock, namespace: 'default' })
  const subjects: { readonly kind: AnyKind; readonly object: KubeObject }[] = []
  for (const object of given as readonly KubeObject[]) {
    const kind = kinds.find((one) => one.kind === object.kind && groupOf(object.apiVersion) === one.group)
    if (kind !== undefined) {
      // A sample of another version has other fields; the conversion has tests of its own.
      if (object.apiVersion === kind.apiVersion) subjects.push({ kind, object })
      continue
    }
    await createInput(admin, object)
    const { namespace = 'default', ...metadata } = object.metadata
    const isInNamespace = !clusterScoped.test(object.kind) && namespace === 'default'
    const copy = { ...object, metadata: { ...metadata, namespace: otherNamespace } }
    if (isInNamespace) await admin.apply(copy as never, { fieldManager: 'user', force: true }).catch(() => undefined)
  }
  const missing = kinds.filter((kind) => !subjects.some((subject) => subject.kind.kind === kind.kind))
  if (subjects.length === 0) {
    for (const kind of missing) {
      const object = generatedSample(kind)
      if (object !== undefined && (await refusalOf(plane, kind, object)) === undefined) subjects.push({ kind, object })
    }
  }
  for (const { kind, object } of subjects) {
    const { apiVersion: _, kind: __, metadata, status: ___, ...body } = object as KubeObject & Record<string, unknown>
    const { name, labels, annotations } = metadata
    const kept = { name, ...(labels ? { labels } : {}), ...(annotations ? { annotations } : {}) }
    const draftOf = ({ body: { metadata: _, ...fields } }: Variant): object => ({
      apiVersion: kind.apiVersion,
      kind: kind.kind,
      metadata: { name },
      ...fields,
    })
    const variants: Variant[] = [{ text: '', body }]
    if (isBuiltin(kind)) variants.push(...metadataVariantsOf(body, kept, selectorsOf(operator)))
    const refused: RefusedVariant[] = []
    const names = new Set(
      (given as readonly KubeObject[]).filter((other) => other !== object).map(({ metadata: { name } }) => name),
    )
    const alone: Variant[] = []
    for (const variant of spread(variantsOf(kind.schema, body, names), 64)) {
      if (variants.length >= maxVariants) break
      const message = await refusalOf(plane, kind, draftOf(variant))
      if (message === undefined) variants.push(variant)
      else {
        alone.push(variant)
        if (refused.length < maxRefused / 2) refused.push({ ...variant, message })
      }
    }
    for (const variant of switchedVariants(variants[0]!, alone).slice(0, maxSwitches)) {
      if ((await refusalOf(plane, kind, draftOf(variant))) === undefined) variants.push(variant)
    }
    if (!isBuiltin(kind)) variants.splice(relabeledPlace, 0, ...relabeledOf(body, kept, selectorsOf(operator)))
    const combined = combinedVariant(variants)
    if (combined !== undefined && (await refusalOf(plane, kind, draftOf(combined))) === undefined) {
      variants.push(combined)
    }
    // If the server does not accept the sample itself, a refusal of another form means nothing.
    const isAccepted = (await refusalOf(plane, kind, draftOf(variants[0]!))) === undefined
    for (const variant of isAccepted ? spread(invalidValuesOf(kind.schema, body), 32) : []) {
      if (refused.length >= maxRefused) break
      const message = await refusalOf(plane, kind, draftOf(variant))
      if (message !== undefined) refused.push({ ...variant, message })
    }
    samples.push({ kind, metadata: kept, variants, refused: isAccepted ? refused : [] })
  }
  return samples
}

async function createInput(admin: Client, object: KubeObject): Promise<void> {
  try {
    await admin.apply(object as never, { fieldManager: 'user', force: true })
  } catch (cause) {
    throw new KubewrightError(
      'KW_SIMULATION_SAMPLES',
      `Cannot create the given ${objectId(object)} before the operator starts: ${errorText(cause)}`,
      { cause },
    )
  }
}

const groupOf = (apiVersion: string): string => (apiVersion.includes('/') ? apiVersion.replace(/\/.*/s, '') : '')

/** At most `most` items, spread over the list. */
function spread<T>(items: readonly T[], most: number): readonly T[] {
  if (items.length <= most) return items
  return Array.from({ length: most }, (_, index) => items[Math.floor((index * items.length) / most)]!)
}

const clusterScoped = /^(Namespace|Node|PersistentVolume|StorageClass|ClusterRole|ClusterRoleBinding)$/

/** The message with which the server or one of the operator's webhooks refuses to create an object; undefined if they accept it. */
async function refusalOf(plane: ControlPlane, kind: AnyKind, draft: object): Promise<string | undefined> {
  const namespace = kind.scope === 'Namespaced' ? 'default' : undefined
  const path = `${collectionPath(kind, namespace)}?dryRun=All`
  const body = Buffer.from(JSON.stringify(draft))
  const headers = { 'content-type': 'application/json' }
  const response = await plane.transport().send({ method: 'POST', path, headers, body })
  const answer = JSON.parse(Buffer.from(await response.body.bytes()).toString()) as { message?: string | undefined }
  return response.status < 300 ? undefined : (answer.message ?? `status ${response.status}`)
}

/** An object with the required fields of the schema. */
function generatedSample(kind: AnyKind): KubeObject | undefined {
  const { apiVersion, kind: name, schema } = kind
  const spec = schema.properties?.['spec']
  const body = spec === undefined ? {} : minimalValue(spec, 'spec')
  if (body === undefined) return undefined
  const object = { apiVersion, kind: name, metadata: { name: `${kind.singular}-sample` } }
  return (spec === undefined ? object : { ...object, spec: body }) as unknown as KubeObject
}
