// The objects that the request fuzzer starts from: two namespaces, a user with a Role in one of them, and secrets that
// this user and anonymous clients must never see.
import type { ConversionHook } from '../../kubectl/conversion-hook.ts'
import type { Requests } from '../../up/requests.ts'

/** The user with a Role in the namespace `low`. */
export const lowUser = 'low-user'

/** Texts of secrets that only the administrator may read. A response to another user that contains one is a leak. */
export const markers: readonly string[] = ['KWMARKotherKWMARKotherKWMARKother', 'KWMARKlowKWMARKlowKWMARKlowKWMARK']

/** The group of the custom resources. */
export const customGroup = 'world.example.com'

/** All forms in which a response could contain a marker. */
export const markerForms: readonly string[] = markers.flatMap((text) => [
  text,
  // Base64 at each of the three alignments, without the characters that depend on the neighbours.
  ...[0, 1, 2].map((shift) =>
    Buffer.from('x'.repeat(shift) + text)
      .toString('base64')
      .slice(shift === 0 ? 0 : 4, -4)
      .replace(/=+$/, ''),
  ),
])

function secret(namespace: string, name: string, marker: string): object {
  return {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name, namespace, annotations: { note: marker }, labels: { marker } },
    stringData: { password: marker },
  }
}

const namespaced = (group: string, resources: readonly string[], verbs: readonly string[]): object => ({
  apiGroups: [group],
  resources,
  verbs,
})

/** The rights of the user in the namespace `low`. */
const rules: readonly object[] = [
  namespaced(
    '',
    ['configmaps', 'services', 'persistentvolumeclaims', 'events', 'serviceaccounts', 'podtemplates'],
    ['*'],
  ),
  namespaced('', ['pods', 'pods/log', 'pods/status', 'pods/eviction'], ['*']),
  namespaced('apps', ['*'], ['*']),
  namespaced('batch', ['jobs', 'cronjobs'], ['get', 'list', 'watch', 'create', 'update', 'patch']),
  namespaced(customGroup, ['widgets', 'widgets/status', 'widgets/scale'], ['*']),
  // Without escalate and bind, these must not let the user exceed its own rights.
  namespaced(
    'rbac.authorization.k8s.io',
    ['roles', 'rolebindings'],
    ['get', 'list', 'watch', 'create', 'update', 'patch', 'delete'],
  ),
  {
    apiGroups: [''],
    resources: ['secrets'],
    resourceNames: ['mine'],
    verbs: ['get', 'list', 'watch', 'update', 'patch'],
  },
]

/** The objects, in the order in which they are created. */
function objects(hook: ConversionHook): object[] {
  const rbac = 'rbac.authorization.k8s.io'
  const widgetSchema = {
    openAPIV3Schema: {
      type: 'object',
      properties: {
        spec: {
          type: 'object',
          properties: {
            size: { type: 'integer', minimum: 0, maximum: 1000 },
            names: {
              type: 'array',
              maxItems: 100,
              items: { type: 'string', maxLength: 50 },
              'x-kubernetes-list-type': 'set',
            },
            replicas: { type: 'integer' },
            extra: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
            parts: {
              type: 'array',
              maxItems: 50,
              'x-kubernetes-list-type': 'map',
              'x-kubernetes-list-map-keys': ['key'],
              items: {
                type: 'object',
                required: ['key'],
                properties: { key: { type: 'string' }, value: { type: 'string' } },
              },
            },
            limit: { 'x-kubernetes-int-or-string': true },
          },
          'x-kubernetes-validations': [
            {
              rule: '!has(self.size) || !has(self.names) || self.size >= size(self.names)',
              message: 'size is too small',
            },
            { rule: '!has(self.names) || self.names.all(n, n.matches("^[a-z]*$"))' },
            { rule: '!has(oldSelf.size) || !has(self.size) || self.size >= oldSelf.size - 1000' },
          ],
        },
        status: { type: 'object', properties: { replicas: { type: 'integer' }, phase: { type: 'string' } } },
      },
    },
  }
  const version = (name: string, storage: boolean): object => ({
    name,
    storage,
    served: true,
    schema: widgetSchema,
    subresources: { status: {}, scale: { specReplicasPath: '.spec.replicas', statusReplicasPath: '.status.replicas' } },
    additionalPrinterColumns: [{ name: 'Size', type: 'integer', jsonPath: '.spec.size' }],
    selectableFields: [{ jsonPath: '.spec.size' }],
  })
  const { url, caBundle } = hook
  return [
    ...['low', 'other'].map((name) => ({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } })),
    ...['low', 'other', 'default'].map((namespace) => ({
      apiVersion: 'v1',
      kind: 'ServiceAccount',
      metadata: { name: 'default', namespace },
    })),
    secret('other', 'hidden', markers[0]!),
    secret('kube-system', 'hidden', markers[0]!),
    secret('low', 'hidden', markers[1]!),
    {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'hidden', namespace: 'other' },
      data: { text: markers[0]! },
    },
    { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'mine', namespace: 'low' }, stringData: { password: 'own' } },
    { apiVersion: `${rbac}/v1`, kind: 'Role', metadata: { name: 'low-role', namespace: 'low' }, rules },
    {
      apiVersion: `${rbac}/v1`,
      kind: 'RoleBinding',
      metadata: { name: 'low-binding', namespace: 'low' },
      roleRef: { apiGroup: rbac, kind: 'Role', name: 'low-role' },
      subjects: [{ kind: 'User', apiGroup: rbac, name: lowUser }],
    },
    {
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'CustomResourceDefinition',
      metadata: { name: `widgets.${customGroup}` },
      spec: {
        group: customGroup,
        scope: 'Namespaced',
        names: { plural: 'widgets', singular: 'widget', kind: 'Widget', listKind: 'WidgetList' },
        versions: [version('v1', true), version('v2', false)],
        conversion: {
          strategy: 'Webhook',
          webhook: { conversionReviewVersions: ['v1'], clientConfig: { url, caBundle } },
        },
      },
    },
  ]
}

const paths: Readonly<Record<string, string>> = {
  Namespace: '/api/v1/namespaces',
  ServiceAccount: '/api/v1/namespaces/NS/serviceaccounts',
  Secret: '/api/v1/namespaces/NS/secrets',
  ConfigMap: '/api/v1/namespaces/NS/configmaps',
  Role: '/apis/rbac.authorization.k8s.io/v1/namespaces/NS/roles',
  RoleBinding: '/apis/rbac.authorization.k8s.io/v1/namespaces/NS/rolebindings',
  CustomResourceDefinition: '/apis/apiextensions.k8s.io/v1/customresourcedefinitions',
}

/** Creates the objects, or restores those that requests have changed. */
export async function createWorld(admin: Requests, hook: ConversionHook): Promise<void> {
  for (const object of objects(hook)) {
    const { kind, metadata } = object as { kind: string; metadata: { name: string; namespace?: string } }
    const path = `${paths[kind]!.replace('NS', metadata.namespace ?? '')}/${metadata.name}`
    const apply = (): ReturnType<Requests['send']> =>
      admin.send('PATCH', `${path}?fieldManager=world&force=true`, object, {
        'content-type': 'application/apply-patch+yaml',
      })
    let reply = await apply()
    if (reply.status >= 400) {
      // An immutable field has changed: start again.
      await admin.send('DELETE', path)
      reply = await apply()
    }
    if (reply.status >= 400) throw new Error(`cannot create ${path}: ${reply.status} ${reply.text.slice(0, 500)}`)
  }
}
