import {
  applyJsonPatch,
  applyMergePatch,
  applyStrategicMergePatch,
  createFieldManager,
  createJsonPatch,
  createMergePatch,
  decodeJson,
} from '@kubewright/api'
import { deepCopy } from '@kubewright/base'
import { Deployment } from '@kubewright/k8s'
import { compileSchema } from '@kubewright/schema'
import { Ajv } from 'ajv'
import fastJsonPatch from 'fast-json-patch'
import { deployment } from './fixtures/deployment.ts'
import { webSite, webSiteDraft, webSiteSchema } from './fixtures/web-site.ts'
import type { Suite } from './harness.ts'

const schema = compileSchema(webSiteSchema)
const ajv = new Ajv({ strict: false, validateFormats: false, allErrors: true }).compile(webSiteSchema as object)
const stored = webSite()
const draft = webSiteDraft()
const ajvDefaults = new Ajv({
  strict: false,
  validateFormats: false,
  allErrors: true,
  useDefaults: true,
  removeAdditional: 'all',
})
const ajvDefault = ajvDefaults.compile(webSiteSchema as object)

const manifest = deployment()
const changed = deployment('nginx:1.28')
const merge = createMergePatch(manifest, changed)
const jsonPatch = createJsonPatch(manifest, changed)
const strategic = { spec: { template: { spec: { containers: [{ name: 'web', image: 'nginx:1.28' }] } } } }

const now = '2026-01-02T03:04:05Z'
const sites = createFieldManager({ apiVersion: 'example.com/v1', kind: 'WebSite', schemaFor: () => webSiteSchema })
const deployments = createFieldManager({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  schemaFor: () => Deployment.schema,
})
const siteConfig = { ...webSiteDraft(), spec: webSite()['spec'] }
const liveSite = sites.apply(undefined, siteConfig, { manager: 'team', now }).object
const nextSite = { ...siteConfig, spec: { ...(siteConfig.spec as object), replicas: 5 } }
const liveDeployment = deployments.apply(undefined, manifest, { manager: 'team', now }).object
const text = JSON.stringify(stored)

/** Operations on one object that an API server performs for each request. */
export const suite: Suite = {
  title: 'API machinery',
  about:
    'One custom resource of 1.5 KiB and one Deployment. ajv checks the same schema, without formats and with its own messages. It neither prunes nested unknown fields like Kubernetes nor supports list types.',
  rows: [
    {
      title: 'validate a custom resource',
      ours: () => schema.validate(stored),
      peers: { ajv: () => ajv(stored) },
      note: 'ours includes formats, list types and embedded checks',
    },
    {
      title: 'copy + prune + default + validate a custom resource',
      ours: () => {
        const object = deepCopy(draft)
        schema.prune(object)
        schema.default(object)
        return schema.validate(object)
      },
      peers: { 'ajv (removeAdditional, useDefaults)': () => ajvDefault(deepCopy(draft)) },
      aim: 20,
    },
    {
      title: 'the copy of the row above',
      ours: () => deepCopy(draft),
      peers: { structuredClone: () => structuredClone(draft) },
    },
    {
      title: 'decode 1.5 KiB of JSON, reporting unknown and duplicate fields',
      ours: () => decodeJson(text, { strict: true, schema: webSiteSchema }),
      peers: { 'JSON.parse': () => JSON.parse(text) },
      note: 'JSON.parse reports neither',
    },
    {
      title: 'JSON patch of a Deployment: apply',
      ours: () => applyJsonPatch(manifest, jsonPatch),
      peers: { 'fast-json-patch': () => fastJsonPatch.applyPatch(manifest, jsonPatch as never, false, false) },
      note: 'neither changes the document',
    },
    {
      title: 'JSON patch of a Deployment: create',
      ours: () => createJsonPatch(manifest, changed),
      peers: { 'fast-json-patch': () => fastJsonPatch.compare(manifest, changed) },
    },
    { title: 'merge patch of a Deployment: apply', ours: () => applyMergePatch(manifest, merge) },
    {
      title: 'strategic merge patch of a Deployment: apply',
      ours: () => applyStrategicMergePatch(manifest, strategic, Deployment.schema),
    },
    {
      title: 'server-side apply of a custom resource, one field changed',
      ours: () => sites.apply(liveSite, nextSite, { manager: 'team', now }),
      aim: 100,
    },
    {
      title: 'server-side apply of a custom resource, nothing changed',
      ours: () => sites.apply(liveSite, siteConfig, { manager: 'team', now }),
      aim: 100,
    },
    {
      title: 'server-side apply of a Deployment, image changed',
      ours: () => deployments.apply(liveDeployment, changed, { manager: 'team', now }),
      aim: 100,
    },
    {
      title: 'managed fields of an update of a Deployment',
      ours: () =>
        deployments.update(liveDeployment, { ...liveDeployment, spec: changed['spec'] }, { manager: 'edit', now }),
    },
  ],
}
