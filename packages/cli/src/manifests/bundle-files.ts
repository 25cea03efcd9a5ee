import { type BundleFacts, clusterServiceVersion } from './cluster-service-version.ts'
import { definitionFile } from './config-files.ts'
import { editable, type GeneratedFile, type GeneratedFiles, marked } from './generated-file.ts'
import { clusterContext } from './install-objects.ts'
import { installationParts } from './installation-parts.ts'
import { type Manifest, yamlOf } from './manifest.ts'
import type { OperatorDescription } from './operator-description.ts'
import { markGenerated } from './webhook-objects.ts'

/** The options of {@link bundleFiles}. */
export interface BundleOptions extends BundleFacts {
  /** @default ['alpha'] */
  readonly channels?: readonly string[] | undefined
  /** @default the first channel */
  readonly defaultChannel?: string | undefined
}

/** The bundle of an operator for OLM catalogs: manifests, metadata and a Dockerfile. */
export function bundleFiles(operator: OperatorDescription, options: BundleOptions): GeneratedFiles {
  const { channels = ['alpha'], defaultChannel = channels[0] ?? 'alpha' } = options
  const { name } = operator
  const annotations: Readonly<Record<string, string>> = {
    'operators.operatorframework.io.bundle.channel.default.v1': defaultChannel,
    'operators.operatorframework.io.bundle.channels.v1': channels.join(','),
    'operators.operatorframework.io.bundle.manifests.v1': 'manifests/',
    'operators.operatorframework.io.bundle.mediatype.v1': 'registry+v1',
    'operators.operatorframework.io.bundle.metadata.v1': 'metadata/',
    'operators.operatorframework.io.bundle.package.v1': name,
    'operators.operatorframework.io.metrics.builder': 'kubewright',
    'operators.operatorframework.io.metrics.mediatype.v1': 'metrics+v1',
    'operators.operatorframework.io.metrics.project_layout': 'ts.kubewright.dev/v1',
  }
  const files = new Map<string, GeneratedFile>()
  const manifest = (file: string, object: Manifest): void =>
    void files.set(`bundle/manifests/${file}`, marked(yamlOf(object)))
  manifest(`${name}.clusterserviceversion.yaml`, clusterServiceVersion(operator, options))
  for (const { crd } of operator.resources) manifest(definitionFile(crd), markGenerated(crd))
  const { metricsService, metricsReader, helpers } = installationParts(clusterContext(operator, options))
  // OLM chooses the namespace.
  const { namespace: _, ...metadata } = metricsService.metadata
  for (const object of [{ ...metricsService, metadata }, metricsReader, ...helpers.map(({ role }) => role)]) {
    manifest(`${object.metadata.name}_${object.apiVersion.replace('/', '_')}_${object.kind.toLowerCase()}.yaml`, object)
  }
  files.set('bundle/metadata/annotations.yaml', editable(yamlOf({ annotations })))
  files.set('bundle.Dockerfile', marked(dockerfile(annotations)))
  return files
}

function dockerfile(annotations: Readonly<Record<string, string>>): string {
  const labels = Object.entries(annotations).map(([name, value]) => `LABEL ${name}=${value}`)
  return ['FROM scratch', ...labels, 'COPY bundle/manifests /manifests/', 'COPY bundle/metadata /metadata/', ''].join(
    '\n',
  )
}
