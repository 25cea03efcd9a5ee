import { asJsonObject, asList } from '@kubewright/base'
import { mergeRules, type PolicyRule } from '@kubewright/runtime'
import { managerContainer } from './config-variants.ts'
import { certificateSecret } from './manager-objects.ts'
import type { Manifest } from './manifest.ts'
import { minKubeVersion } from './min-kube-version.ts'
import { type OperatorDescription, ownNamespace } from './operator-description.ts'
import { displayName, resourceDescriptors } from './resource-descriptors.ts'

/** The facts about an operator for OLM catalogs. */
export interface BundleFacts {
  readonly version: string
  readonly description?: string | undefined
  readonly author?: { readonly name: string; readonly email: string | undefined } | undefined
  readonly keywords?: readonly string[] | undefined
  readonly homepage?: string | undefined
  readonly icon?: { readonly mediatype: string; readonly base64data: string } | undefined
  /** Example objects of each resource. */
  readonly samples: readonly object[]
}

/** The objects of config/default for OLM. */
export interface BundleContent {
  readonly manager: Manifest
  readonly objects: readonly Manifest[]
  /** The namespace of the operator in the objects, which OLM replaces. */
  readonly namespace: string
}

type Fields = Readonly<Record<string, unknown>>

/**
 * The ClusterServiceVersion of an operator, from which OLM installs it and consoles display it. OLM issues the certificates of webhooks, so
 * the operator needs no permissions for them. Its deployments, permissions and webhooks are those of config/default.
 */
