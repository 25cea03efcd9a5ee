import { type AnyKind, createKind } from '@kubewright/api'
import type { JSONSchemaProps } from '@kubewright/schema'
import { defaultServedRelease } from '../codec/served-release.ts'
import type { MutableObject } from '../resource/object.ts'
import { customOrigin } from '../resource/origin.ts'
import type { Resource } from '../resource/resource.ts'

/** A custom resource without a CRD, for tests of code that derives from the resource table. */
export function customResource(version: string, schema: JSONSchemaProps): Resource {
  const kind: AnyKind = createKind({
    group: 'shop.example.com',
    version,
    kind: 'Widget',
    plural: 'widgets',
    shortNames: ['wd'],
    categories: ['all'],
    schema: () => schema,
  })
  const { group, apiVersion, plural, singular, listKind, scope, shortNames, categories, subresources } = kind
  return {
    kind: {
      group,
      version,
      kind: 'Widget',
      apiVersion,
      plural,
      singular,
      listKind,
      scope,
      shortNames,
      categories,
      subresources,
      schema,
    },
    origin: customOrigin,
    release: defaultServedRelease,
    errorGroup: group,
    serving: { verbs: ['delete', 'deletecollection', 'get', 'list', 'patch', 'create', 'update', 'watch'] },
    strategy: {},
    subresources: { status: { verbs: ['get', 'patch', 'update'] } },
    storage: { prefix: '/registry/shop.example.com/widgets/', apiVersion, kind: 'Widget' },
    codec: {
      decode: (body) => JSON.parse(Buffer.from(body).toString()) as MutableObject,
      recheck: (object) => ({ object, strictErrors: [] }),
      toWorkingForm: (object) => object,
      toClientForm: (object) => object,
    },
    conversion: {},
    selectors: { fields: {} },
    presentation: {},
  }
}
