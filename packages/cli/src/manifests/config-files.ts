import { type CrdManifest, parseManifests } from '@kubewright/api'
import {
  derived,
  editable,
  type GeneratedFile,
  type GeneratedFiles,
  markedAtEnd,
  provenanceOf,
} from './generated-file.ts'
import { grafanaDashboard } from './grafana-dashboard.ts'
import { imageParts } from './image-parts.ts'
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
  metricsTls,
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
  if (webhooks) add('certmanager', certManagerFiles(context))
  add('prometheus', prometheusFiles(context, prometheus))
  add(
    'network-policy',
    component(
      listed({
        'allow-metrics-traffic.yaml': [networkPolicies.metrics],
        'allow-webhook-traffic.yaml': networkPolicies.webhooks,
      }),
    ),
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
  for (const { crd } of resources)
    files[`bases/${definitionFile(crd)}`] = markedAtEnd(generatedYamlOf(markGenerated(crd)))
  const patches: { readonly path: string }[] = []
  for (const { crd, isConverted } of resources) {
    if (!isConverted) continue
    const path = `patches/webhook_in_${definitionFile(crd)}`
    patches.push({ path })
    const { apiVersion, kind, metadata } = crd
    const spec = { conversion: conversionOf(context) }
    files[path] = editable(yamlOf({ apiVersion, kind, metadata: { name: metadata.name }, spec }))
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
  const { manager, leaderElection, certificates, trust, metricsAuth } = parts
  const objects: Record<string, readonly Manifest[]> = {
    'service_account.yaml': [parts.serviceAccount],
    'role_binding.yaml': manager.bindings,
    'leader_election_role.yaml': leaderElection.roles,
    'leader_election_role_binding.yaml': leaderElection.bindings,
    'webhook_cert_role.yaml': certificates.roles,
    'webhook_cert_role_binding.yaml': certificates.bindings,
    'webhook_trust_role_binding.yaml': trust.bindings,
    'metrics_auth_role.yaml': metricsAuth.roles,
    'metrics_auth_role_binding.yaml': metricsAuth.bindings,
    'metrics_reader_role.yaml': [parts.metricsReader],
  }
  for (const { resource, who, role } of parts.helpers) {
    objects[`${helperName({ operator }, resource.crd.spec, '_')}_${who}_role.yaml`] = [role]
  }
  return listed(objects, { 'role.yaml': manager.roles, 'webhook_trust_role.yaml': trust.roles })
}

function managerFiles(context: ObjectContext): Record<string, GeneratedFile> {
  return {
    'kustomization.yaml': editable(
      yamlOf({ images: [{ name: 'controller', ...newImage(context.options.image) }], resources: ['manager.yaml'] }),
    ),
    'manager.yaml': editable(yamlOf(managerNamespace(context), managerDeployment(context))),
  }
}

function webhookFiles({ service, configurations }: InstallationParts['webhooks']): Record<string, GeneratedFile> {
  return listed({ 'service.yaml': service }, { 'manifests.yaml': configurations })
}

/** Replaces the certificates that the operator manages itself by those of cert-manager. */
function certManagerFiles(context: ObjectContext): Record<string, GeneratedFile> {
  const [issuer, certificate] = certificateObjects(context)
  const target = { kind: 'Deployment', name: 'controller-manager' }
  const converted = context.operator.resources.filter(({ isConverted }) => isConverted)
  const injected = [
    ...(context.operator.mutating.length > 0 ? [{ kind: 'MutatingWebhookConfiguration' }] : []),
    ...(context.operator.validating.length > 0 ? [{ kind: 'ValidatingWebhookConfiguration' }] : []),
    ...converted.map(({ crd }) => ({ kind: 'CustomResourceDefinition', name: crd.metadata.name })),
  ]
  const patches = [
    { path: 'manager_args_patch.yaml', target },
    { path: 'manager_volumes_patch.yaml', target },
    ...injected.map((of) => ({ path: 'injection_patch.yaml', target: of })),
    ...['Role', 'RoleBinding', 'ClusterRole', 'ClusterRoleBinding'].map((kind) => ({
      path: 'self_managed_patch.yaml',
      target: { kind, name: `webhook-(cert|trust)-${kind.endsWith('Binding') ? 'rolebinding' : 'role'}` },
    })),
  ]
  const any = { apiVersion: 'v1', kind: 'Any' }
  return component({
    'certificate-webhook.yaml': editable(yamlOf(certificate!)),
    'injection_patch.yaml': editable(yamlOf({ ...any, metadata: { annotations: injection(context), name: 'any' } })),
    'issuer.yaml': editable(yamlOf(issuer!)),
    'kustomization.yaml': editable(
      yamlOf({
        configurations: ['kustomizeconfig.yaml'],
        patches,
        resources: ['issuer.yaml', 'certificate-webhook.yaml'],
      }),
    ),
    'kustomizeconfig.yaml': editable(nameReference('Issuer', 'Certificate', 'spec/issuerRef/name', 'cert-manager.io')),
    'manager_args_patch.yaml': editable(
      yamlOf(certificateArgs.map((value) => ({ op: 'add', path: `${container}/args/-`, value }))),
    ),
    'manager_volumes_patch.yaml': editable(
      yamlOf(
        deploymentPatch({
          containers: [{ name: 'manager', volumeMounts: [certificateMount] }],
          volumes: [certificateVolume],
        }),
      ),
    ),
    'self_managed_patch.yaml': editable(
      `# The operator needs no permissions for certificates that cert-manager issues.\n${yamlOf({ $patch: 'delete', ...any, metadata: { name: 'any' } })}`,
    ),
  })
}

function prometheusFiles(
  context: ObjectContext,
  { monitor, rules }: InstallationParts['prometheus'],
): Record<string, GeneratedFile> {
  const files = listed({ 'monitor.yaml': [monitor], 'rules.yaml': [rules] })
  if (!hasWebhooks(context.operator)) return component(files)
  const patch = [{ op: 'replace', path: '/spec/endpoints/0/tlsConfig', value: metricsTls(context) }]
  const entry = yamlOf({ patches: [{ path: 'monitor_tls_patch.yaml', target: { kind: 'ServiceMonitor' } }] })
  const isOn = context.options.certManager
  return component({
    ...files,
    'kustomization.yaml': editable(
      [
        yamlOf({ resources: ['monitor.yaml', 'rules.yaml'] }),
        '# Verifies the metrics server by the certificate of cert-manager: kubewright generate --cert-manager.\n',
        isOn ? entry : entry.replaceAll(/^/gm, '#').replace(/#$/, ''),
      ].join(''),
    ),
    'monitor_tls_patch.yaml': editable(yamlOf(patch)),
  })
}

/** Turns the kustomization of files into a component, which config/default can include. */
function component(files: Record<string, GeneratedFile>): Record<string, GeneratedFile> {
  const { 'kustomization.yaml': kustomization, ...rest } = files
  const text = kustomization!.text.replace(/^#.*\n/, '')
  const kind = 'apiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Component\n'
  return { ...rest, 'kustomization.yaml': editable(`${kind}${text}`) }
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
  ]
  const isAny = (webhooks && options.certManager) || options.prometheus || options.networkPolicy
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
    ...(webhooks ? ['- ../webhook'] : []),
    '- metrics_service.yaml',
    '',
    '# The optional parts. To add one, remove the # or use the flag of kubewright generate.',
    isAny ? 'components:' : '#components:',
    ...(webhooks
      ? [
          '# cert-manager issues the certificate of the webhooks, instead of the operator: --cert-manager.',
          item(options.certManager, '../certmanager'),
        ]
      : []),
    '# Scraping and alerts. Requires the Prometheus operator: --prometheus.',
    item(options.prometheus, '../prometheus'),
    '# Admits connections only to the ports for metrics and webhooks: --network-policy.',
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
    ...(webhooks
      ? {
          'manager_webhook_patch.yaml': editable(
            yamlOf(deploymentPatch({ containers: [{ name: 'manager', ports: [webhookContainerPort] }] })),
          ),
        }
      : {}),
    ...(places.length === 0 ? {} : { 'places.yaml': editable(yamlOf(...places.map(placeTransformer))) }),
  }
}

const container = '/spec/template/spec/containers/0'

/** A strategic merge patch of the pod of the operator. */
function deploymentPatch(spec: object): Manifest {
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
  for (const [name, of] of Object.entries(generated))
    if (of.length > 0) files[name] = markedAtEnd(generatedYamlOf(...of))
  for (const [name, of] of Object.entries(objects)) if (of.length > 0) files[name] = editable(yamlOf(...of))
  return { ...files, 'kustomization.yaml': editable(yamlOf({ resources: Object.keys(files) })) }
}

function nameReference(kind: string, user: string, path: string, group?: string): string {
  const fieldSpecs = [{ kind: user, path, ...(group === undefined ? {} : { group }) }]
  return yamlOf({ nameReference: [{ fieldSpecs, kind, ...(group === undefined ? {} : { group }) }] })
}

/** An image as an entry of `images` of a kustomization. */
function newImage(image: string): Record<string, string> {
  const { repository, tag = 'latest', digest } = imageParts(image)
  return { newName: repository, ...(digest === undefined ? { newTag: tag } : { digest }) }
}