export function clusterServiceVersion(
  operator: OperatorDescription,
  content: BundleContent,
  facts: BundleFacts,
): Manifest {
  const { name } = operator
  const { version, description = `The operator ${name}`, author, keywords = [], homepage, icon } = facts
  const image = String(managerContainer(content.manager)?.['image'])
  const webhooks = webhookDefinitions(content, name)
  const pinned = imagesOf(content).filter((one) => one.image.includes('@'))
  return {
    apiVersion: 'operators.coreos.com/v1alpha1',
    kind: 'ClusterServiceVersion',
    metadata: {
      annotations: {
        'alm-examples': JSON.stringify(facts.samples, null, 2),
        capabilities: 'Basic Install',
        categories: 'Application Runtime',
        containerImage: image,
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
      install: { spec: installSpec(content), strategy: 'deployment' },
      installModes: installModes(operator),
      keywords: keywords.length > 0 ? keywords : [name],
      ...(homepage === undefined ? {} : { links: [{ name: displayName(name), url: homepage }] }),
      ...(author?.email === undefined ? {} : { maintainers: [{ email: author.email, name: author.name }] }),
      maturity: 'alpha',
      minKubeVersion: minKubeVersion(content.objects),
      ...(author === undefined ? {} : { provider: { name: author.name } }),
      ...(pinned.length > 0 ? { relatedImages: pinned } : {}),
      version,
      ...(webhooks.length > 0 ? { webhookdefinitions: webhooks } : {}),
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

/** The roles that are granted to the pods of the operator, by the scope in which OLM can grant them. */
export interface BundleGrants {
  /** The names of the service accounts of the pods. OLM creates them. */
  readonly accounts: readonly string[]
  /** The bindings and roles of the accounts, which are part of the ClusterServiceVersion. */
  readonly objects: readonly Manifest[]
  readonly own: ReadonlyMap<string, readonly PolicyRule[]>
  readonly cluster: ReadonlyMap<string, readonly PolicyRule[]>
}

/** Finds the permissions of the pods of the operator. */
export function grantsOf({ objects, namespace }: BundleContent): BundleGrants {
  const deployments = objects.filter(({ kind }) => kind === 'Deployment')
  const accounts = [...new Set(deployments.map(accountOf))]
  const found: Manifest[] = []
  const own = new Map<string, PolicyRule[]>()
  const cluster = new Map<string, PolicyRule[]>()
  for (const binding of objects.filter(({ kind }) => /^(Cluster)?RoleBinding$/.test(kind))) {
    const subjects = asList(binding['subjects']).map(asJsonObject)
    const account = accounts.find((name) =>
      subjects.some((one) => one['kind'] === 'ServiceAccount' && one['name'] === name),
    )
    const { kind, name } = asJsonObject(binding['roleRef'])
    const place = binding.metadata.namespace
    const role = objects.find(
      (one) =>
        one.kind === kind && one.metadata.name === name && (kind === 'ClusterRole' || one.metadata.namespace === place),
    )
    if (account === undefined || role === undefined) continue
    found.push(binding, role)
    // OLM grants permissions in the namespace of the operator or in the whole cluster, but not in other namespaces.
    const scope = place === namespace ? own : cluster
    scope.set(account, [...(scope.get(account) ?? []), ...(asList(role['rules']) as PolicyRule[])])
  }
  return { accounts, objects: found, own, cluster }
}

function accountOf(deployment: Manifest): string {
  const { serviceAccountName } = asJsonObject(asJsonObject(asJsonObject(deployment['spec'])['template'])['spec'])
  return typeof serviceAccountName === 'string' ? serviceAccountName : 'default'
}

function installSpec(content: BundleContent): object {
  const { own, cluster } = grantsOf(content)
  const granted = (scope: ReadonlyMap<string, readonly PolicyRule[]>): object[] =>
    [...scope].map(([serviceAccountName, rules]) => ({ rules: mergeRules(rules), serviceAccountName }))
  const deployments = content.objects.filter(({ kind }) => kind === 'Deployment')
  return {
    ...(cluster.size > 0 ? { clusterPermissions: granted(cluster) } : {}),
    deployments: deployments.map(({ metadata, spec }) => ({
      ...(metadata.labels === undefined ? {} : { label: metadata.labels }),
      name: metadata.name,
      spec: withoutCertificates(spec),
    })),
    ...(own.size > 0 ? { permissions: granted(own) } : {}),
  }
}

/** Removes the volume for certificates: OLM adds its own, and a second mount at the same path would be rejected. */
function withoutCertificates(spec: unknown): unknown {
  const copy = structuredClone(spec) as {
    template: { spec: { containers: { volumeMounts?: Fields[] | undefined }[]; volumes?: Fields[] | undefined } }
  }
  const pod = copy.template.spec
  const isCertificate = (volume: Fields): boolean => asJsonObject(volume['secret'])['secretName'] === certificateSecret
  const removed = (pod.volumes ?? []).filter(isCertificate).map(({ name }) => name)
  const without = <T extends object, K extends keyof T>(holder: T, field: K, list: T[K] & readonly Fields[]): void => {
    // No empty lists: servers drop them.
    if (list.length === 0) delete holder[field]
    else holder[field] = list
  }
  without(
    pod,
    'volumes',
    (pod.volumes ?? []).filter((volume) => !isCertificate(volume)),
  )
  for (const container of pod.containers) {
    const kept = (container.volumeMounts ?? []).filter(({ name }) => !removed.includes(name))
    without(container, 'volumeMounts', kept)
  }
  return copy
}

function imagesOf({ objects }: BundleContent): { readonly name: string; readonly image: string }[] {
  return objects.flatMap(({ kind, spec }) => {
    if (kind !== 'Deployment') return []
    const { containers, initContainers } = asJsonObject(asJsonObject(asJsonObject(spec)['template'])['spec'])
    return [...asList(containers), ...asList(initContainers)].map(asJsonObject).map(({ name, image }) => ({
      image: String(image),
      name: String(name),
    }))
  })
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

// The fields of a webhook that OLM supports. It selects namespaces itself.
const webhookFields = [
  'admissionReviewVersions',
  'failurePolicy',
  'matchPolicy',
  'objectSelector',
  'reinvocationPolicy',
  'rules',
  'sideEffects',
  'timeoutSeconds',
] as const

function webhookDefinitions({ objects, manager }: BundleContent, operator: string): object[] {
  const port = (clientConfig: Fields): object => {
    const { name } = asJsonObject(clientConfig['service'])
    const service = objects.find(({ kind, metadata }) => kind === 'Service' && metadata.name === name)
    const [first] = asList(asJsonObject(service?.['spec'])['ports']).map(asJsonObject)
    return {
      containerPort: first?.['port'] ?? 443,
      deploymentName: manager.metadata.name,
      targetPort: first?.['targetPort'] ?? 9443,
    }
  }
  const admission = objects.flatMap(({ kind, webhooks }) => {
    const type = /^(Mutating|Validating)WebhookConfiguration$/.exec(kind)?.[1]
    if (type === undefined) return []
    return asList(webhooks).map((webhook) => {
      const fields = asJsonObject(webhook)
      const clientConfig = asJsonObject(fields['clientConfig'])
      const kept = webhookFields.filter((field) => fields[field] !== undefined)
      return {
        ...port(clientConfig),
        ...Object.fromEntries(kept.map((field) => [field, fields[field]])),
        generateName: fields['name'],
        type: `${type}AdmissionWebhook`,
        webhookPath: asJsonObject(clientConfig['service'])['path'] ?? '/',
      }
    })
  })
  const converted = objects.filter(
    ({ kind, spec }) => kind === 'CustomResourceDefinition' && conversionOf(spec)['strategy'] === 'Webhook',
  )
  const [first] = converted
  if (first === undefined) return admission
  const clientConfig = asJsonObject(asJsonObject(conversionOf(first['spec'])['webhook'])['clientConfig'])
  const conversion = {
    admissionReviewVersions: ['v1'],
    ...port(clientConfig),
    conversionCRDs: converted.map(({ metadata }) => metadata.name),
    generateName: `c${operator}.kb.io`,
    sideEffects: 'None',
    type: 'ConversionWebhook',
    webhookPath: asJsonObject(clientConfig['service'])['path'] ?? '/convert',
  }
  return [...admission, conversion]
}

const conversionOf = (spec: unknown): Fields => asJsonObject(asJsonObject(spec)['conversion'])
