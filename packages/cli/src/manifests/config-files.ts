import { type CrdManifest, parseManifests } from '@kubewright/api'
import { derived, editable, type GeneratedFile, type GeneratedFiles, provenanceOf } from './generated-file.ts'
import { grafanaDashboard } from './grafana-dashboard.ts'
import { type InstallationParts, installationParts } from './installation-parts.ts'
import {
  certificateArgs,
  certificateMount,
  certificateObjects,
  certificateVolume,
  injection,
  managerDeployment,
  managerNamespace,
  metricsArgs,
  webhookContainerPort,
} from './manager-objects.ts'
import { baseNaming, generatedYamlOf, type Manifest, yamlOf } from './manifest.ts'
import { type ManifestOptions, resolveOptions } from './manifest-options.ts'
import { type ObjectContext, shortGroup } from './object-context.ts'
import { hasWebhooks, type OperatorDescription } from './operator-description.ts'
import { helperName, placeLabel } from './rbac-objects.ts'
import { placeholderSpec, sampleOf, sampleProblems, storedVersion } from './sample-of.ts'
import { conversionOf, markGenerated } from './webhook-objects.ts'

/** The options of {@link configFiles}. */
export interface ConfigOptions extends ManifestOptions {
  /** The existing files of config/samples, by name. @default none */
  readonly samples?: ReadonlyMap<string, string> | undefined
}

/** The files of config/ in the layout of kubebuilder. `kubectl apply -k config/default` installs the operator. */
export function configFiles(operator: OperatorDescription, options: ConfigOptions = {}): GeneratedFiles {
  const context: ObjectContext = {
    operator,
    options: resolveOptions(operator.name, options),
    naming: baseNaming,
  }
  const files = new Map<string, GeneratedFile>()
  const add = (folder: string, made: Readonly<Record<string, GeneratedFile>>): void => {
    for (const [name, file] of Object.entries(made)) files.set(`config/${folder}/${name}`, file)
  }
  const webhooks = hasWebhooks(operator)
  const parts = installationParts(context)
  if (operator.resources.length > 0) {
    add('crd', crdFiles(context))
    add('samples', sampleFiles(context, options.samples ?? new Map()))
  }
  const { prometheus, networkPolicies } = parts
  add('rbac', rbacFiles(context, parts))
  add('manager', managerFiles(context))
  if (webhooks) add('webhook', webhookFiles(parts.webhooks))
  if (webhooks && context.options.certManager) add('certmanager', certManagerFiles(context))
  add('prometheus', listed({ 'monitor.yaml': [prometheus.monitor], 'rules.yaml': [prometheus.rules] }))
  add(
    'network-policy',
    listed({
      'allow-metrics-traffic.yaml': [networkPolicies.metrics],
      'allow-webhook-traffic.yaml': networkPolicies.webhooks,
    }),
  )
  add('default', defaultFiles(context, parts))
  files.set('grafana/controller-metrics.json', derived(grafanaDashboard(operator.name)))
  return files
}

/** The name of the file of a CRD in config/crd/bases. */
export function definitionFile({ spec }: OperatorDescription['resources'][number]['crd']): string {
  return `${spec.group}_${spec.names.plural}.yaml`
}

function crdFiles(context: ObjectContext): Record<string, GeneratedFile> {
  const { resources } = context.operator
  const files: Record<string, GeneratedFile> = {}
  for (const { crd } of resources) files[`bases/${definitionFile(crd)}`] = derived(generatedYamlOf(markGenerated(crd)))
  const patches: { readonly path: string }[] = []
  for (const { crd, isConverted } of resources) {
    if (!isConverted) continue
    const path = `patches/webhook_in_${definitionFile(crd)}`
    patches.push({ path })
    const annotations = injection(context)
    const { apiVersion, kind, metadata } = crd
    files[path] = editable(
      yamlOf({
        apiVersion,
        kind,
        metadata: { ...(context.options.certManager ? { annotations } : {}), name: metadata.name },
        spec: { conversion: conversionOf(context) },
      }),
    )
  }
  const bases = resources.map(({ crd }) => `bases/${definitionFile(crd)}`)
  const hasPatches = patches.length > 0
  files['kustomization.yaml'] = editable(
    yamlOf({ ...(hasPatches ? { configurations: ['kustomizeconfig.yaml'], patches } : {}), resources: bases }),
  )
  if (hasPatches) {
    files['kustomizeconfig.yaml'] = editable(
      // Tells kustomize that CRDs refer to the service of the webhooks, so that it renames the reference too.
      nameReference('Service', 'CustomResourceDefinition', 'spec/conversion/webhook/clientConfig/service/name'),
    )
  }
  return files
}

