import { parseYaml } from '@kubewright/api'
import { isJsonObject } from '@kubewright/base'
import type { TextSource } from '../kustomize/kustomization.ts'
import { type BundleContent, type BundleFacts, clusterServiceVersion, grantsOf } from './cluster-service-version.ts'
import { buildChoice, managerOf } from './config-variants.ts'
import { editable, type GeneratedFile, type GeneratedFiles, marked } from './generated-file.ts'
import { type Manifest, yamlOf } from './manifest.ts'
import { hasWebhooks, type OperatorDescription } from './operator-description.ts'

/** The options of {@link bundleFiles}. */
export interface BundleOptions extends BundleFacts {
  /** The texts of config/ by path. */
  readonly config: TextSource
  /** @default ['alpha'] */
  readonly channels?: readonly string[] | undefined
  /** @default the first channel */
  readonly defaultChannel?: string | undefined
}

// As in operator-registry/pkg/lib/bundle/supported_resources.go: the kinds that OLM installs from a bundle, besides CRDs.
const installed: ReadonlySet<string> = new Set([
  'ClusterRole',
  'ClusterRoleBinding',
  'ConfigMap',
  'ConsoleCLIDownload',
  'ConsoleLink',
  'ConsolePlugin',
  'ConsoleQuickStart',
  'ConsoleYAMLSample',
  'NetworkPolicy',
  'PodDisruptionBudget',
  'PriorityClass',
  'PrometheusRule',
  'Role',
  'RoleBinding',
  'Secret',
  'Service',
  'ServiceAccount',
  'ServiceMonitor',
  'VerticalPodAutoscaler',
])
// OLM creates these itself, or from the ClusterServiceVersion.
const replaced = /^(Deployment|Namespace|Issuer|Certificate|(Mutating|Validating)WebhookConfiguration)$/

/** The bundle of an operator for OLM catalogs, with the objects of config/default as the user left it: manifests, metadata and a Dockerfile. */
export function bundleFiles(operator: OperatorDescription, options: BundleOptions): GeneratedFiles {
  const { channels = ['alpha'], defaultChannel = channels[0] ?? 'alpha', config } = options
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
  const content = bundleContent(operator, config)
  const files = new Map<string, GeneratedFile>()
  const manifest = (file: string, object: object): void =>
    void files.set(`bundle/manifests/${file}`, marked(yamlOf(object)))
  const version = clusterServiceVersion(operator, content, options)
  manifest(`${name}.clusterserviceversion.yaml`, withBase(version, config, name))
  const grants = grantsOf(content)
  for (const object of content.objects) {
    const { kind, metadata, apiVersion } = object
    const file = `${metadata.name}_${apiVersion.replace('/', '_')}_${kind.toLowerCase()}.yaml`
    if (kind === 'CustomResourceDefinition') manifest(definitionFile(object), withoutConversion(object))
    else if (replaced.test(kind) || grants.objects.includes(object)) continue
    else if (kind === 'ServiceAccount' && grants.accounts.includes(metadata.name)) continue
    else if (kind === 'Service' && servesWebhooks(metadata.name, content.objects)) continue
    else if (installed.has(kind)) manifest(file, withoutNamespace(object, content.namespace))
  }
  files.set('bundle/metadata/annotations.yaml', editable(yamlOf({ annotations })))
  files.set('bundle.Dockerfile', marked(dockerfile(annotations)))
  return files
}

/** Whether webhooks are called through a service. OLM creates one of its own for them. */
function servesWebhooks(service: string, objects: readonly Manifest[]): boolean {
  const calls = objects.filter(({ kind }) => /WebhookConfiguration$|^CustomResourceDefinition$/.test(kind))
  const hooks = JSON.stringify(
    calls.map(({ webhooks, spec }) => [webhooks, (spec as Fields | undefined)?.['conversion']]),
  )
  return hooks.includes(`"name":${JSON.stringify(service)}`)
}

type Fields = Readonly<Record<string, unknown>>

/** The objects of config/default that a bundle cannot contain. */
export function objectsOutsideBundle(operator: OperatorDescription, config: TextSource): Manifest[] {
  return bundleContent(operator, config).objects.filter(
    ({ kind }) => kind !== 'CustomResourceDefinition' && !replaced.test(kind) && !installed.has(kind),
  )
}

function bundleContent(operator: OperatorDescription, config: TextSource): BundleContent {
  const kustomization = parseYaml(config.get('config/default/kustomization.yaml') ?? '')
  const { components, namespace } = isJsonObject(kustomization) ? kustomization : {}
  const has = (path: string): boolean => Array.isArray(components) && components.includes(path)
  const built = buildChoice(config, {
    webhooks: hasWebhooks(operator),
    metrics: true,
    prometheus: has('../prometheus'),
    networkPolicy: has('../network-policy'),
    // OLM mounts certificates at the same path as with cert-manager.
    certificates: 'given',
  })
  return {
    objects: built.map(({ object }) => object),
    manager: managerOf(built).object,
    namespace: typeof namespace === 'string' ? namespace : '',
  }
}

/** Adds the facts of config/manifests/bases/NAME.clusterserviceversion.yaml, as operator-sdk does. */
function withBase(version: Manifest, config: TextSource, name: string): object {
  const text = config.get(`config/manifests/bases/${name}.clusterserviceversion.yaml`)
  const base = text === undefined ? undefined : parseYaml(text)
  if (!isJsonObject(base)) return version
  const { metadata, spec } = base
  const own = isJsonObject(metadata) && isJsonObject(metadata['annotations']) ? metadata['annotations'] : {}
  const facts = Object.fromEntries(
    Object.entries(isJsonObject(spec) ? spec : {}).filter(
      ([field]) => !['customresourcedefinitions', 'install', 'version', 'webhookdefinitions'].includes(field),
    ),
  )
  const annotations = { ...own, ...version.metadata.annotations, ...kept(own) }
  return {
    ...version,
    metadata: { ...version.metadata, annotations },
    spec: { ...(version['spec'] as object), ...facts },
  }
}

/** The annotations that describe the operator. Others are derived. */
function kept(annotations: Readonly<Record<string, unknown>>): object {
  const names = ['capabilities', 'categories', 'description', 'repository', 'support', 'certified', 'createdAt']
  return Object.fromEntries(Object.entries(annotations).filter(([name]) => names.includes(name)))
}

function definitionFile({ spec }: Manifest): string {
  const { group, names } = spec as { group: string; names: { plural: string } }
  return `${group}_${names.plural}.yaml`
}

/** OLM registers the conversion webhook itself. */
function withoutConversion(definition: Manifest): object {
  const { conversion: _, ...spec } = definition['spec'] as Readonly<Record<string, unknown>>
  return { ...definition, spec }
}

/** OLM chooses the namespace of the operator. */
function withoutNamespace(object: Manifest, own: string): object {
  const { namespace, ...metadata } = object.metadata
  return namespace === own ? { ...object, metadata } : object
}

function dockerfile(annotations: Readonly<Record<string, string>>): string {
  const labels = Object.entries(annotations).map(([name, value]) => `LABEL ${name}=${value}`)
  return ['FROM scratch', ...labels, 'COPY bundle/manifests /manifests/', 'COPY bundle/metadata /metadata/', ''].join(
    '\n',
  )
}
