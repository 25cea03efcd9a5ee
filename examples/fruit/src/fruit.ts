import { crdOf, defineResource, type Infer, s } from 'kubewright'
import { CustomResourceDefinition } from 'kubewright/k8s'

/** A piece of fruit. The objects are only stored; no controller acts on them. */
export const Fruit = defineResource({
  group: 'user.k8sasdb.org',
  version: 'v1',
  kind: 'Fruit',
  spec: s
    .object({
      comment: s.string().optional(),
      sweetness: s.bool().optional(),
      weight: s.int().optional(),
    })
    .optional(),
})
export type Fruit = Infer<typeof Fruit>

const { metadata, spec } = crdOf(Fruit, { conversion: { strategy: 'None' } })

/** The CRD of the tutorial, with a status subresource although the schema has no status. */
export const fruitDefinition = CustomResourceDefinition({
  metadata,
  spec: { ...spec, versions: spec.versions.map((version) => ({ ...version, subresources: { status: {} } })) },
})