function rbacFiles({ operator }: ObjectContext, parts: InstallationParts): Record<string, GeneratedFile> {
  const { manager, leaderElection, certificates, metricsAuth } = parts
  const objects: Record<string, readonly Manifest[]> = {
    'service_account.yaml': [parts.serviceAccount],
    'role_binding.yaml': manager.bindings,
    'leader_election_role.yaml': leaderElection.roles,
    'leader_election_role_binding.yaml': leaderElection.bindings,
    'webhook_cert_role.yaml': certificates.roles,
    'webhook_cert_role_binding.yaml': certificates.bindings,
    'metrics_auth_role.yaml': metricsAuth.roles,
    'metrics_auth_role_binding.yaml': metricsAuth.bindings,
    'metrics_reader_role.yaml': [parts.metricsReader],
  }
  for (const { resource, who, role } of parts.helpers) {
    objects[`${helperName({ operator }, resource.crd.spec, '_')}_${who}_role.yaml`] = [role]
  }
  return listed(objects, { 'role.yaml': manager.roles })
}

function managerFiles(context: ObjectContext): Record<string, GeneratedFile> {
  return {
    'kustomization.yaml': editable(
      yamlOf({ images: [{ name: 'controller', ...splitImage(context.options.image) }], resources: ['manager.yaml'] }),
    ),
    'manager.yaml': editable(yamlOf(managerNamespace(context), managerDeployment(context, 'base'))),
  }
}

function webhookFiles({ service, configurations }: InstallationParts['webhooks']): Record<string, GeneratedFile> {
  return listed({ 'service.yaml': service }, { 'manifests.yaml': configurations })
}

function certManagerFiles(context: ObjectContext): Record<string, GeneratedFile> {
  const [issuer, certificate] = certificateObjects(context)
  return {
    'certificate-webhook.yaml': editable(yamlOf(certificate!)),
    'issuer.yaml': editable(yamlOf(issuer!)),
    'kustomization.yaml': editable(
      yamlOf({ configurations: ['kustomizeconfig.yaml'], resources: ['issuer.yaml', 'certificate-webhook.yaml'] }),
    ),
    'kustomizeconfig.yaml': editable(nameReference('Issuer', 'Certificate', 'spec/issuerRef/name', 'cert-manager.io')),
  }
}

function sampleFiles(context: ObjectContext, present: ReadonlyMap<string, string>): Record<string, GeneratedFile> {
  const { operator } = context
  const files: Record<string, GeneratedFile> = {}
  const written = [...present].filter(([, text]) => provenanceOf(text).madeAs === undefined)
  const shown = new Set(written.flatMap(([, text]) => kindsIn(text)))
  for (const { crd } of operator.resources) {
    const { group, names } = crd.spec
    const version = storedVersion(crd)
    // The user has written a sample of this version, in any file.
    if (shown.has(`${group}/${version} ${names.kind}`)) continue
    const name = `${shortGroup(operator, group)}_${version}_${names.kind.toLowerCase()}.yaml`
    files[name] = editable(sampleYaml(crd, operator.name))
  }
  for (const [name, text] of present) {
    for (const { crd } of operator.resources) {
      const version = outgrownVersion(text, crd)
      if (version === undefined) continue
      const sample = sampleYaml(crd, operator.name, version)
      // The user has not changed it, so it may be overwritten. A sample of the storage version is kept up to date from then on.
      files[name] = { ...(version === storedVersion(crd) ? editable(sample) : derived(sample)), care: 'derived' }
    }
  }
  const kept = [...present].filter(([, text]) => !provenanceOf(text).isUntouched).map(([name]) => name)
  const resources = [...new Set([...Object.keys(files), ...kept])].sort()
  return { ...files, 'kustomization.yaml': editable(yamlOf({ resources })) }
}

/** The text of a sample. Comments name the values that the schema rejects and the user must replace. */
function sampleYaml(crd: CrdManifest, operator: string, version?: string): string {
  const sample = sampleOf(crd, operator, version)
  const problems = sampleProblems(crd, sample)
  const comments = problems.map((problem) => `# - ${problem.replaceAll(/\s+/g, ' ')}\n`)
  const heading = '# Replace the values that the CRD rejects:\n'
  return `${comments.length === 0 ? '' : heading}${comments.join('')}${yamlOf(sample)}`
}

/** The version of a sample that `create api` wrote and whose placeholder fields the CRD no longer has; undefined for other texts. */
function outgrownVersion(text: string, crd: CrdManifest): string | undefined {
  const { group, names, versions } = crd.spec
  if (!text.endsWith(`\n${yamlOf({ spec: placeholderSpec })}`)) return undefined
  const version = versions.find(({ name }) => text.startsWith(`apiVersion: ${group}/${name}\nkind: ${names.kind}\n`))
  const { properties = {} } = version?.schema.openAPIV3Schema.properties?.['spec'] ?? {}
  return Object.keys(placeholderSpec).some((field) => Object.hasOwn(properties, field)) ? undefined : version?.name
}

/** The kinds of the objects in a file. Empty for invalid YAML, which is reported when the file is applied. */
function kindsIn(text: string): string[] {
  try {
    const objects = parseManifests(text) as { readonly apiVersion?: unknown; readonly kind?: unknown }[]
    return objects.map(({ apiVersion, kind }) => `${String(apiVersion)} ${String(kind)}`)
  } catch {
    return []
  }
}

