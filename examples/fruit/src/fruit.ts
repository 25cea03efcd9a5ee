import { crdOf, defineResource, type Infer, s } from 'kubewright'
import { CustomResourceDefinition } from 'kubewright/k8s'

/** A piece of fruit, of which only data is kept: nothing happens because of it. */
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

/** The definition as the tutorial has it: with a status of its own to write to, though the schema knows no status. */
export const fruitDefinition = CustomResourceDefinition({
  metadata,
  spec: { ...spec, versions: spec.versions.map((version) => ({ ...version, subresources: { status: {} } })) },
})
