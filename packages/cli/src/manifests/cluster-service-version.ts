import { mergeRules, type PolicyRule } from '@kubewright/runtime'
import { managerDeployment, webhookPort } from './manager-objects.ts'
import type { Manifest } from './manifest.ts'
import { type ManifestOptions, resolveOptions } from './manifest-options.ts'
import type { ObjectContext } from './object-context.ts'
import { type DescribedWebhook, hasWebhooks, type OperatorDescription, ownNamespace } from './operator-description.ts'
import { metricsAuthRole } from './rbac-objects.ts'
import { displayName, resourceDescriptors } from './resource-descriptors.ts'

/** What the operator catalogue is told about an operator. */
export interface BundleFacts extends ManifestOptions {
  readonly version: string
  readonly description?: string | undefined
  readonly author?: { readonly name: string; readonly email: string | undefined } | undefined
  readonly keywords?: readonly string[] | undefined
  readonly homepage?: string | undefined
  readonly icon?: { readonly mediatype: string; readonly base64data: string } | undefined
  /** Objects that show how each resource is used. */
  readonly samples: readonly object[]
}

/**
 * The ClusterServiceVersion of an operator: how OLM installs it and what consoles show of it. OLM brings the certificates of webhooks
 * with it, so that the operator needs no right to look after them.
 */
export function clusterServiceVersion(operator: OperatorDescription, facts: BundleFacts): Manifest {
  const context: ObjectContext = {
    operator,
    // OLM mounts certificates where cert-manager's are expected.
    options: { ...resolveOptions(operator.name, facts), certManager: true },
    naming: { prefix: `${operator.name}-`, namespace: 'placeholder' },
  }
  const { name } = operator
  const { version, description = `The operator ${name}`, author, keywords = [], homepage, icon } = facts
  return {
    apiVersion: 'operators.coreos.com/v1alpha1',
    kind: 'ClusterServiceVersion',
    metadata: {
      annotations: {
        'alm-examples': JSON.stringify(facts.samples, null, 2),
        capabilities: 'Basic Install',
        categories: 'Application Runtime',
        containerImage: context.options.image,
        description: description.slice(0, 135),
        'operators.operatorframework.io/builder': 'kubewright',
        'operators.operatorframework.io/project_layout': 'ts.kubewright.dev/v1',
      },
      name: `${name}.v${version}`,
      namespace: 'placeholder',
    },
    spec: {
      apiservicedefinitions: {},
      customresourcedefinitions: { owned: operator.resources.flatMap(ownedVersions) },
      description,
      displayName: displayName(name),
      ...(icon === undefined ? {} : { icon: [icon] }),
      install: { spec: installSpec(context), strategy: 'deployment' },
      installModes: installModes(operator),
      keywords: keywords.length > 0 ? keywords : [name],
      ...(homepage === undefined ? {} : { links: [{ name: displayName(name), url: homepage }] }),
      ...(author?.email === undefined ? {} : { maintainers: [{ email: author.email, name: author.name }] }),
      maturity: 'alpha',
      minKubeVersion: '1.25.0',
      ...(author === undefined ? {} : { provider: { name: author.name } }),
      version,
      ...(hasWebhooks(operator) ? { webhookdefinitions: webhookDefinitions(context) } : {}),
    },
  }
}

/** A resource as consoles show it, once for each version that is served: examples must be in one of them. */
function ownedVersions({ crd }: OperatorDescription['resources'][number]): object[] {
  const { group, names, versions } = crd.spec
  return versions.flatMap(({ name, served, schema: { openAPIV3Schema: schema } }) =>
    served
      ? {
          description: schema.description ?? `${names.kind} of ${group}`,
          displayName: displayName(names.kind),
          kind: names.kind,
          name: crd.metadata.name,
          ...resourceDescriptors(schema),
          version: name,
        }
      : [],
  )
}

function installSpec(context: ObjectContext): object {
  const { operator, naming } = context
  const { metadata, spec } = managerDeployment(context, 'whole')
  const serviceAccountName = `${naming.prefix}controller-manager`
  const metrics = metricsAuthRole(context)['rules'] as readonly PolicyRule[]
  const { cluster, watched } = operator.access
  // Elsewhere than in the namespace of the operator OLM grants rights in the whole cluster only.
  const isOwn = operator.namespaces.includes(ownNamespace)
  const own = mergeRules([...operator.access.own, ...(isOwn ? watched : [])])
  const everywhere = mergeRules([...cluster, ...metrics, ...(isOwn ? [] : watched)])
  return {
    clusterPermissions: [{ rules: everywhere, serviceAccountName }],
    deployments: [{ label: metadata.labels, name: metadata.name, spec: withoutCertificates(spec) }],
    ...(own.length > 0 ? { permissions: [{ rules: own, serviceAccountName }] } : {}),
  }
}

/** OLM adds volumes for certificates itself; a second one in the same place would be refused. */
function withoutCertificates(spec: unknown): unknown {
  const copy = structuredClone(spec) as {
    template: { spec: { containers: { volumeMounts?: unknown[] }[]; volumes?: unknown[] } }
  }
  delete copy.template.spec.volumes
  for (const container of copy.template.spec.containers) delete container.volumeMounts
  return copy
}

function installModes({ namespaces }: OperatorDescription): object[] {
  const isOwn = namespaces.includes(ownNamespace)
  const supported: Readonly<Record<string, boolean>> = {
    OwnNamespace: isOwn,
    SingleNamespace: false,
    MultiNamespace: false,
    AllNamespaces: !isOwn,
  }
  return Object.entries(supported).map(([type, is]) => ({ supported: is, type }))
}

function webhookDefinitions({ operator, naming }: ObjectContext): object[] {
  const common = {
    admissionReviewVersions: ['v1'],
    containerPort: 443,
    deploymentName: `${naming.prefix}controller-manager`,
    targetPort: webhookPort,
  }
  const admission = (type: string, { name, path, registration }: DescribedWebhook): object => {
    const { name: _, admissionReviewVersions: __, ...rest } = registration
    return { ...common, ...rest, generateName: name, type, webhookPath: path }
  }
  const converted = operator.resources.filter(({ isConverted }) => isConverted)
  return [
    ...operator.mutating.map((webhook) => admission('MutatingAdmissionWebhook', webhook)),
    ...operator.validating.map((webhook) => admission('ValidatingAdmissionWebhook', webhook)),
    ...(converted.length === 0
      ? []
      : [
          {
            ...common,
            conversionCRDs: converted.map(({ crd }) => crd.metadata.name),
            generateName: `c${operator.name}.kb.io`,
            sideEffects: 'None',
            type: 'ConversionWebhook',
            webhookPath: '/convert',
          },
        ]),
  ]
}