function defaultFiles(context: ObjectContext, parts: InstallationParts): Record<string, GeneratedFile> {
  const { operator, options } = context
  const webhooks = hasWebhooks(operator)
  const item = (isOn: boolean, path: string): string => `${isOn ? '' : '#'}- ${path}`
  const target = { kind: 'Deployment', name: 'controller-manager' }
  const patches = [
    { path: 'manager_metrics_patch.yaml', target },
    ...(webhooks ? [{ path: 'manager_webhook_patch.yaml', target }] : []),
    ...(webhooks && options.certManager ? [{ path: 'manager_certificate_patch.yaml', target }] : []),
  ]
  const places = placesOf(parts)
  const text = [
    '# The namespace of the operator, and the prefix of the names of its objects.',
    '# Webhooks depend on the prefix: it must be the name of the operator.',
    `namespace: ${options.namespace}`,
    `namePrefix: ${operator.name}-`,
    '',
    'resources:',
    ...(operator.resources.length > 0 ? ['- ../crd'] : []),
    '- ../rbac',
    '- ../manager',
    ...(webhooks ? ['- ../webhook', ...(options.certManager ? ['- ../certmanager'] : [])] : []),
    '- metrics_service.yaml',
    '# Requires the Prometheus operator: kubewright generate --prometheus.',
    item(options.prometheus, '../prometheus'),
    '# Admits traffic to the pod for metrics and webhooks only: kubewright generate --network-policy.',
    item(options.networkPolicy, '../network-policy'),
    '',
    yamlOf({ patches }).trimEnd(),
    ...(places.length === 0
      ? []
      : ['', '# Roles in watched namespaces keep their namespaces.', 'transformers:', '- places.yaml']),
    '',
  ].join('\n')
  return {
    'kustomization.yaml': editable(text),
    'manager_metrics_patch.yaml': editable(
      yamlOf(metricsArgs.map((value) => ({ op: 'add', path: `${container}/args/0`, value }))),
    ),
    'metrics_service.yaml': editable(yamlOf(parts.metricsService)),
    ...(webhooks ? { 'manager_webhook_patch.yaml': editable(yamlOf(webhookPatch(options.certManager))) } : {}),
    ...(webhooks && options.certManager
      ? {
          'manager_certificate_patch.yaml': editable(
            yamlOf(certificateArgs.map((value) => ({ op: 'add', path: `${container}/args/-`, value }))),
          ),
        }
      : {}),
    ...(places.length === 0 ? {} : { 'places.yaml': editable(yamlOf(...places.map(placeTransformer))) }),
  }
}

const container = '/spec/template/spec/containers/0'

/** A strategic merge patch that adds the port and the certificate of the webhooks to the Deployment. */
function webhookPatch(isMounted: boolean): Manifest {
  const mounts = isMounted ? { volumeMounts: [certificateMount] } : {}
  const manager = { name: 'manager', ports: [webhookContainerPort], ...mounts }
  const spec = { containers: [manager], ...(isMounted ? { volumes: [certificateVolume] } : {}) }
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'controller-manager', namespace: baseNaming.namespace },
    spec: { template: { spec } },
  }
}

/** The namespaces of roles outside the namespace of the operator. */
function placesOf({ manager, leaderElection }: InstallationParts): string[] {
  const roles = [...manager.roles, ...leaderElection.roles]
  return [...new Set(roles.flatMap(({ metadata }) => metadata.labels?.[placeLabel] ?? []))]
}

/** Restores the namespace of labelled objects, which kustomize sets to that of the operator. */
function placeTransformer(namespace: string): Manifest {
  return {
    apiVersion: 'builtin',
    kind: 'PatchTransformer',
    metadata: { name: `place-${namespace}` },
    patch: JSON.stringify([{ op: 'replace', path: '/metadata/namespace', value: namespace }]),
    target: { labelSelector: `${placeLabel}=${namespace}` },
  }
}

/** Files of objects, and a kustomization that lists them. Files without objects are omitted. */
function listed(
  objects: Readonly<Record<string, readonly Manifest[]>>,
  generated: Readonly<Record<string, readonly Manifest[]>> = {},
): Record<string, GeneratedFile> {
  const files: Record<string, GeneratedFile> = {}
  for (const [name, of] of Object.entries(generated)) if (of.length > 0) files[name] = derived(generatedYamlOf(...of))
  for (const [name, of] of Object.entries(objects)) if (of.length > 0) files[name] = editable(yamlOf(...of))
  return { ...files, 'kustomization.yaml': editable(yamlOf({ resources: Object.keys(files) })) }
}

function nameReference(kind: string, user: string, path: string, group?: string): string {
  const fieldSpecs = [{ kind: user, path, ...(group === undefined ? {} : { group }) }]
  return yamlOf({ nameReference: [{ fieldSpecs, kind, ...(group === undefined ? {} : { group }) }] })
}

function splitImage(image: string): Record<string, string> {
  const [name = '', digest] = image.split('@')
  const colon = name.lastIndexOf(':')
  // A colon before the last slash belongs to a port.
  const hasTag = colon > name.lastIndexOf('/')
  return {
    newName: hasTag ? name.slice(0, colon) : name,
    ...(digest === undefined ? { newTag: hasTag ? name.slice(colon + 1) : 'latest' } : { digest }),
  }
}
