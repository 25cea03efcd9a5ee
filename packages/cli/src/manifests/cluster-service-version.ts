import { mergeRules, type PolicyRule } from '@kubewright/runtime'
import { managerDeployment, webhookPort } from './manager-objects.ts'
import type { Manifest } from './manifest.ts'
import { type ManifestOptions, resolveOptions } from './manifest-options.ts'
import type { ObjectContext } from './object-context.ts'
import { type DescribedWebhook, hasWebhooks, type OperatorDescription, ownNamespace } from './operator-description.ts'
import { metricsAuthRole } from './rbac-objects.ts'
import { displayName, resourceDescriptors } from './resource-descriptors.ts'

/** The facts about an operator for OLM catalogs. */
export interface BundleFacts extends ManifestOptions {
  readonly version: string
  readonly description?: string | undefined
  readonly author?: { readonly name: string; readonly email: string | undefined } | undefined
  readonly keywords?: readonly string[] | undefined
  readonly homepage?: string | undefined
  readonly icon?: { readonly mediatype: string; readonly base64data: string } | undefined
  /** Example objects of each resource. */
  readonly samples: readonly object[]
}

/**
 * The ClusterServiceVersion of an operator, from which OLM installs it and consoles display it. OLM issues the certificates of webhooks, so
 * the operator needs no permissions for them.
 */
export function clusterServiceVersion(operator: OperatorDescription, facts: BundleFacts): Manifest {
  const context: ObjectContext = {
    operator,
    // OLM mounts certificates at the same path as with cert-manager.
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

/** The entries of a resource, one for each served version. Examples must be of one of them. */
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
  // OLM grants permissions in the namespace of the operator or in the whole cluster, but not in other namespaces.
  const isOwn = operator.namespaces.includes(ownNamespace)
  const own = mergeRules([...operator.access.own, ...(isOwn ? watched : [])])
  const everywhere = mergeRules([...cluster, ...metrics, ...(isOwn ? [] : watched)])
  return {
    clusterPermissions: [{ rules: everywhere, serviceAccountName }],
    deployments: [{ label: metadata.labels, name: metadata.name, spec: withoutCertificates(spec) }],
    ...(own.length > 0 ? { permissions: [{ rules: own, serviceAccountName }] } : {}),
  }
}

/** Removes the volumes for certificates: OLM adds its own, and a second mount at the same path would be rejected. */
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
