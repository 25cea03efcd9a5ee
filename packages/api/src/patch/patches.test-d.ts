import type { JSONSchemaProps } from '@kubewright/schema'
import type { JsonObject } from '../own-property.ts'
import { createJsonPatch } from './create-json-patch.ts'
import { applyJsonPatch } from './json-patch.ts'
import { applyMergePatch, createMergePatch } from './merge-patch.ts'
import { createTwoWayStrategicMergePatch } from './strategic/create-strategic-merge-patch.ts'
import { applyStrategicMergePatch } from './strategic/strategic-merge.ts'

type Equal<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false
const isTrue = <T extends true>(): T | undefined => undefined

/** Interfaces have no index signature; the patch functions must accept them anyway. */
interface Widget {
  readonly spec: { readonly size: number }
}
declare const widget: Widget
declare const schema: JSONSchemaProps

const merged = applyMergePatch(widget, createMergePatch(widget, widget))
isTrue<Equal<typeof merged, Widget>>()
const patched = applyJsonPatch(widget, createJsonPatch(widget, widget))
isTrue<Equal<typeof patched, Widget>>()
const patch = createTwoWayStrategicMergePatch(widget, widget, schema)
isTrue<Equal<typeof patch, JsonObject>>()
const strategic = applyStrategicMergePatch(widget, patch, schema)
isTrue<Equal<typeof strategic, Widget>>()

// @ts-expect-error: a strategic merge requires a schema.
applyStrategicMergePatch(widget, patch)
// @ts-expect-error: a scalar is not a document.
createMergePatch('a', 'b')
// @ts-expect-error: an operation requires a path.
applyJsonPatch(widget, [{ op: 'remove' }])
